"""Bayesian learning of deep generative models by doubly stochastic MCMC."""

from tfdsmcmc import distributions, latents, layers, likelihood, mcmc, posterior, proposals, random
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors import Prior

__version__ = "0.1.0"

__all__ = [
    "DeepGenerativeModel",
    "GenerativeNetwork",
    "Prior",
    "RecognitionNetwork",
    "distributions",
    "latents",
    "layers",
    "likelihood",
    "mcmc",
    "posterior",
    "proposals",
    "random",
]
