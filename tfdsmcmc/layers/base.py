"""The contract of a stochastic layer.

A layer is a conditional distribution p(y given parents; W). `distribution` returns it as a tfd.Distribution, and
everything else follows: `layer(parents)` is a sample, `log_prob` a log density. Parents of width 0 make it an
unconditional distribution, as a top layer needs.
"""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.checks import nonnegative_integer, positive_integer


class StochasticLayer(keras.layers.Layer):
    """Base class: a subclass creates its weights in `build` and returns p(y given parents) from `distribution`.

    Args:
      units: number of variables of the layer, at least 1.
      seed: integer, for calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Attributes:
      binary: whether y is in {0, 1}; data for such a layer are checked.
      factorised: whether the units are independent given the parents; missing entries of such a layer drop out.

    Raises:
      ValueError: if `units` is no positive integer, or `seed` no non-negative one.
    """

    binary = False
    factorised = False

    def __init__(self, units, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        if self.dtype_policy.name != "float32":
            raise ValueError(f"Stochastic layers compute in float32. Received: dtype={self.dtype_policy.name}")
        self.seed = None if seed is None else nonnegative_integer("seed", seed)
        self.seed_generator = keras.random.SeedGenerator(seed)

    @property
    def widest(self):
        """The entries of the widest array that a row needs while its log-probability is computed."""
        return int(max([self.units, *np.ravel(getattr(self, "hidden_units", 0))]))

    def distribution(self, parents):
        """Returns p(y given parents), a tfd.Distribution.

        Args:
          parents: tensor (…, parent width).

        Returns:
          A distribution with batch shape (…) and event shape (units,).
        """
        raise NotImplementedError(f"{type(self).__name__} must define distribution(parents).")

    def log_prob(self, value, parents):
        """log p(value given parents), of the broadcast batch shape."""
        return self.distribution(parents).log_prob(value)

    def observed_log_prob(self, value, observed, parents):
        """log p(the observed units given parents), the others summed out, of the broadcast batch shape.

        Args:
          value: (…, units); what is not observed may have any finite value.
          observed: (…, units), not 0 or True where a unit is observed.
          parents: (…, parent width).

        Raises:
          ValueError: for a layer whose units depend on each other.
        """
        if not self.factorised:
            raise ValueError(
                "Missing entries drop out where units are independent given the parents: layers SBN, MLPBernoulli and "
                f"MLPGaussian. Received: {type(self).__name__}"
            )
        return self.distribution(parents).observed_log_prob(value, observed)

    def sample(self, parents, seed, sample_shape=()):
        """A sample of shape sample_shape + (…, units)."""
        return self.distribution(parents).sample(sample_shape, seed=random.as_seed(seed))

    def sample_and_log_prob(self, parents, seed, sample_shape=()):
        """A sample and its log-probability: of what is drawn unit by unit, both in one pass."""
        return self.distribution(parents).experimental_sample_and_log_prob(sample_shape, seed=random.as_seed(seed))

    def conditional_mean(self, value, parents):
        """The mean of each unit given the parents and, where units depend on each other, those before it in `value`."""
        distribution = self.distribution(parents)
        if hasattr(distribution, "conditional_logits"):
            return tf.sigmoid(distribution.conditional_logits(value))
        return distribution.mean()

    def call(self, parents, seed=None):
        return self.sample(parents, self.seed_generator if seed is None else seed)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "seed": self.seed}

    def _parents(self, parents):
        """The parents as a float tensor; builds the layer at its first use and checks the width."""
        parents = tf.cast(tf.convert_to_tensor(parents), self.compute_dtype)
        if not self.built:
            self.build(tuple(parents.shape))
        if parents.shape[-1] != self.parent_units:
            raise ValueError(
                f"Layer {self.name!r} was built for parents of width {self.parent_units}. "
                f"Received: parents.shape={tuple(parents.shape)}"
            )
        return parents
