"""A column of real numbers.

    p(y) = Normal(y; μ, σ),      σ = σ_0 + σ_1 exp(s)/(σ_1 + exp(s))

with s of the row, or of the column where all rows share it, as in a linear regression. That is about σ_0 + exp(s) where
it is far below σ_1. The least standard deviation σ_0 keeps the likelihood bounded where a column says another one
exactly. The largest, σ_0 + σ_1, bounds the noise of draws at weights far from any that the data support.

Where columns depend on each other and missing ones are drawn, an s that is linear in other columns takes draws far out,
which take s further: all rows share it there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random, supports
from tfdsmcmc._common import checks
from tfdsmcmc.columns.base import Kind

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support

_LOG_1000 = math.log(1000.0)


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Real(Kind):
    """Real numbers, best with mean 0 and variance 1: one entry, of which the parameters are μ and s, of the row or,
    with `same_scale`, s of the column.

    Args:
      least_scale: σ_0.
      largest_scale: σ_1.
      same_scale: whether all rows share s.

    Raises:
      ValueError: for numbers that are negative or not finite, or σ_1 = 0.
    """

    word = "real"

    def __init__(self, least_scale: float = 0.01, largest_scale: float = 10.0, same_scale: bool = False):
        self.least_scale: float = float(checks.nonnegative_number("least_scale", least_scale))
        self.largest_scale: float = float(checks.positive_number("largest_scale", largest_scale))
        self.same_scale: bool = checks.boolean("same_scale", same_scale)
        self.parameters, self.shared = (1, 1) if self.same_scale else (2, 0)

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.Real()

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        scale = self.scale(parameters, shared)
        squares = tf.square((value[..., 0] - parameters[..., 0]) / scale)
        return -0.5 * squares - tf.math.log(scale) - 0.5 * math.log(2 * math.pi)

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        noise = random.normal(tf.shape(parameters)[:-1], seed)
        return (parameters[..., 0] + self.scale(parameters, shared) * noise)[..., tf.newaxis]

    def moved(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        """μ + √(1 − β²) (y − μ) + β σ ε, with β = 1 or, every other time, 10⁻³ᵘ for a uniform u.

        Where other columns know y better than its parents do, short moves are accepted and draws are not. Source: Neal,
        "Regression and classification using Gaussian process priors", Bayesian Statistics 6 (1999).
        """
        noise_seed, length_seed = tf.unstack(random.split(seed))
        shape, mu = tf.shape(value)[:-1], parameters[..., 0]
        u = 2.0 * random.uniform(shape, length_seed) - 1.0
        beta = tf.exp(-_LOG_1000 * tf.maximum(u, 0.0))
        noise = self.scale(parameters, shared) * random.normal(shape, noise_seed)
        y = mu + tf.sqrt(1.0 - beta * beta) * (value[..., 0] - mu) + beta * noise
        return y[..., tf.newaxis]

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return parameters[..., :1]

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The mean, and the standard deviation, at least 0.1 and at most half of the largest."""
        scale = float(np.clip(max(values.std(), 0.1) - self.least_scale, 1e-3, 0.5 * self.largest_scale))
        log_scale = np.log(scale) - np.log1p(-scale / self.largest_scale)
        own = [values.mean(), log_scale]
        return np.float32(own[: self.parameters]), np.float32(own[self.parameters :])

    def of_same_scale(self) -> Self:
        return type(self)(**{**self.get_config(), "same_scale": True})

    def get_config(self) -> Config:
        scales = {"least_scale": self.least_scale, "largest_scale": self.largest_scale}
        return {**scales, "same_scale": self.same_scale}

    def scale(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """σ, (…, C)."""
        s = shared[..., 0] if self.same_scale else parameters[..., 1]
        return self.least_scale + self.largest_scale * tf.sigmoid(s - math.log(self.largest_scale))
