"""The density of a restricted Boltzmann machine.

    log p(v) = log p*(v) − log Z,      log Z exact, given, or annealed
"""

from __future__ import annotations

from tfdsmcmc import checks
from tfdsmcmc.boltzmann import sampling
from tfdsmcmc.boltzmann.densities.base import STEPS, UndirectedDensity
from tfdsmcmc.boltzmann.estimates import known_partition, normalised
from tfdsmcmc.boltzmann.imputation import MachineKernel
from tfdsmcmc.boltzmann.partition import log_partition as annealed_log_partition
from tfdsmcmc.boltzmann.served import ServedMachine
from tfdsmcmc.estimates import LogLikelihood

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
    served = ServedMachine()

    def __init__(self, rbm, machine, log_partition=None):
        super().__init__(rbm, log_partition)
        self.machine = machine

    @property
    def visible(self):
        return self.machine.visible

    @property
    def units(self):
        return self.model.units

    @property
    def uses_xla(self):
        return self.model.uses_xla

    def log_likelihood(self, x, num_samples, seed, batch_size, warn=True) -> LogLikelihood:
        """log p(x) of each row, however many samples."""
        batch_size = checks.positive_integer("batch_size", batch_size)
        value = sampling.unnormalized_log_prob(self.machine, self.source(x), batch_size, self.uses_xla)
        return normalised(self.machine, value, self._known(self.machine))

    def annealed_log_likelihood(self, x, seed, batch_size=1000, num_steps=1000, num_runs=16, **annealing):
        """With log Z by `boltzmann.log_partition`."""
        found = annealed_log_partition(self, num_runs, num_steps, **annealing, seed=seed)
        return MachineDensity(self.model, self.machine, found).log_likelihood(x, 1, seed, batch_size)

    def sample(self, num_samples, seed, probabilities=False):
        return sampling.sample(self, num_samples, seed, STEPS, probabilities, None)

    def known_partition(self):
        """`LogPartition` of the weights."""
        return known_partition(self.machine, self._known(self.machine))

    @property
    def parts(self):
        """What programs take."""
        return [self.machine]
