"""A vector of independent variables, each with a mixture of M normal distributions of equal weights.

    p(y) = Π_i (1/M) Σ_m Normal(y_i; μ_mi, σ_mi)

Each variable chooses its component for itself: the vector has M^D combinations of them. At M = 1 it is
`IndependentNormal`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions


class IndependentNormalMixture(tfd.Distribution):
    """Independent mixtures of normal variables as one event.

    Args:
      loc: μ, floating tensor (M, …, units).
      scale: σ > 0, (M, …, units).
      name: name of the distribution.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> pair = ds.distributions.IndependentNormalMixture(tf.constant([[0.0], [2.0]]), tf.ones([2, 1]))
    >>> round(float(pair.mean()[0]), 4), round(float(pair.variance()[0]), 4)
    (1.0, 2.0)
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "IndependentNormalMixture",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            self._loc = tf.convert_to_tensor(loc, dtype_hint=tf.float32, name="loc")
            self._scale = tf.convert_to_tensor(scale, self._loc.dtype, name="scale")
            if self._loc.shape.rank < 2 or not self._loc.shape.is_compatible_with(self._scale.shape):
                raise ValueError(
                    "loc and scale are of one shape (components, …, units). "
                    f"Received: shapes {self._loc.shape} and {self._scale.shape}"
                )
            super().__init__(
                dtype=self._loc.dtype,
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    @property
    def loc(self) -> tf.Tensor:
        """μ, (M, …, units)."""
        return self._loc

    @property
    def scale(self) -> tf.Tensor:
        """σ, (M, …, units)."""
        return self._scale

    def _batch_shape(self):
        return self._loc.shape[1:-1]

    def _batch_shape_tensor(self, loc=None, scale=None):
        return tf.shape(self._loc)[1:-1]

    def _event_shape(self):
        return self._loc.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._loc)[-1:]

    def _unit_log_probs(self, y):
        """The log-density of each variable, (…, units)."""
        y = tf.cast(y, self.dtype)
        loc, scale = (_with_axes(part, y.shape.rank) for part in (self._loc, self._scale))
        terms = -0.5 * tf.square((y - loc) / scale) - tf.math.log(scale)
        return tf.reduce_logsumexp(terms, 0) - math.log(loc.shape[0]) - 0.5 * math.log(2 * math.pi)

    def _log_prob(self, y):
        return tf.reduce_sum(self._unit_log_probs(y), -1)

    def observed_log_prob(self, y: TensorLike, observed: TensorLike) -> tf.Tensor:
        """The log-density of the observed entries, the others integrated out.

        Args:
          y: (…, units); what is not observed may have any finite value.
          observed: (…, units), not 0 or True where an entry is observed.
        """
        terms = self._unit_log_probs(tf.convert_to_tensor(y))
        return tf.reduce_sum(tf.where(tf.cast(observed, tf.bool), terms, 0.0), -1)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        choice_seed, normal_seed = tf.unstack(random.split(seed))
        count, shape = self._loc.shape[0], tf.concat([[n], tf.shape(self._loc)[1:]], 0)
        chosen = random.integers(shape, count, choice_seed)

        def take(m, loc, scale):
            here = chosen == m
            return m + 1, tf.where(here, self._loc[m], loc), tf.where(here, self._scale[m], scale)

        nothing = tf.zeros(shape, self.dtype)
        _, loc, scale = loops.while_loop(lambda m, *_: m < count, take, (0, nothing, nothing))
        return loc + scale * random.normal(shape, normal_seed, self.dtype)

    def _mean(self):
        return tf.reduce_mean(self._loc, 0)

    def _variance(self):
        return tf.reduce_mean(tf.square(self._scale) + tf.square(self._loc - self._mean()), 0)

    def _stddev(self):
        return tf.sqrt(self._variance())

    def _default_event_space_bijector(self):
        return tfp.bijectors.Identity()


def _with_axes(part, rank):
    """(M, …, units) with axes of one after the first, so that the others broadcast with values of the rank."""
    for _ in range(rank + 1 - part.shape.rank):
        part = part[:, tf.newaxis]
    return part
