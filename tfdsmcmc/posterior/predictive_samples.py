"""Draws of the data from an average over posterior samples.

    m uniform over the components,      x ~ the component's density
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.programs import at_weights, values_of

_BLOCK_ENTRIES = 2**24  # floats of what a layer holds while it draws its units one by one: 64 MiB


def predictive_samples(components, num_samples, seed, probabilities):
    """float32 array (n, D); see `Posterior.sample`.

    Args:
      components: `Components`.
      num_samples: n.
      seed: integer, or int32 tensor of shape (2,).
      probabilities: True for the means of the data given z₁ and, where units depend on each other, those before them.
    """
    choice_seed, draw_seed = tf.unstack(random.split(random.stream(seed, "predictive samples")))
    chosen = random.integers([num_samples], len(components), choice_seed).numpy()
    found = None
    for m in np.unique(chosen):
        part, places = components[int(m)], np.flatnonzero(chosen == m)
        drawn = _drawn(part, len(places), random.fold(draw_seed, int(m)), probabilities)
        found = np.empty((num_samples, drawn.shape[1]), np.float32) if found is None else found
        found[places] = drawn
    return found


def _drawn(part, count, seed, probabilities):
    """Ancestral samples of one component, some rows at a time."""
    layers = part.model.generative.layers
    most = max(1, _BLOCK_ENTRIES // max(layer.widest * getattr(layer, "num_draws", 1) for layer in layers))
    with at_weights(part.model, values_of(part.model, part.weights)):
        blocks = [
            _block(part.model.generative, min(most, count - first), random.fold(seed, first), probabilities)
            for first in range(0, count, most)
        ]
    return np.concatenate(blocks)


def _block(generative, count, seed, probabilities):
    x, z = generative.sample(count, seed)
    if probabilities:
        x = generative.layers[-1].conditional_mean(x, z[0] if z else tf.zeros([count, 0]))
    return x.numpy()
