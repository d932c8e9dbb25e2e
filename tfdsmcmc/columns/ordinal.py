"""A column of q ordered states, one of q entries 1 and the others 0.

    P(y ≤ k) = σ(c_k − η),      k = 1, …, q − 1

with the location η of the row and cut points c_1 < … < c_{q−1} that all rows share. Their mean is 0, for η has the
rest. Their distances are d_k = 10⁻⁴ + softplus(s_k + v_k), with v the shared parameters and s such that at η = 0 and
v = 0 all states have probability 1/q.

With a = c_k − η and b = c_{k−1} − η, of which the first state has no b and the last no a,

    P(y = k) = σ(a) − σ(b) = σ(a) σ(−b) (1 − exp(b − a))

so that log P is a sum without cancellation, in which b − a = −d depends on no row.

Source: McCullagh, "Regression models for ordinal data", Journal of the Royal Statistical Society B 42 (1980).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import supports
from tfdsmcmc.columns.base import Kind
from tfdsmcmc.columns.categorical import at_least_two, one_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support

_LEAST = 1e-4  # distance of cut points: its logarithm is finite


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Ordinal(Kind):
    """Ordered states, an entry for each: one location, and q − 2 distances of cut points that all rows share.

    Args:
      states: q, at least 2.

    Raises:
      ValueError: for another number.
    """

    word = "ordinal"

    def __init__(self, states: int):
        self.states: int = at_least_two(states)
        self.entries = self.states
        self.shared = self.states - 2
        even = _logit(np.arange(1, self.states) / self.states)
        self._start = _softplus_inverse(np.diff(even) - _LEAST).astype(np.float32)

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.OneHot([kind.states for kind in kinds])

    def cut_points(self, shared: tf.Tensor) -> tf.Tensor:
        """c, (…, q − 1), of shared parameters (…, q − 2)."""
        return _cut_points(self._distances(shared))

    def log_probs(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """log P(y = k), (…, C, q)."""
        distances = self._distances(shared)
        below = _cut_points(distances) - parameters
        nothing = tf.zeros_like(below[..., :1])
        between = tf.math.log(-tf.math.expm1(-distances))
        none = tf.zeros_like(between[..., :1]) if self.shared else tf.zeros(tf.concat([tf.shape(shared)[:-1], [1]], 0))
        return (
            tf.concat([-tf.nn.softplus(-below), nothing], -1)
            + tf.concat([nothing, -tf.nn.softplus(below)], -1)
            + tf.concat([none, between, none], -1)
        )

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(value * self.log_probs(parameters, shared), -1)

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        return one_of(self.log_probs(parameters, shared), seed)

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return tf.exp(self.log_probs(parameters, shared))

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The log-odds of the shares so far, half a value added to each state: exact but for the least distances."""
        shares = np.cumsum(values.sum(0) + 0.5)
        cuts = _logit(shares[:-1] / shares[-1])
        inside = _softplus_inverse(np.maximum(np.diff(cuts) - _LEAST, _LEAST))
        return np.float32([-cuts.mean()]), (inside - self._start).astype(np.float32)

    def get_config(self) -> Config:
        return {"states": self.states}

    def _distances(self, shared):
        return _LEAST + tf.nn.softplus(self._start + shared)


def _cut_points(distances):
    first = tf.zeros_like(tf.reduce_sum(distances, -1, keepdims=True))
    cuts = tf.concat([first, tf.cumsum(distances, -1)], -1)
    return cuts - tf.reduce_mean(cuts, -1, keepdims=True)


def _logit(p):
    return np.log(p) - np.log1p(-p)


def _softplus_inverse(y):
    return y + np.log(-np.expm1(-y))
