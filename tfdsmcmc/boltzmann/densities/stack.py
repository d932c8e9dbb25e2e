"""The density of a deep belief network: importance samples from Q or annealing, with log Z of the topmost machine."""

from __future__ import annotations

from tfdsmcmc import random
from tfdsmcmc.boltzmann import deep_estimates, sampling
from tfdsmcmc.boltzmann.deep_sweeps import layers_of, widths_of
from tfdsmcmc.boltzmann.densities.base import STEPS, UndirectedDensity
from tfdsmcmc.boltzmann.estimates import known_partition
from tfdsmcmc.boltzmann.imputation import StackKernel
from tfdsmcmc.boltzmann.partition import log_partition as annealed_log_partition
from tfdsmcmc.boltzmann.served import ServedStack
from tfdsmcmc.estimates import LogLikelihood

_KERNEL = StackKernel()


class StackDensity(UndirectedDensity):
    """p(v) of a deep belief network of two machines or more.

    Args:
      dbn: `DBN`.
      stack: `deep.Stack`, its weights, checked.
      log_partition: log Z of the topmost machine as `RBM.log_likelihood` takes it, or a function from a `Machine` to
        it.

    Attributes:
      stack: the weights.
    """

    _kernel = _KERNEL

    def __init__(self, dbn, stack, log_partition=None):
        super().__init__(dbn, log_partition)
        self.stack = stack

    @property
    def visible(self):
        return self.stack.machines[0].visible

    @property
    def units(self):
        return self.model.units

    @property
    def uses_xla(self):
        return self.model.uses_xla

    @property
    def rbms(self):
        """What stands for the machines in `deep_estimates`."""
        return self.stack.machines

    def check_rows(self, rows):
        self.model.check_rows(rows)

    def log_likelihood(self, x, num_samples, seed, batch_size, warn=True) -> LogLikelihood:
        """Importance samples from Q."""
        known = self._known(self.stack.machines[-1])
        return deep_estimates.importance(self, x, num_samples, known, seed, batch_size)

    def annealed_log_likelihood(self, x, seed, batch_size=100, schedule="sigmoid", num_steps=1000, num_runs=16):
        """Annealing from Q to p(h given v); log Z, unless it is given, by as many runs and steps."""
        known = self._known(self.stack.machines[-1])
        if known is None:
            known = annealed_log_partition(self.stack.machines[-1], num_runs, num_steps, seed=random.fold(seed, 1))
        return deep_estimates.annealed(
            self, x, num_steps, num_runs, schedule, known, seed, batch_size
        )

    def imputation_plan(self, method, settings, batch_size):
        layers_of(widths_of(self.stack.machines))  # variables of sweeps, which programs may not make
        return super().imputation_plan(method, settings, batch_size)

    @property
    def served(self):
        layers_of(widths_of(self.stack.machines))
        return ServedStack()

    def sample(self, num_samples, seed, probabilities=False):
        return sampling.sample_of_stack(self.stack, num_samples, seed, STEPS, probabilities, self.uses_xla)

    def known_partition(self):
        """`LogPartition` of the topmost machine."""
        return known_partition(self.stack.machines[-1], self._known(self.stack.machines[-1]))

    @property
    def parts(self):
        """What programs take."""
        return [self.stack]
