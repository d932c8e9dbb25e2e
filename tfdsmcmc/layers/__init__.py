"""Stochastic Keras layers: each is a conditional distribution p(y given parents)."""

from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.sbn import SBN

__all__ = ["SBN", "StochasticLayer"]
