"""What the densities of undirected models have in common."""

from __future__ import annotations

from tfdsmcmc.boltzmann import checked_rows, sampling
from tfdsmcmc.boltzmann.checked_rows import source_of
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.imputation.sweep_plan import plan_sweeps

STEPS = 1000  # of Gibbs chains behind draws


class UndirectedDensity:
    """Base class of `contract.Density`; `_kernel`, `parts`, `served` and `known_partition` are of subclasses.

    Args:
      model: of which they are.
      log_partition: log Z as `RBM.log_likelihood` takes it, or a function from a `Machine` to it.

    Attributes:
      visible: kind of the visible units.
    """

    visible = Binary()

    def __init__(self, model, log_partition=None):
        self.model = model
        self._log_partition = log_partition

    def method_for(self, method):
        if method not in ("auto", "gibbs"):
            raise ValueError(
                f"The method of a {type(self.model).__name__} is 'gibbs' or 'auto'. Received: method={method!r}"
            )
        return "gibbs"

    def imputation_plan(self, method, settings, batch_size):
        return plan_sweeps(self._kernel, settings)

    def evidence_plan(self, num_samples, batch_size):
        raise ValueError(
            "Which sample of the posterior explains what is observed of a row best is not known of a Boltzmann "
            "machine: weigh them alike, posterior_weights='equal'. Received: posterior_weights='likelihood'"
        )

    def program(self, plan):
        run, parts = sampling.program(plan, self.model.uses_xla), self.parts
        return lambda rows, seed: run(*parts, rows, seed)

    def rows(self, name, x, mask=None):
        return checked_rows.rows_in_memory(self.visible, name, x, self.model.units, mask)

    def source(self, x):
        source = source_of(self.visible, "x", x, self.model.units, missing=False)
        self.model.check_rows(source)
        return source

    def _known(self, machine):
        """What was said of log Z of a machine."""
        return self._log_partition(machine) if callable(self._log_partition) else self._log_partition
