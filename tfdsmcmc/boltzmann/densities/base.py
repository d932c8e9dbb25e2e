"""What the densities of undirected models have in common."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.imputation.sweep_plan import plan_sweeps
from tfdsmcmc.rows import rows_in_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.partition.estimates import PartitionLike
    from tfdsmcmc.boltzmann.units.base import Units
    from tfdsmcmc.imputation.plans import Plan
    from tfdsmcmc.imputation.settings import Settings
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows

STEPS = 1000  # of Gibbs chains behind draws


def check_annealing(machine: Machine | None, options: dict[str, Any]) -> None:
    """Raises a ValueError for options of annealing that `log_partition` would refuse, where no log Z is estimated too.

    Args:
      machine: `Machine`, or None of a normalised model, of which `base` and `draws` are not looked at.
      options: dict of the options.
    """
    # here, as its bases know mixtures, and these their density
    from tfdsmcmc.boltzmann.partition.log_partition import checked_annealing, log_partition

    known = set(inspect.signature(log_partition).parameters) - {"rbm"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"Options of annealing are among {sorted(known)}. Received: {unknown}")
    checked_annealing(machine, **{name: value for name, value in options.items() if name != "seed"})


class UndirectedDensity:
    """Base class of `contract.Density`; `_kernel`, `parts`, `served` and `known_partition` are of subclasses.

    Args:
      model: of which they are.
      log_partition: log Z as `RBM.log_likelihood` takes it, or a function from a `Machine` to it.

    Attributes:
      visible: kind of the visible units.
    """

    model: Any
    visible: Units = Binary()

    def __init__(
        self,
        model: Any,
        log_partition: PartitionLike | None = None,
    ):
        self.model = model
        self._log_partition = log_partition

    @property
    def units(self) -> int:
        return self.model.units

    @property
    def uses_xla(self) -> bool:
        return self.model.uses_xla

    def method_for(self, method: str) -> Literal["gibbs"]:
        if method not in ("auto", "gibbs"):
            raise ValueError(
                f"The method of a {type(self.model).__name__} is 'gibbs' or 'auto'. Received: method={method!r}"
            )
        return "gibbs"

    def imputation_plan(self, method: str, settings: Settings, batch_size: int) -> Plan:
        return plan_sweeps(self._kernel, settings)

    def evidence_plan(self, num_samples: int, batch_size: int) -> Plan:
        raise ValueError(
            "Which sample of the posterior explains what is observed of a row best is not known of a Boltzmann "
            "machine: weigh them alike, posterior_weights='equal'. Received: posterior_weights='likelihood'"
        )

    def program(self, plan: Plan) -> Callable[..., Any]:
        run, parts = sampling.program(plan, self.uses_xla), self.parts
        return lambda *arguments: run(*parts, *arguments)

    def rows(self, name: str, x: RowsLike, mask: ArrayLike | None = None) -> Rows:
        return rows_in_memory(name, x, self.units, self.visible.support, mask)

    def _known(self, machine):
        """What was said of log Z of a machine."""
        return self._log_partition(machine) if callable(self._log_partition) else self._log_partition
