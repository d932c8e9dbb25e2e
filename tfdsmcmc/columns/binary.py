"""A column of zeros and ones.

    p(y = 1) = σ(l)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random, supports
from tfdsmcmc.columns.base import Kind

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.supports import Support


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Binary(Kind):
    """Zeros and ones: one entry, of which the parameter is the logit."""

    word = "binary"

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.Binary()

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return (value * parameters - tf.nn.softplus(parameters))[..., 0]

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        return random.bernoulli(parameters, seed)

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return tf.sigmoid(parameters)

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log-odds, half a one and half a zero added."""
        ones = values.sum()
        return np.float32([np.log((ones + 0.5) / (len(values) - ones + 0.5))]), np.zeros(0, np.float32)
