"""TFP distributions that TFP lacks, or that the hot path needs faster."""

from tfdsmcmc.distributions.independent_bernoulli import IndependentBernoulli

__all__ = ["IndependentBernoulli"]
