"""Prior densities of the weights, and shrinkage priors whose scales are drawn along with them.

Gaussian, Laplace and Student-t priors are `Normal`, `Laplace` and `StudentT` of `tfp.distributions`.
"""

from tfdsmcmc.priors.base import WeightPrior
from tfdsmcmc.priors.column_shrinkage import ColumnThreeParameterBetaNormal
from tfdsmcmc.priors.horseshoe import Horseshoe
from tfdsmcmc.priors.prior import Prior
from tfdsmcmc.priors.shrinkage import ThreeParameterBetaNormal

__all__ = ["ColumnThreeParameterBetaNormal", "Horseshoe", "Prior", "ThreeParameterBetaNormal", "WeightPrior"]
