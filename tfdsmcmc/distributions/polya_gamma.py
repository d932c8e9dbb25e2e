"""The Pólya-Gamma law PG(b, c).

    E e^{−tγ} = [cosh(c/2) / cosh √(c²/4 + t/2)]^b
    E γ = b tanh(c/2)/2c,      Var γ = b (sinh c − c)/(4c³ cosh²(c/2));      at c = 0:  b/4 and b/24
    KL(PG(b, c) ‖ PG(b, 0)) = b log cosh(c/2) − (c²/2) E γ

It makes logistic likelihoods normal: with κ = a − b/2,

    e^{aψ}/(1 + e^ψ)^b = 2^{−b} e^{κψ} E e^{−γψ²/2},      γ ~ PG(b, 0),

and given ψ, γ ~ PG(b, ψ). The sum of independent PG(b₁, c) and PG(b₂, c) is PG(b₁ + b₂, c).

Source: Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma latent variables", Journal
of the American Statistical Association 108 (2013).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.distributions.polya_gamma_draws import draws_of_one

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions

_LARGEST_SUM = 170  # the largest shape whose draws are sums


class PolyaGamma(tfd.Distribution):
    """The Pólya-Gamma law.

    Draws are exact up to float32 for integer shapes up to 170, as sums of so many draws of shape 1. Above, they are
    normal with the law's own mean and variance, an approximation: the skewness of the law, which falls as b^(−½), is
    lost.

    Args:
      shape: b, above 0. Draws need an integer up to 170, or any number above; where only the graph knows b, they are
        NaN for others.
      tilt: c; it broadcasts with the shape. Float32 or float64; draws are made in float32.
      name: name of the distribution.

    Raises:
      ValueError: for a number `shape` that is not above 0.

    Example:

    >>> import tfdsmcmc as ds
    >>> law = ds.distributions.PolyaGamma(1.0, [0.0, 2.0])
    >>> [round(float(mean), 4) for mean in law.mean()]
    [0.25, 0.1904]
    >>> law.sample(3, seed=[1, 2]).shape
    TensorShape([3, 2])
    """

    def __init__(
        self,
        shape: TensorLike,
        tilt: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PolyaGamma",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            self._tilt = tf.convert_to_tensor(tilt, name="tilt")
            if not self._tilt.dtype.is_floating:
                self._tilt = tf.cast(self._tilt, tf.float32)
            self._shape = tf.cast(tf.convert_to_tensor(shape, name="shape"), self._tilt.dtype)
            _check_positive(self._shape)
            super().__init__(
                dtype=self._tilt.dtype,
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {"shape": tfp.util.ParameterProperties(), "tilt": tfp.util.ParameterProperties()}

    @property
    def shape(self) -> tf.Tensor:
        """b."""
        return self._shape

    @property
    def tilt(self) -> tf.Tensor:
        """c."""
        return self._tilt

    def log_laplace(self, t: TensorLike) -> tf.Tensor:
        """log E e^{−tγ} for t ≥ 0; it broadcasts with the batch."""
        t = tf.convert_to_tensor(t, self.dtype)
        low, high = tf.abs(self._tilt) / 2, tf.sqrt(tf.square(self._tilt) / 4 + t / 2)
        # high − low, of which large tilts would leave nothing
        difference = tf.where(tf.math.is_inf(t), t, tf.math.divide_no_nan(t / 2, low + high))
        return self._shape * (_log_one_more(low) - _log_one_more(high) - difference)

    def divergence_from_untilted(self) -> tf.Tensor:
        """KL(PG(b, c) ‖ PG(b, 0)), in nats."""
        half = tf.abs(self._tilt) / 2
        # both terms go as c²/8 near 0, their difference as c⁴/192
        series = half**4 / 12 - 2 * half**6 / 45 + 17 * half**8 / 840 - 124 * half**10 / 14175
        value = _log_cosh(half) - half * tf.tanh(half) / 2
        return self._shape * tf.where(half < 0.3, series, value)

    def _event_shape(self):
        return tf.TensorShape([])

    def _event_shape_tensor(self):
        return tf.zeros([0], tf.int32)

    def _mean(self):
        return self._shape * mean_of_one(self._tilt)

    def _variance(self):
        return self._shape * variance_of_one(self._tilt)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        batch = tf.concat([[n], self.batch_shape_tensor()], 0)
        static = tf.get_static_value(self._shape)
        tilt = tf.broadcast_to(tf.cast(self._tilt, tf.float32), batch)
        if static is not None and np.all(static == 1):
            return tf.cast(draws_of_one(tilt, seed), self.dtype)
        _check_can_be_drawn(static)
        return tf.cast(_sums(tf.broadcast_to(tf.cast(self._shape, tf.float32), batch), tilt, seed), self.dtype)

    def _default_event_space_bijector(self):
        return None


def mean_of_one(tilt: TensorLike) -> tf.Tensor:
    """E γ of PG(1, tilt), tanh(c/2)/2c, also near c = 0."""
    c = tf.abs(tilt)
    near = c < 0.05
    safe = tf.where(near, tf.ones_like(c), c)
    return tf.where(near, 0.25 - tf.square(c) / 48 + c**4 / 480, tf.tanh(safe / 2) / (2 * safe))


def variance_of_one(tilt: TensorLike) -> tf.Tensor:
    """Var γ of PG(1, tilt), (sinh c − c)/(4c³ cosh²(c/2)), also near c = 0 and where sinh c overflows."""
    c = tf.abs(tilt)
    near = c < 0.5
    safe = tf.where(near, tf.ones_like(c), c)
    # sinh c/cosh²(c/2) = 2 tanh(c/2), and 1/cosh²(c/2) by an exponential that cannot overflow
    e = tf.exp(-safe)
    value = (2 * tf.tanh(safe / 2) - 4 * safe * e / tf.square(1 + e)) / (4 * safe**3)
    square = tf.square(c)
    terms = (1 / 24, -1 / 120, 17 / 13440, -31 / 181440, 691 / 31933440, -5461 / 2075673600)
    return tf.where(near, tf.math.polyval([tf.constant(term, c.dtype) for term in terms[::-1]], square), value)


def _sums(shape, tilt, seed):
    """Draws of integer shapes as sums; normal ones of large shapes."""
    large = shape > _LARGEST_SUM
    whole = tf.where(~large & (shape > 0), tf.round(shape), 0.0)  # 0 for NaN too, which would be the largest
    sum_seed, normal_seed = tf.unstack(random.split(seed))

    def add(i, total):
        draws = draws_of_one(tilt, random.fold(sum_seed, i))
        return i + 1, total + tf.where(tf.cast(i, tf.float32) < whole, draws, 0.0)

    most = tf.cast(tf.reduce_max(whole), tf.int32)
    shapes = (tf.TensorShape([]), tilt.shape)
    total = loops.while_loop(lambda i, _: i < most, add, (tf.constant(0), tf.zeros_like(tilt)), shapes)[1]
    normal = random.normal(tf.shape(tilt), normal_seed)
    mean, variance = shape * mean_of_one(tilt), shape * variance_of_one(tilt)
    # a shape that the graph alone knows has not met `_check_can_be_drawn`
    drawable = tf.equal(shape, whole) & ~tf.math.is_nan(tilt)
    return tf.where(large, mean + tf.sqrt(variance) * normal, tf.where(drawable, total, math.nan))


def _check_positive(shape):
    static = tf.get_static_value(shape)
    if static is not None and not np.all(static > 0):
        raise ValueError(f"shape must be above 0. Received: shape={static!r}")


def _check_can_be_drawn(static):
    if static is not None and not np.all((static == np.round(static)) | (static > _LARGEST_SUM)):
        raise ValueError(
            f"Draws need a shape that is an integer, or above {_LARGEST_SUM}. Received: shape={static!r}"
        )


def _log_cosh(x):
    return tf.abs(x) + _log_one_more(tf.abs(x)) - math.log(2)


def _log_one_more(x):
    return tf.math.log1p(tf.exp(-2 * x))
