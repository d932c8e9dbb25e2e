"""A vector of independent Bernoulli variables.

    log p(x) = Σᵢ xᵢ lᵢ − log(1 + exp lᵢ),      ∂/∂lᵢ = xᵢ − σ(lᵢ)

The same law as `tfd.Independent(tfd.Bernoulli(logits), 1)`. It exists because this sum decides the speed of
learning: with e = exp(−|l|) the softplus is max(l, 0) + log(1 + e), the logarithms of up to 16 units are taken at
once as the logarithm of their product (at most 2¹⁶), and the gradient reuses e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.distributions.sum_log import sum_log_of_mantissas

if TYPE_CHECKING:
    from tfdsmcmc._common.types import DType, TensorLike

tfd = tfp.distributions


class IndependentBernoulli(tfd.Distribution):
    """Independent Bernoulli variables as one event.

    Args:
      logits: floating tensor (…, units); the leading axes are the batch.
      dtype: type of the samples; by default the type of the logits.
      name: name of the distribution.

    Raises:
      ValueError: if `logits` is not floating.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> pair = ds.distributions.IndependentBernoulli(tf.zeros([2]))
    >>> round(float(tf.exp(pair.log_prob([1.0, 0.0]))), 6)
    0.25
    """

    def __init__(
        self,
        logits: TensorLike,
        dtype: DType | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "IndependentBernoulli",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            hint = None if hasattr(logits, "dtype") else tf.float32  # for Python numbers
            self._logits = tf.convert_to_tensor(logits, dtype_hint=hint, name="logits")
            if not self._logits.dtype.is_floating:
                raise ValueError(f"logits must be floating. Received: logits of dtype {self._logits.dtype.name}")
            super().__init__(
                dtype=tf.as_dtype(dtype or self._logits.dtype),
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {"logits": tfp.util.ParameterProperties(event_ndims=1)}

    @property
    def logits(self) -> tf.Tensor:
        """Log-odds, (…, units)."""
        return self._logits

    def probs_parameter(self) -> tf.Tensor:
        """Probabilities of a one, (…, units)."""
        return tf.sigmoid(self._logits)

    def _event_shape(self):
        return self._logits.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]

    def _log_prob(self, x):
        return bernoulli_log_prob(x, self._logits)

    def observed_log_prob(self, x: TensorLike, observed: TensorLike) -> tf.Tensor:
        """The log-probability of the observed entries, the others summed out.

        Args:
          x: (…, units); what is not observed may have any finite value.
          observed: (…, units), not 0 or True where an entry is observed.
        """
        observed = tf.cast(observed, tf.bool)
        # at these logits a zero has log-probability 0, and no gradient
        logits = tf.where(observed, self._logits, -200.0)
        return bernoulli_log_prob(tf.where(observed, tf.cast(x, logits.dtype), 0.0), logits)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        return tf.cast(random.bernoulli(self._logits, seed, [n]), self.dtype)

    def _mean(self):
        return self.probs_parameter()

    def _variance(self):
        mean = self.probs_parameter()
        return mean * (1.0 - mean)

    def _mode(self):
        return tf.cast(self._logits > 0, self.dtype)

    def _entropy(self):
        softplus = tf.nn.softplus(self._logits)
        return tf.reduce_sum(softplus - self._logits * self.probs_parameter(), -1)

    def _default_event_space_bijector(self):
        return None


def bernoulli_log_prob(x: TensorLike, logits: tf.Tensor) -> tf.Tensor:
    """Σᵢ xᵢ lᵢ − log(1 + exp lᵢ) over the last axis; the other axes broadcast.

    Args:
      x: (…, units) zeros and ones of any numeric type.
      logits: (…, units).
    """
    return _log_prob(tf.cast(x, logits.dtype), logits)


@tf.custom_gradient
def _log_prob(x, logits):
    e = tf.exp(-tf.abs(logits))
    value = tf.reduce_sum(x * logits - tf.nn.relu(logits), -1) - sum_log_of_mantissas(1.0 + e)

    def gradient(upstream):
        sigmoid = tf.where(logits >= 0, tf.ones_like(e), e) / (1.0 + e)
        upstream = upstream[..., tf.newaxis]
        return sum_like(upstream * logits, x), sum_like(upstream * (x - sigmoid), logits)

    return value, gradient


def sum_like(gradient: tf.Tensor, operand: tf.Tensor) -> tf.Tensor:
    """Sums a broadcast gradient to the shape of its operand."""
    if not (gradient.shape.is_fully_defined() and operand.shape.is_fully_defined()):
        shape = tf.shape(operand)
        axes = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(gradient)).r0
        return tf.reshape(tf.reduce_sum(gradient, axes), shape)
    extra = len(gradient.shape) - len(operand.shape)
    if extra > 0:
        # as a vector-matrix product: XLA on a CPU reduces slowly over leading axes
        shape = tf.shape(gradient)
        count = tf.reduce_prod(shape[:extra])
        rows = tf.reshape(gradient, [count, tf.reduce_prod(shape[extra:])])
        gradient = tf.reshape(tf.ones([1, count], rows.dtype) @ rows, shape[extra:])
    static, target = gradient.shape, operand.shape
    axes = [i for i, (a, b) in enumerate(zip(static, target)) if b == 1 and a != 1]
    return tf.reduce_sum(gradient, axes, keepdims=True) if axes else gradient
