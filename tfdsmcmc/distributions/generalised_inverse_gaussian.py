"""Draws from the generalised inverse Gaussian law GIG(p, A, B).

    density ∝ x^{p − 1} e^{−(Ax + B/x)/2},   x > 0

With λ = |p|, ω = √(AB) and X the logarithm of x over the mode of GIG(λ, ω, ω), X has the log-density

    ψ(X) = −α(cosh X − 1) − λ(e^X − X − 1),      α = √(ω² + λ²) − λ

which is concave and 0 at its mode 0. The envelope is 1 on [−s', t'], and exponential along the tangents at −s and t
beyond. Of a hundred proposals 80 or more are accepted, whatever λ and ω. The sign of p and the scale come back by

    x = √(B/A) y,   y = (λ/ω + √(1 + λ²/ω²)) e^X  for p ≥ 0, its reciprocal for p < 0

Source: Devroye, "Random variate generation for the generalized inverse Gaussian distribution", Statistics and Computing
24 (2014).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike


def generalised_inverse_gaussian(p: float, a: TensorLike, b: TensorLike, seed: Seed) -> tf.Tensor:
    """Draws of GIG(p, A, B), float32.

    ω = √(AB) is taken as 10⁻¹⁵ where it is less: for p = 0 the law has no limit at B = 0, and its mass goes to 0.

    Args:
      p: number.
      a: A, tensor above 0.
      b: B, tensor of at least 0; it broadcasts with A.
      seed: int32 of shape (2,).

    Returns:
      Tensor of the shape of A and B; NaN where one of them is NaN.
    """
    a, b = (tf.cast(part, tf.float32) for part in (a, b))
    # products and quotients of roots: AB or B/A may leave float32 where they do not
    root_a, root_b = tf.sqrt(a), tf.sqrt(b)
    omega = root_a * root_b
    omega = tf.where(omega > 1e18, 1e18, omega)  # ω² must fit; float32 does not see that log y scatters by 1/√ω
    low = omega < 1e-15
    omega, ratio = tf.where(low, 1e-15, omega), tf.where(low, 1e-15 / tf.square(root_a), root_b / root_a)
    size = abs(float(p)) / omega
    log_y = _log_over_mode(abs(float(p)), omega, seed)
    log_y += tf.where(size > 1e6, tf.math.log(2 * tf.maximum(size, 1.0)), tf.math.asinh(tf.minimum(size, 1e6)))
    return ratio * tf.exp(log_y if p >= 0 else -log_y)


def _log_over_mode(size, omega, seed):
    """Draws of X for λ = `size`."""
    alpha = omega**2 / (tf.sqrt(tf.square(omega) + size**2) + size) if size else omega
    t, s = _tangents(size, alpha)
    eta, zeta = -_psi(t, size, alpha), -_slope(t, size, alpha)
    theta, xi = -_psi(-s, size, alpha), _slope(-s, size, alpha)
    left_mean, right_mean = 1 / xi, 1 / zeta
    right, left = t - right_mean * eta, s - left_mean * theta
    total = left_mean + right + left + right_mean

    def one_round(number, open_, draws):
        which, place, keep = tf.unstack(random.uniform([3, *_dims(omega)], random.fold(seed, number)) + 2.0**-24)
        which *= total
        tail = -tf.math.log(place)
        middle = which < right + left
        rightwards = which < right + left + right_mean
        beyond = tf.where(rightwards, right + right_mean * tail, -left - left_mean * tail)
        x = tf.where(middle, -left + (right + left) * place, beyond)
        log_envelope = tf.where(x > right, -eta - zeta * (x - t), tf.where(x < -left, -theta + xi * (x + s), 0.0))
        accepted = tf.math.log(keep) + log_envelope <= _psi(x, size, alpha)
        return number + 1, open_ & ~accepted, tf.where(open_ & accepted, x, draws)

    # the bound on the rounds is for NaN alone: a number stays open with probability 0.2²⁰⁰
    start = (tf.constant(0), tf.fill(tf.shape(omega), True), tf.fill(tf.shape(omega), math.nan))
    shapes = (tf.TensorShape([]), omega.shape, omega.shape)
    return loops.while_loop(lambda i, open_, _: tf.reduce_any(open_) & (i < 200), one_round, start, shapes)[-1]


def _tangents(size, alpha):
    """(t, s), where the tangents on the right and on the left touch: −ψ is of order 1 there."""
    right = -_psi(tf.ones_like(alpha), size, alpha)
    far = tf.math.log(4 / (alpha + 2 * size))
    t = tf.where(right > 2, tf.sqrt(2 / (alpha + size)), tf.where(right < 0.5, far, 1.0))
    left = -_psi(-tf.ones_like(alpha), size, alpha)
    inverse = 1 / alpha
    # log(1 + 1/α + √(1/α² + 2/α)), whose square may leave float32
    far = tf.math.log1p(inverse * (1 + tf.sqrt(1 + 2 * alpha)))
    far = tf.minimum(far, 1 / size) if size else far
    s = tf.where(left > 2, tf.sqrt(4 / (alpha * math.cosh(1) + size)), tf.where(left < 0.5, far, 1.0))
    return t, s


def _psi(x, size, alpha):
    # cosh x − 1 = 2 sinh²(x/2), and e^x − x − 1, without the loss of digits near 0
    grown = 2 * alpha * tf.square(tf.sinh(x / 2))
    return -grown - size * (tf.math.expm1(x) - x) if size else -grown


def _slope(x, size, alpha):
    return -alpha * tf.sinh(x) - size * tf.math.expm1(x)


def _dims(x):
    return x.shape.as_list() if x.shape.is_fully_defined() else tf.unstack(tf.shape(x))
