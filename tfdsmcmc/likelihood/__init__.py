"""Estimators of log p(x), for each row with its standard error."""

from tfdsmcmc.likelihood.estimate import Estimate, LogLikelihood, LowEffectiveSampleSize
from tfdsmcmc.likelihood.exact import exact
from tfdsmcmc.likelihood.importance import importance_sampling

__all__ = ["Estimate", "LogLikelihood", "LowEffectiveSampleSize", "exact", "importance_sampling"]
