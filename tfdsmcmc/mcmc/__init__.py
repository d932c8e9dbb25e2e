"""Stochastic-gradient MCMC transition kernels, in the interface of tfp.mcmc."""

from tfdsmcmc.mcmc import schedules
from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.map import MAP
from tfdsmcmc.mcmc.preconditioned_sgld import PreconditionedSGLD
from tfdsmcmc.mcmc.schedules import Cyclical, PolynomialDecay
from tfdsmcmc.mcmc.sghmc import SGHMC
from tfdsmcmc.mcmc.sgld import SGLD
from tfdsmcmc.mcmc.sgnht import SGNHT
from tfdsmcmc.mcmc.warm_start import WarmStart

__all__ = [
    "MAP",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "Cyclical",
    "PolynomialDecay",
    "PreconditionedSGLD",
    "StochasticGradientKernel",
    "WarmStart",
    "schedules",
]
