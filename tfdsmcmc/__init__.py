"""Bayesian learning of deep generative models by doubly stochastic MCMC."""

from tfdsmcmc import (
    annealing,
    datasets,
    diagnostics,
    distributions,
    files,
    imputation,
    latents,
    layers,
    likelihood,
    mcmc,
    methods,
    models,
    plots,
    posterior,
    priors,
    proposals,
    random,
    serving,
)
from tfdsmcmc.imputer import Imputer
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors import Prior

__version__ = "0.1.0"

__all__ = [
    "DeepGenerativeModel",
    "GenerativeNetwork",
    "Imputer",
    "Prior",
    "RecognitionNetwork",
    "annealing",
    "datasets",
    "diagnostics",
    "distributions",
    "files",
    "imputation",
    "latents",
    "layers",
    "likelihood",
    "mcmc",
    "methods",
    "models",
    "plots",
    "posterior",
    "priors",
    "proposals",
    "random",
    "serving",
]
