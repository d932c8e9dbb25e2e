"""The public names of the package, all that a saved model may hold among them."""

from tfdsmcmc import (
    annealing,
    augmentation,
    boltzmann,
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
from tfdsmcmc.pretraining import pretrain
from tfdsmcmc.priors import Prior
from tfdsmcmc.training.divergence import DivergedError

__all__ = [
    "DeepGenerativeModel",
    "DivergedError",
    "GenerativeNetwork",
    "Imputer",
    "Prior",
    "RecognitionNetwork",
    "annealing",
    "augmentation",
    "boltzmann",
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
    "pretrain",
    "priors",
    "proposals",
    "random",
    "serving",
]
