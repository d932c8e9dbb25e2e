"""The power transform of Yeo and Johnson, which makes skewed numbers symmetric.

    ψ(y) = ((1 + y)^λ − 1)/λ              y ≥ 0      (log(1 + y) for λ = 0)
    ψ(y) = (1 − (1 − y)^(2−λ))/(2 − λ)    y < 0      (−log(1 − y) for λ = 2)

increases, with ψ(0) = 0 and ψ'(0) = 1; for λ from 0 to 2 it maps ℝ onto ℝ, and λ = 1 leaves y as it is.

Source: Yeo and Johnson, "A new family of power transformations to improve normality or symmetry", Biometrika 87
(2000), equation 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike


def transformed(y: TensorLike, power: TensorLike) -> tf.Tensor:
    """ψ(y), float32; the power λ broadcasts with y."""
    y, exponent = _side(y, power)
    size = tf.math.log1p(tf.abs(y))
    return tf.sign(y) * _over(tf.math.expm1(exponent * size), exponent, size)


def restored(t: TensorLike, power: TensorLike) -> tf.Tensor:
    """The y with ψ(y) = t, float32."""
    t, exponent = _side(t, power)
    size = tf.abs(t)
    return tf.sign(t) * tf.math.expm1(_over(tf.math.log1p(exponent * size), exponent, size))


def log_slope(y: TensorLike, power: TensorLike) -> tf.Tensor:
    """log ψ'(y) = (λ − 1) log(1 + y) for y ≥ 0, (1 − λ) log(1 − y) below; float32."""
    y, power = tf.cast(y, tf.float32), tf.cast(power, tf.float32)
    return (power - 1.0) * tf.sign(y) * tf.math.log1p(tf.abs(y))


def _side(y, power):
    """y, and the exponent of |1 ± y|: λ above 0, 2 − λ below."""
    y, power = tf.cast(y, tf.float32), tf.cast(power, tf.float32)
    return y, tf.where(y >= 0, power, 2.0 - power)


def _over(value, exponent, limit):
    """value/exponent, and its limit where the exponent is 0."""
    return tf.where(exponent > 0, value / tf.where(exponent > 0, exponent, 1.0), limit)
