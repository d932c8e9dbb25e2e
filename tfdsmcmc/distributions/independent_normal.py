"""A vector of independent normal variables.

    log p(y) = −½ Σᵢ ((yᵢ − μᵢ)/σᵢ)² − Σᵢ log σᵢ − ½ D log 2π

The same law as `tfd.MultivariateNormalDiag`, with draws that are fast under XLA, y = μ + σ ε.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions


class IndependentNormal(tfd.Distribution):
    """Independent normal variables as one event.

    Args:
      loc: μ, floating tensor (…, units).
      scale: σ > 0, of a shape that broadcasts with `loc`.
      name: name of the distribution.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> pair = ds.distributions.IndependentNormal(tf.zeros([2]), tf.ones([2]))
    >>> round(float(pair.log_prob([0.0, 0.0])), 4)
    -1.8379
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "IndependentNormal",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            hint = None if hasattr(loc, "dtype") else tf.float32  # for Python numbers
            self._loc = tf.convert_to_tensor(loc, dtype_hint=hint, name="loc")
            if not self._loc.dtype.is_floating:
                raise ValueError(f"loc must be floating. Received: loc of dtype {self._loc.dtype.name}")
            self._scale = tf.convert_to_tensor(scale, self._loc.dtype, name="scale")
            super().__init__(
                dtype=self._loc.dtype,
                reparameterization_type=tfd.FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {
            "loc": tfp.util.ParameterProperties(event_ndims=1),
            "scale": tfp.util.ParameterProperties(
                event_ndims=1, default_constraining_bijector_fn=lambda: tfp.bijectors.Softplus()
            ),
        }

    @property
    def loc(self) -> tf.Tensor:
        """μ."""
        return self._loc

    @property
    def scale(self) -> tf.Tensor:
        """σ."""
        return self._scale

    def _event_shape(self):
        return tf.broadcast_static_shape(self._loc.shape[-1:], self._scale.shape[-1:])

    def _event_shape_tensor(self):
        return tf.broadcast_dynamic_shape(tf.shape(self._loc)[-1:], tf.shape(self._scale)[-1:])

    def _log_prob(self, y):
        units = tf.cast(self._event_shape_tensor()[0], self.dtype)
        squares = tf.reduce_sum(tf.square((tf.cast(y, self.dtype) - self._loc) / self._scale), -1)
        return -0.5 * squares - self._log_scale() - 0.5 * math.log(2 * math.pi) * units

    def observed_log_prob(self, y: TensorLike, observed: TensorLike) -> tf.Tensor:
        """The log-density of the observed entries, the others integrated out.

        Args:
          y: (…, units); what is not observed may have any finite value.
          observed: (…, units), not 0 or True where an entry is observed.
        """
        terms = tf.square((tf.cast(y, self.dtype) - self._loc) / self._scale) + math.log(2 * math.pi)
        terms += 2 * tf.math.log(self._scale)
        return -0.5 * tf.reduce_sum(tf.where(tf.cast(observed, tf.bool), terms, 0.0), -1)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        shape = tf.broadcast_dynamic_shape(tf.shape(self._loc), tf.shape(self._scale))
        return self._loc + self._scale * random.normal(tf.concat([[n], shape], 0), seed, self.dtype)

    def _mean(self):
        return self._loc + tf.zeros_like(self._scale)

    def _mode(self):
        return self._mean()

    def _variance(self):
        return tf.square(self._scale) + tf.zeros_like(self._loc)

    def _stddev(self):
        return self._scale + tf.zeros_like(self._loc)

    def _entropy(self):
        units = tf.cast(self._event_shape_tensor()[0], self.dtype)
        return self._log_scale() + 0.5 * (1.0 + math.log(2 * math.pi)) * units

    def _log_scale(self):
        return tf.reduce_sum(tf.math.log(self._scale) + tf.zeros_like(self._loc), -1)

    def _default_event_space_bijector(self):
        return tfp.bijectors.Identity()


@tfd.RegisterKL(IndependentNormal, IndependentNormal)
def _kl_divergence(a, b, name=None):
    """Σᵢ log σ_b/σ_a + (σ_a² + (μ_a − μ_b)²)/2σ_b² − ½."""
    with tf.name_scope(name or "kl_independent_normal"):
        squares = (a.variance() + tf.square(a.mean() - b.mean())) / b.variance()
        return 0.5 * tf.reduce_sum(squares - 1.0 + tf.math.log(b.variance()) - tf.math.log(a.variance()), -1)
