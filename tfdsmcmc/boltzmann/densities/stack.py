"""The density of a deep belief network: importance samples from Q or annealing, with log Z of the topmost machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.annealing import schedules
from tfdsmcmc.boltzmann.deep import estimates as deep_estimates
from tfdsmcmc.boltzmann.deep.sweeps import layers_of, widths_of
from tfdsmcmc.boltzmann.densities.base import STEPS, UndirectedDensity
from tfdsmcmc.boltzmann.imputation import StackKernel
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.partition.estimates import known_partition
from tfdsmcmc.boltzmann.partition.log_partition import log_partition as annealed_log_partition
from tfdsmcmc.boltzmann.served import ServedStack

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.boltzmann.served import ServedMachine
    from tfdsmcmc.boltzmann.units.base import Units
    from tfdsmcmc.imputation.plans import Plan
    from tfdsmcmc.imputation.settings import Settings
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source

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

    def __init__(
        self,
        dbn: DBN,
        stack: Stack,
        log_partition: PartitionLike | None = None,
    ):
        super().__init__(dbn, log_partition)
        self.stack = stack

    @property
    def visible(self) -> Units:
        return self.stack.machines[0].visible

    @property
    def rbms(self) -> list[Machine]:
        """What stands for the machines in `deep_estimates`."""
        return self.stack.machines

    def source_to_estimate(self, x: RowsLike) -> Source:
        return self.model.source_to_estimate(x)

    def log_likelihood(
        self,
        x: RowsLike,
        num_samples: int,
        seed: Seed,
        batch_size: int,
        warn: bool = True,
    ) -> LogLikelihood:
        """Importance samples from Q."""
        known = self._known(self.stack.machines[-1])
        return deep_estimates.log_likelihood(self, x, num_samples, known, seed, batch_size)

    def annealed_log_likelihood(
        self,
        x: RowsLike,
        seed: Seed,
        batch_size: int = 100,
        schedule: Schedule = "sigmoid",
        num_steps: int = 1000,
        num_runs: int = 16,
    ) -> LogLikelihood:
        """Annealing from Q to p(h given v); log Z, unless it is given, by as many runs and steps."""
        for name, count in (("num_steps", num_steps), ("num_runs", num_runs), ("batch_size", batch_size)):
            checks.positive_integer(name, count)
        schedules.fixed(schedule, num_steps)  # which is refused before log Z is annealed
        known = self._known(self.stack.machines[-1])
        if known is None:
            top = sampling.Topmost(self.stack.machines[-1], self.uses_xla)
            known = annealed_log_partition(top, num_runs, num_steps, seed=random.fold(seed, 1))
        return deep_estimates.annealed_log_likelihood(self, x, num_steps, num_runs, schedule, known, seed, batch_size)

    def imputation_plan(self, method: str, settings: Settings, batch_size: int) -> Plan:
        layers_of(widths_of(self.stack.machines))  # variables of sweeps, which programs may not make
        return super().imputation_plan(method, settings, batch_size)

    @property
    def served(self) -> ServedMachine | ServedStack:
        layers_of(widths_of(self.stack.machines))
        return ServedStack()

    def sample(self, num_samples: int, seed: Seed, probabilities: bool = False) -> np.ndarray:
        return sampling.sample_of_stack(self.stack, num_samples, seed, STEPS, probabilities, self.uses_xla)

    def known_partition(self) -> LogPartition:
        """`LogPartition` of the topmost machine."""
        return known_partition(self.stack.machines[-1], self._known(self.stack.machines[-1]))

    @property
    def parts(self) -> list[Stack]:
        """What programs take."""
        return [self.stack]
