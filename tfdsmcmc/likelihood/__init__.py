"""Estimators of log p(x), for each row with its standard error; those of `annealing` among them."""

from tfdsmcmc._common.estimates import Estimate, LogLikelihood
from tfdsmcmc.annealing import HMC, MALA, Sandwich, annealed_importance_sampling, annealing_schedule, sandwich
from tfdsmcmc.likelihood.bounds import evidence_lower_bound, harmonic_mean
from tfdsmcmc.likelihood.cautions import LowEffectiveSampleSize, PrecisionNotReached, UnreliableImportanceWeights
from tfdsmcmc.likelihood.exact import exact
from tfdsmcmc.likelihood.importance import importance_sampling

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
