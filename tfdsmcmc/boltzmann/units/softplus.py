"""Sums of log(1 + exp x) over a layer, and their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc.distributions.sum_log import sum_log_of_mantissas

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, TensorLike


def sum_softplus(x: TensorLike) -> tf.Tensor:
    """Σ_j log(1 + exp x_j) over the last axis."""
    return tf.reduce_sum(tf.nn.relu(x), -1) + sum_log_of_mantissas(1.0 + tf.exp(-tf.abs(x)))


def softplus_increment(x: TensorLike, before: Number, after: Number) -> tf.Tensor:
    """Σ_j log(1 + exp(β' x_j)) − log(1 + exp(β x_j)) over the last axis, of neighbouring β and β'.

    With σ(βx) the probability of a one, the difference is log(1 + σ(βx) (exp(Δx) − 1)), Δ = β' − β. Written for |x|,

        Δ max(x, 0) + log(1 + σ(−β|x|) (exp(−Δ|x|) − 1)),

    it has an argument in (−½, 0] wherever Δ ≥ 0: nothing overflows, and no digits are lost however small Δ is. The
    difference of two sums of softplus in float32 errs by some 10⁻⁵ a step instead, which thousands of steps add up.

    Args:
      x: (n, M).
      before: β, at least 0.
      after: β', at least β.
    """
    delta, size = after - before, tf.abs(x)
    rest = tf.sigmoid(-before * size) * tf.math.expm1(-delta * size)
    return tf.reduce_sum(delta * tf.nn.relu(x) + tf.math.log1p(rest), -1)
