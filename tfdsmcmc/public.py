"""The public names of the package, all that a saved model may hold among them."""

from tfdsmcmc import (
    annealing,
    augmentation,
    boltzmann,
    cluster,
    columns,
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
    pretrained,
    priors,
    proposals,
    random,
    rows,
    serving,
    supports,
)
from tfdsmcmc.imputer import Imputer
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.pretraining import pretrain
from tfdsmcmc.priors import Prior
from tfdsmcmc.rows import Rows, Source
from tfdsmcmc.training.fitting.divergence import DivergedError
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator
from tfdsmcmc.training.steps.step import Step

__all__ = [
    "DeepGenerativeModel",
    "DivergedError",
    "GenerativeNetwork",
    "GradientEstimator",
    "Imputer",
    "Prior",
    "RecognitionNetwork",
    "Rows",
    "Source",
    "Step",
    "annealing",
    "columns",
    "augmentation",
    "boltzmann",
    "cluster",
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
    "pretrained",
    "priors",
    "proposals",
    "random",
    "rows",
    "serving",
    "supports",
]
