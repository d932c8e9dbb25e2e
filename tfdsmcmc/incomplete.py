"""Rows with missing entries.

Missing entries are NaN. Where the data layer's units are independent given its parents they drop out:

    p(x_observed, z; θ) = p(z; θ) Π_{d observed} p(x_d given z_1; θ)

The recognition network sees a constant in their place. It remains a proposal like any other: the weights
p(x_observed, z)/q(z given the filled row) are right whatever the constant.

`of` gives two networks that take such rows, and are the given ones in all else; whatever draws latent variables, learns
or estimates with a pair of networks works with them as it is.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc.rows import Rows


def of(generative, recognition):
    """(generative, recognition) for rows in which NaN is missing.

    Raises:
      ValueError: for a data layer whose units depend on each other.
    """
    return Observed(generative), Filled(recognition, fill_of(generative))


def fill_of(generative):
    """What a recognition network sees in place of a missing entry: ½ where data are binary, else 0."""
    return 0.5 if generative.binary_data else 0.0


def has_gaps(rows):
    """Whether an array of rows has NaN in it."""
    return bool(np.issubdtype(rows.dtype, np.floating) and np.isnan(rows).any())


def parted(x, fill=0.0):
    """(x with `fill` in place of what is missing, 1 where it is observed), both (…, D) float32."""
    x = tf.cast(x, tf.float32)
    missing = tf.math.is_nan(x)
    return tf.where(missing, fill, x), 1.0 - tf.cast(missing, tf.float32)


class Observed:
    """A generative network of which NaN entries of x are summed out.

    Raises:
      ValueError: for a data layer whose units depend on each other.
    """

    def __init__(self, generative):
        check(generative)
        self._network = generative

    def __getattr__(self, name):
        return getattr(self._network, name)

    def log_joint(self, x, z):
        """log p(x_observed, z; θ)."""
        filled, observed = parted(x)
        return self._network.log_joint(Rows(filled, observed > 0), z)


class Filled:
    """A recognition network that sees a constant where x is NaN."""

    def __init__(self, recognition, fill):
        self._network, self._fill = recognition, fill

    def __getattr__(self, name):
        return getattr(self._network, name)

    def seen(self, x):
        return self._network.seen(parted(x, self._fill)[0])

    def sample(self, x, num_samples, seed):
        return self._network.sample(self.seen(x), num_samples, seed)

    def sample_and_log_prob(self, x, num_samples, seed):
        return self._network.sample_and_log_prob(self.seen(x), num_samples, seed)

    def log_prob(self, z, x):
        return self._network.log_prob(z, self.seen(x))


def check(generative):
    """Raises a ValueError unless the data layer's units are independent given its parents."""
    layer = generative.layers[-1]
    if not layer.factorised:
        raise ValueError(
            "Learning and likelihoods from incomplete rows need a data layer whose units are independent given its "
            f"parents: SBN, MLPBernoulli or MLPGaussian. Received: {type(layer).__name__}"
        )
