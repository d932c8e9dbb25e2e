"""Ancestral samples of a directed network at its present weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.programs import compiled, values_of
from tfdsmcmc.rows import Rows
from tfdsmcmc.rows.context import of_draws

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, Seed
    from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel


def sample(
    self: DeepGenerativeModel, num_samples: int, seed: Seed | None = None, probabilities: bool = False,
    num_averaged: int = 1, posterior: Any = None, average: Average | None = None, context: Any = None,
) -> np.ndarray:  # fmt: skip
    """Ancestral samples of the data.

    Args:
      num_samples: n.
      seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
        saves.
      probabilities: True for the means of p(x given z₁) at the sampled z₁ instead of draws of x; for a layer that
        draws its units one by one, the mean of each given those drawn before it.
      num_averaged: with `probabilities`, how many draws of the layers below the top one such means are averaged
        over, at the same top units: an estimate of E[x given z_L]. Published are 1,000, of draws of x.
      posterior: `Posterior` whose predictive distribution is sampled; by default the model's present weights are.
      average: of the posterior, see `Posterior.sample`.
      context: what the draws are given, where the model has a context: (n, C), or one for all; of categorical
        covariates the numbers of their states too, such as a label, or n of them.

    Returns:
      float32 array (n, D).

    Raises:
      ValueError: for a count out of range, such that a layer would draw 2³¹ units or more, averages without
        `probabilities`, weights that are not finite, or an average without a posterior.
    """
    if posterior is not None:
        if num_averaged != 1:
            raise ValueError(f"Of a posterior num_averaged is 1. Received: num_averaged={num_averaged!r}")
        if not hasattr(posterior, "components"):
            raise ValueError(f"posterior is a Posterior, as posterior.load gives it. Received: {posterior!r}")
        return posterior.sample(self, num_samples, seed, probabilities, average, context)
    if average is not None:
        raise ValueError(f"An average is of a posterior. Received: average={average!r}, posterior=None")
    return _ancestral_sample(self, num_samples, seed, probabilities, num_averaged, context)


def _ancestral_sample(model, num_samples, seed, probabilities, num_averaged, context):
    """`sample` of the model's present weights."""
    network = model.generative
    num_samples = checks.positive_integer("num_samples", num_samples)
    most = (2**31 - 1) // max(network.units, *network.latent_units, 1)
    if num_samples > most:
        raise ValueError(f"num_samples must be at most {most:,} at a time. Received: num_samples={num_samples}")
    num_averaged = checks.positive_integer("num_averaged", num_averaged)
    if num_averaged >= 2**31:
        raise ValueError(f"num_averaged must be below 2³¹. Received: num_averaged={num_averaged}")
    if num_averaged > 1 and not probabilities:
        raise ValueError(f"Means are averaged: probabilities=True. Received: num_averaged={num_averaged}")
    check_finite("the model's weights", network.trainable_variables)
    context = of_draws(model.context, context, num_samples)
    seed = model.next_seed() if seed is None else seed
    x, z = network.sample(num_samples, seed, context)
    if num_averaged > 1:
        top = z[-1] if z else network.data_parents(Rows(x, context=context), z)
        program = compiled(model, "mean given the top units", _mean_given_top)
        seed = random.stream(seed, "averaged samples")
        x = program(*values_of(model, None), top, tf.constant(num_averaged), seed)
    elif probabilities:
        parents = network.data_parents(Rows(x, context=context), z)
        x = network.layers[-1].conditional_mean(x, parents)
    return x.numpy()


def _mean_given_top(generative, recognition, *arguments):
    return generative.mean_given_top(*arguments)
