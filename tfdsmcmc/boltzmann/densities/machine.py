"""The density of a restricted Boltzmann machine.

log p(v) = log p*(v) − log Z,      log Z exact, given, or annealed
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.boltzmann.densities.base import STEPS, UndirectedDensity, check_annealing
from tfdsmcmc.boltzmann.imputation import MachineKernel
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.partition.estimates import known_partition, normalised
from tfdsmcmc.boltzmann.partition.log_partition import log_partition as annealed_log_partition
from tfdsmcmc.boltzmann.served import ServedMachine

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.boltzmann.units.base import Units
    from tfdsmcmc.rows.from_users import RowsLike

_KERNEL = MachineKernel()


class MachineDensity(UndirectedDensity):
    """p(v) of a restricted Boltzmann machine.

    Args:
      rbm: `RBM`.
      machine: `Machine`, its weights, checked.
      log_partition: log Z as `RBM.log_likelihood` takes it, or a function from a `Machine` to it.

    Attributes:
      machine: the weights.
    """

    _kernel = _KERNEL
    served: ServedMachine = ServedMachine()

    def __init__(
        self,
        rbm: RBM,
        machine: Machine,
        log_partition: PartitionLike | None = None,
    ):
        super().__init__(rbm, log_partition)
        self.machine = machine

    @property
    def visible(self) -> Units:
        return self.machine.visible

    def log_likelihood(
        self,
        x: RowsLike,
        num_samples: int,
        seed: Seed,
        batch_size: int,
        warn: bool = True,
    ) -> LogLikelihood:
        """log p(x) of each row, however many samples."""
        batch_size = checks.positive_integer("batch_size", batch_size)
        source = self.model.source_to_estimate(x)
        known = self.known_partition()  # what is refused is refused before the rows are gone through
        value = sampling.unnormalized_log_prob(self.machine, source, batch_size, self.uses_xla)
        return normalised(self.machine, value, known)

    def annealed_log_likelihood(
        self,
        x: RowsLike,
        seed: Seed,
        batch_size: int = 1000,
        num_steps: int = 1000,
        num_runs: int = 16,
        **annealing: Any,
    ) -> LogLikelihood:
        """With log Z, unless it is given, by `boltzmann.log_partition`."""
        batch_size = checks.positive_integer("batch_size", batch_size)  # which is refused before log Z is annealed
        annealing = {"num_runs": num_runs, "num_steps": num_steps, **annealing}
        check_annealing(self.machine, annealing)
        known = self._known(self.machine)
        if known is None:
            known = annealed_log_partition(self, **annealing, seed=seed)
        return MachineDensity(self.model, self.machine, known).log_likelihood(x, 1, seed, batch_size)

    def sample(self, num_samples: int, seed: Seed, probabilities: bool = False) -> np.ndarray:
        return sampling.ends_of_chains(self, num_samples, seed, STEPS, probabilities)

    def known_partition(self) -> LogPartition:
        """`LogPartition` of the weights."""
        return known_partition(self.machine, self._known(self.machine))

    @property
    def parts(self) -> list[Machine]:
        """What programs take."""
        return [self.machine]
