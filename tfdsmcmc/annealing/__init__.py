"""Annealed importance sampling: log-likelihoods and normalisers along a path of densities, from both sides.

Whatever is a `Path` can be run: `forward` and `reverse` give log-weights, `log_normaliser` what these say. For the
latent variables of a network `annealed_importance_sampling` and `sandwich` do all of it.
"""

from tfdsmcmc.annealing.adaptive import annealing_schedule
from tfdsmcmc.annealing.annealed_importance_sampling import annealed_importance_sampling
from tfdsmcmc.annealing.path import Path
from tfdsmcmc.annealing.runs import forward, log_normaliser, reverse, target_chain
from tfdsmcmc.annealing.sandwich import Sandwich, sandwich
from tfdsmcmc.annealing.transitions import HMC, MALA

__all__ = [
    "HMC",
    "MALA",
    "Path",
    "Sandwich",
    "annealed_importance_sampling",
    "annealing_schedule",
    "forward",
    "log_normaliser",
    "reverse",
    "sandwich",
    "target_chain",
]
