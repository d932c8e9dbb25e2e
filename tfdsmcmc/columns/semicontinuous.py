"""A column of amounts, many of which may be 0.

    P(y = 0) = 1 − σ(g),      p(y) = σ(g) LogNormal(y; log t + μ, σ_s)        for y > 0

with g and μ of the row, and σ_s = σ_0 + σ_1 exp(s)/(σ_1 + exp(s)), σ_0 = 0.01 and σ_1 = 5, whose s all rows share; t is
the typical amount. The density is with respect to a point mass at 0 beside the length on the positive numbers.

In numbers. log(y/t) of draws counts as at most 30 and at least −30.

Source: Olsen and Schafer, "A two-part random-effects model for semicontinuous longitudinal data", Journal of the
American Statistical Association 96 (2001); Duan, Manning, Morris and Newhouse, "A comparison of alternative models for
the demand for medical care", Journal of Business & Economic Statistics 1 (1983).
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
    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support

_LEAST, _LARGEST, _FARTHEST = 0.01, 5.0, 30.0
_TINY = 1e-30  # whose logarithm float32 has


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Semicontinuous(Kind):
    """Amounts of 0 or more: one entry, of which the parameters are the log-odds of more than 0, and μ.

    Args:
      typical: t, an amount as the column has them, above 0: what a recognition network sees in place of a missing one.

    Raises:
      ValueError: for a number that is not positive.
    """

    word = "semicontinuous"
    parameters, shared = 2, 1

    def __init__(self, typical: float = 1.0):
        self.typical: float = float(checks.positive_number("typical", typical))

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.Amounts([kind.typical for kind in kinds])

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        y, g = value[..., 0], parameters[..., 0]
        log_y, scale = tf.math.log(tf.maximum(y, _TINY)), _scale(shared)
        squares = tf.square((log_y - math.log(self.typical) - parameters[..., 1]) / scale)
        amount = -0.5 * squares - tf.math.log(scale) - 0.5 * math.log(2 * math.pi) - log_y
        return tf.where(y > 0, amount - tf.nn.softplus(-g), -tf.nn.softplus(g))

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        some_seed, noise_seed = tf.unstack(random.split(seed))
        noise = random.normal(tf.shape(parameters)[:-1], noise_seed)
        log_y = tf.clip_by_value(parameters[..., 1] + _scale(shared) * noise, -_FARTHEST, _FARTHEST)
        return (random.bernoulli(parameters[..., 0], some_seed) * self.typical * tf.exp(log_y))[..., tf.newaxis]

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        log_mean = parameters[..., 1] + 0.5 * tf.square(_scale(shared))
        mean = self.typical * tf.exp(tf.clip_by_value(log_mean, -_FARTHEST, _FARTHEST))
        return (tf.sigmoid(parameters[..., 0]) * mean)[..., tf.newaxis]

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log-odds of more than 0, half of each added; mean and deviation of the logarithms of what is."""
        some = values[values > 0].astype(np.float64)
        logs = np.log(some / self.typical) if len(some) else np.zeros(1)
        odds = np.log((len(some) + 0.5) / (len(values) - len(some) + 0.5))
        scale = float(np.clip(max(logs.std(), 0.1) - _LEAST, 1e-3, 0.5 * _LARGEST))
        return np.float32([odds, logs.mean()]), np.float32([np.log(scale) - np.log1p(-scale / _LARGEST)])

    def get_config(self) -> Config:
        return {"typical": self.typical}


def _scale(shared):
    return _LEAST + _LARGEST * tf.sigmoid(shared[..., 0] - math.log(_LARGEST))
