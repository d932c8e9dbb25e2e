"""Boltzmann machines: learnt by contrastive divergence, measured by annealed importance sampling from both sides."""

from tfdsmcmc.boltzmann import units
from tfdsmcmc.boltzmann.annealed_chains import annealed_chains
from tfdsmcmc.boltzmann.arrays import rbm_from_arrays
from tfdsmcmc.boltzmann.bases import base_rates
from tfdsmcmc.boltzmann.contrastive_divergence import ContrastiveDivergence, GrowingSteps
from tfdsmcmc.boltzmann.dbn import DBN
from tfdsmcmc.boltzmann.estimates import LogPartition
from tfdsmcmc.boltzmann.exact import exact_draws, exact_log_partition
from tfdsmcmc.boltzmann.lift import Lift
from tfdsmcmc.boltzmann.machine import Machine
from tfdsmcmc.boltzmann.mixture import MixtureOfBernoullis
from tfdsmcmc.boltzmann.partition import PartitionSandwich, log_partition, log_partition_ratio, sandwich
from tfdsmcmc.boltzmann.predictive import predictive_log_likelihood
from tfdsmcmc.boltzmann.rbm import RBM
from tfdsmcmc.boltzmann.wake_sleep import ContrastiveWakeSleep

__all__ = [
    "DBN",
    "RBM",
    "ContrastiveDivergence",
    "ContrastiveWakeSleep",
    "GrowingSteps",
    "Lift",
    "LogPartition",
    "Machine",
    "MixtureOfBernoullis",
    "PartitionSandwich",
    "annealed_chains",
    "base_rates",
    "exact_draws",
    "exact_log_partition",
    "log_partition",
    "log_partition_ratio",
    "predictive_log_likelihood",
    "rbm_from_arrays",
    "sandwich",
    "units",
]
