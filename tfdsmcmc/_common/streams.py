"""Sums over weights that come as logarithms, streamed with a running maximum so that nothing overflows.

    m = max_k log w_k,      t = Σ_k exp(log w_k − m),      s = Σ_k exp(2 (log w_k − m))

    log of the mean weight        m + log t − log K
    its standard error            √((K s / t² − 1) / (K − 1))                      (delta method)
    effective sample size         t² / s

Weights come in chunks over a leading axis, in as many as one likes: sums held relative to an old maximum count by
exp(old − new) from then on. Whatever else is summed with the same weights, Σ_k w_k^p f_k, is carried along relative to
the same maximum by `Shift.carry`. Totals are float64: in float32 what a chunk adds to a long sum would be lost.

Everything here is in tensors and runs in a graph, in a loop and op by op; NumPy arrays are taken as they are.

Source: Owen, "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Shift(NamedTuple):
    """What a chunk of weights does to sums that are held relative to the maximum.

    Attributes:
      scale: (…), by which what was summed before counts from now on.
      ratio: (K, …), the chunk's weights relative to the new maximum.
    """

    scale: tf.Tensor
    ratio: tf.Tensor

    def carry(self, total: tf.Tensor, values: tf.Tensor | ArrayLike, power: int = 1) -> tf.Tensor:
        """total · scale^p + Σ_k ratio_k^p · values_k; a value of weight 0 adds 0, whatever it is.

        Args:
          total: (…) or (…, width) float64, the sum over the chunks before.
          values: (K, …) or (K, …, width), one for each weight of the chunk.
          power: p.
        """
        scale, ratio = (self.scale, self.ratio) if power == 1 else (self.scale**power, self.ratio**power)
        values = tf.cast(values, ratio.dtype)
        if total.shape.rank == scale.shape.rank:
            added = tf.reduce_sum(ratio * tf.where(ratio > 0, values, 0.0), 0)
        else:
            scale = scale[..., tf.newaxis]
            # as a matrix product: XLA on a CPU reduces slowly over a leading axis
            added = tf.einsum("k...,k...w->...w", ratio, tf.where(ratio[..., tf.newaxis] > 0, values, 0.0))
        return total * tf.cast(scale, total.dtype) + tf.cast(added, total.dtype)


class WeightSums(NamedTuple):
    """The three sums of each of some rows, relative to the largest weight so far.

    Attributes:
      maximum: m, (…), in the type of the log-weights; −∞ where every weight so far is 0.
      total: t, (…) float64.
      squares: s, (…) float64.
    """

    maximum: tf.Tensor
    total: tf.Tensor
    squares: tf.Tensor

    @classmethod
    def of_nothing(
        cls,
        shape: Sequence[int | tf.Tensor] | tf.Tensor | tf.TensorShape,
        dtype: tf.DType = tf.float32,
    ) -> WeightSums:
        """The sums over no weights; of rows of a shape, and log-weights of a type."""
        zero = tf.zeros(shape, tf.float64)
        return cls(tf.cast(zero, dtype) - np.inf, zero, zero)

    @classmethod
    def of(cls, log_weights: tf.Tensor | ArrayLike) -> WeightSums:
        """The sums over a single chunk, (K, …)."""
        log_weights = tf.convert_to_tensor(log_weights)
        return cls.of_nothing(tf.shape(log_weights)[1:], log_weights.dtype).add(log_weights)[0]

    def add(self, log_weights: tf.Tensor | ArrayLike) -> tuple[WeightSums, Shift]:
        """The sums with a chunk of weights, and what it does to other sums with the same weights.

        Args:
          log_weights: (K, …); −∞ is a weight of 0.
        """
        log_weights = tf.convert_to_tensor(log_weights)
        highest = tf.maximum(self.maximum, tf.reduce_max(log_weights, 0))
        # where every weight so far is 0 the maximum is −∞: any finite reference will do
        reference = tf.where(tf.math.is_finite(highest), highest, 0.0)
        scale = tf.cast(tf.exp(self.maximum - reference), self.total.dtype)
        ratio = tf.exp(log_weights - reference)
        total = self.total * scale + tf.cast(tf.reduce_sum(ratio, 0), self.total.dtype)
        squares = self.squares * scale**2 + tf.cast(tf.reduce_sum(ratio**2, 0), self.total.dtype)
        return WeightSums(highest, total, squares), Shift(scale, ratio)

    @property
    def log_total(self) -> tf.Tensor:
        """log Σ w, (…) float64."""
        return tf.cast(self.maximum, self.total.dtype) + tf.math.log(self.total)

    @property
    def log_squares(self) -> tf.Tensor:
        """log Σ w², (…) float64."""
        return 2.0 * tf.cast(self.maximum, self.total.dtype) + tf.math.log(self.squares)

    @property
    def effective_sample_size(self) -> tf.Tensor:
        """(Σ w)² / Σ w², (…) float64; nan where every weight is 0."""
        return self.total**2 / self.squares

    def estimate(self, count: float | tf.Tensor | np.ndarray) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """What K weights say of log E w.

        Args:
          count: K, a number or (…).

        Returns:
          (log of the mean weight, its standard error, effective sample size), each (…) in the type of the log-weights;
          −∞, nan and nan where every weight is 0; the error of a single weight is nan.
        """
        count = tf.cast(count, self.total.dtype)
        value = tf.cast(self.maximum, self.total.dtype) + tf.math.log(self.total / count)
        excess = tf.maximum(count * self.squares / self.total**2 - 1.0, 0.0)
        found = value, tf.sqrt(excess / (count - 1.0)), self.effective_sample_size
        return tuple(tf.cast(part, self.maximum.dtype) for part in found)


def log_mean_exp(log_weights: tf.Tensor) -> tf.Tensor:
    """log (1/K) Σ_k w_k over the leading axis, of one chunk; gradients pass through it."""
    return tf.reduce_logsumexp(log_weights, 0) - tf.math.log(tf.cast(tf.shape(log_weights)[0], log_weights.dtype))
