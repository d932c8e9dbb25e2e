"""Stochastic Keras layers: each is a conditional distribution p(y given parents)."""

from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.darn import DARN
from tfdsmcmc.layers.mixed import Mixed
from tfdsmcmc.layers.mlp import MLPBernoulli, MLPGaussian
from tfdsmcmc.layers.nade import NADE
from tfdsmcmc.layers.sbn import SBN
from tfdsmcmc.layers.unit_average import UnitAverage

__all__ = ["DARN", "NADE", "SBN", "MLPBernoulli", "MLPGaussian", "Mixed", "StochasticLayer", "UnitAverage"]
