"""Units of ±1, Ising spins.

    u = 0,      Γ(x) = Σ_i log(2 cosh x_i) = Σ_i |x_i| + log(1 + exp(−2|x_i|)),      E v = tanh x

A machine of spins is one of zeros and ones in other coordinates. With v = 2x − 1 and h = 2y − 1

    v'W h + b'v + a'h = x'(4W) y + (2b − 2W1)'x + (2a − 2W'1)'y + (1'W1 − b'1 − a'1)

so that of spins with W, b, a and of bits with 4W, 2b − 2W1, 2a − 2W'1, whose states have the same probabilities,

    log Z of the spins = log Z of the bits + 1'W1 − b'1 − a'1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random, supports
from tfdsmcmc.boltzmann.units.base import Units, registered
from tfdsmcmc.boltzmann.units.softplus import sum_softplus
from tfdsmcmc.distributions.sum_log import sum_log_of_mantissas

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, TensorLike


@registered
class Spin(Units):
    """Units of ±1; 2x is the logit of +1.

    A machine of spins with W, b, a has the law of one of zeros and ones with 4W, 2b − 2W1, 2a − 2W'1, and

        log Z of the spins = log Z of the bits + 1'W1 − b'1 − a'1
    """

    support = supports.Spin()

    def cumulant(self, field: TensorLike) -> tf.Tensor:
        size = tf.abs(field)
        return tf.reduce_sum(size, -1) + sum_log_of_mantissas(1.0 + tf.exp(-2.0 * size))

    def increment(self, before: Number, after: Number, field: TensorLike) -> tf.Tensor:
        """Σ_i Δ|x_i| + log(1 + σ(−2β|x_i|) (exp(−2Δ|x_i|) − 1)), see `softplus_increment`."""
        delta, size = after - before, tf.abs(field)
        rest = tf.sigmoid(-2.0 * before * size) * tf.math.expm1(-2.0 * delta * size)
        return tf.reduce_sum(delta * size + tf.math.log1p(rest), -1)

    def mean(self, field: TensorLike) -> tf.Tensor:
        return tf.tanh(field)

    def draw(self, uniforms: TensorLike, field: TensorLike) -> tf.Tensor:
        return 2.0 * random.bernoulli_of(2.0 * field, uniforms) - 1.0

    def log_prob(self, v: TensorLike, field: TensorLike) -> tf.Tensor:
        return -sum_softplus(-2.0 * v * field)

    def values(self, width: int) -> list[np.ndarray] | None:
        return [np.array([[-1.0], [1.0]])] * width

    def fit(self, x: np.ndarray, smoothing: float) -> list[np.ndarray]:
        rates = (0.5 + 0.5 * x.mean(0, dtype=np.float64) + smoothing) / (1.0 + 2.0 * smoothing)
        return [(0.5 * (np.log(rates) - np.log1p(-rates))).astype(np.float32)]
