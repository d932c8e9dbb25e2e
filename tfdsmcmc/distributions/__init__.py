"""TFP distributions that TFP lacks, or that the hot path needs faster."""

from tfdsmcmc.distributions.autoregressive_bernoulli import AutoregressiveBernoulli
from tfdsmcmc.distributions.independent_bernoulli import IndependentBernoulli
from tfdsmcmc.distributions.independent_normal import IndependentNormal
from tfdsmcmc.distributions.independent_normal_mixture import IndependentNormalMixture
from tfdsmcmc.distributions.nade import NADE
from tfdsmcmc.distributions.polya_gamma import PolyaGamma

__all__ = [
    "NADE",
    "AutoregressiveBernoulli",
    "IndependentBernoulli",
    "IndependentNormal",
    "IndependentNormalMixture",
    "PolyaGamma",
]
