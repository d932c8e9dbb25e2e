"""Draws of the data from an average over posterior samples.

    m uniform over the components,      x ~ the component's density
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.posterior.averages import Components


def predictive_samples(
    components: Components, num_samples: int, seed: Seed, probabilities: bool, context: np.ndarray | None = None
) -> np.ndarray:  # fmt: skip
    """float32 array (n, D); see `Posterior.sample`.

    Args:
      components: `Components`.
      num_samples: n.
      seed: integer, or int32 tensor of shape (2,).
      probabilities: True for the means of the data given what was drawn before them.
      context: (n, C), what each draw is given; None for models of rows alone.
    """
    choice_seed, draw_seed = tf.unstack(random.split(random.stream(seed, "predictive samples")))
    chosen = random.integers([num_samples], len(components), choice_seed).numpy()
    found = None
    for m in np.unique(chosen):
        places = np.flatnonzero(chosen == m)
        given = {} if context is None else {"context": context[places]}
        drawn = components[int(m)].density.sample(len(places), random.fold(draw_seed, int(m)), probabilities, **given)
        found = np.empty((num_samples, drawn.shape[1]), np.float32) if found is None else found
        found[places] = drawn
    return found
