"""Categorical variables, Potts units: each a group of entries of which one is 1 and the others are 0.

    u = 0,      Γ(x) = Σ_groups log Σ_k exp x_k,      E v = softmax of x in each group

Each state has weights and a bias of its own: the law stays the same where a constant is added to those of a group.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc.boltzmann.units.base import Units, registered
from tfdsmcmc.supports import OneHot

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Number, TensorLike


@registered
class Categorical(Units):
    """Categorical variables as groups of zeros and a one.

    Args:
      groups: list of the numbers of states, each at least 2; a layer has as many entries as all groups together.

    Raises:
      ValueError: for no list of such numbers.
    """

    def __init__(self, groups: Sequence[int]):
        self.support: OneHot = OneHot(groups)
        self.groups: list[int] = self.support.groups
        # neighbours of one size are computed as one array
        self._runs = [(size, len(list(run))) for size, run in itertools.groupby(self.groups)]

    def cumulant(self, field: TensorLike) -> tf.Tensor:
        return _sum(tf.reduce_sum(tf.reduce_logsumexp(x, -1), -1) for x in self._split(field))

    def increment(self, before: Number, after: Number, field: TensorLike) -> tf.Tensor:
        """Σ_groups Δ max x + log(1 + Σ_k p_k (exp(−Δ (max x − x_k)) − 1)), p = softmax(βx).

        The sum lies in (−1, 0], as the largest p_k is that of a term of 0."""
        delta, found = after - before, []
        for x in self._split(field):
            largest = tf.reduce_max(x, -1, keepdims=True)
            rest = tf.reduce_sum(tf.nn.softmax(before * x) * tf.math.expm1(delta * (x - largest)), -1)
            found.append(tf.reduce_sum(delta * largest[..., 0] + tf.math.log1p(rest), -1))
        return _sum(found)

    def mean(self, field: TensorLike) -> tf.Tensor:
        return _joined(tf.nn.softmax(x) for x in self._split(field))

    def draw(self, uniforms: TensorLike, field: TensorLike) -> tf.Tensor:
        drawn = []
        for u, x in zip(tf.split(uniforms, [count for _, count in self._runs], -1), self._split(field)):
            ends = tf.cumsum(tf.nn.softmax(x), -1)
            below = ends[..., :-1] <= tf.cast(u[..., tf.newaxis], x.dtype) * ends[..., -1:]
            drawn.append(tf.one_hot(tf.reduce_sum(tf.cast(below, tf.int32), -1), x.shape[-1], dtype=x.dtype))
        return _joined(drawn)

    def num_uniforms(self, width: int) -> int:
        return len(self.groups)

    def values(self, width: int) -> list[np.ndarray] | None:
        return [np.eye(size) for size in self.groups]

    def fit(self, x: np.ndarray, smoothing: float) -> list[np.ndarray]:
        sizes = np.repeat(self.groups, self.groups)
        rates = (x.mean(0, dtype=np.float64) + smoothing) / (1.0 + sizes * smoothing)
        return [np.log(rates).astype(np.float32)]

    def get_config(self) -> Config:
        return {"groups": self.groups}

    def _split(self, field):
        """The groups of each run, a list of (…, groups, states)."""
        parts = tf.split(field, [size * count for size, count in self._runs], -1)
        leading = tf.shape(field)[:-1]
        shapes = (tf.concat([leading, [count, size]], 0) for size, count in self._runs)
        return [tf.reshape(part, shape) for part, shape in zip(parts, shapes)]


def _joined(parts):
    """Groups of runs side by side, (…, width)."""
    rows = (tf.reshape(x, tf.concat([tf.shape(x)[:-2], [x.shape[-2] * x.shape[-1]]], 0)) for x in parts)
    return tf.concat(list(rows), -1)


def _sum(terms):
    return tf.add_n(list(terms))
