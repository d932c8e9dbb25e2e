"""Boltzmann machines: learnt by contrastive divergence, measured by annealed importance sampling from both sides."""

from tfdsmcmc.boltzmann import units
from tfdsmcmc.boltzmann.deep.dbn import DBN
from tfdsmcmc.boltzmann.deep.lift import Lift
from tfdsmcmc.boltzmann.deep.wake_sleep import ContrastiveWakeSleep
from tfdsmcmc.boltzmann.machines.arrays import rbm_from_arrays
from tfdsmcmc.boltzmann.machines.contrastive_divergence import ContrastiveDivergence, GrowingSteps
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.boltzmann.machines.rbm import RBM
from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis
from tfdsmcmc.boltzmann.partition.annealed_chains import annealed_chains
from tfdsmcmc.boltzmann.partition.bases import base_rates
from tfdsmcmc.boltzmann.partition.estimates import LogPartition
from tfdsmcmc.boltzmann.partition.exact import exact_draws, exact_log_partition
from tfdsmcmc.boltzmann.partition.log_partition import PartitionSandwich, log_partition, log_partition_ratio, sandwich
from tfdsmcmc.boltzmann.predictive import predictive_log_likelihood

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
