"""Estimators of log p(x), for each row with its standard error."""

from tfdsmcmc.likelihood.annealed import annealed_importance_sampling
from tfdsmcmc.likelihood.bounds import evidence_lower_bound, harmonic_mean
from tfdsmcmc.likelihood.cautions import LowEffectiveSampleSize, PrecisionNotReached, UnreliableImportanceWeights
from tfdsmcmc.likelihood.estimate import Estimate, LogLikelihood
from tfdsmcmc.likelihood.exact import exact
from tfdsmcmc.likelihood.importance import importance_sampling
from tfdsmcmc.likelihood.pilot import annealing_schedule
from tfdsmcmc.likelihood.sandwich import Sandwich, sandwich
from tfdsmcmc.likelihood.transitions import HMC, MALA

__all__ = [
    "HMC",
    "MALA",
    "Estimate",
    "LogLikelihood",
    "LowEffectiveSampleSize",
    "PrecisionNotReached",
    "Sandwich",
    "UnreliableImportanceWeights",
    "annealed_importance_sampling",
    "annealing_schedule",
    "evidence_lower_bound",
    "exact",
    "harmonic_mean",
    "importance_sampling",
    "sandwich",
]
