"""q(w_j) = Π_p N(w_jp; μ_jp, s²_jp): all weights of a unit independent, and what expectations under it need.

    ⟨ψ²⟩ = ψ̄² + Σ_p (μ_p² v_p + s²_p r̄_p),     v = r̄ (1 − r̄)
    1/s²_jp = Σ_n γ̄_jn r̄_np + ⟨1/ζ_jp⟩
    μ_jp = s²_jp Σ_n r̄_np [ȳ_jn − ½ − γ̄_jn Σ_{p' ≠ p} μ_jp' r̄_np'],     one p after the other

with the functions of `full_covariance`. Tilts and slopes of B rows take B J P of work. The statistics of a pass over
blocks of rows are those of `full_covariance`, from which the weights move one after the other; where all rows are
there at once, as a minibatch of online learning is, `online_update` needs none of them.

Source: Gan, Henao, Carlson and Carin (2015), section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc._common import loops
from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.variational import full_covariance

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Number

NAME = "diagonal"

statistics = full_covariance.statistics
entropy = full_covariance.entropy
no_sums = full_covariance.no_sums


class Slopes(NamedTuple):
    """What the slopes of the regressors of some rows come from.

    Attributes:
      linear: (B, P), Σ_j (ȳ_j − ½) μ_jp.
      gamma: (B, J), γ̄.
      squares: (B, P), Σ_j γ̄_j μ_jp².
      second: (B, P), Σ_j γ̄_j ⟨w_jp²⟩.
    """

    linear: tf.Tensor
    gamma: tf.Tensor
    squares: tf.Tensor
    second: tf.Tensor


def initial(mean: tf.Tensor, variance: float, mask: np.ndarray) -> tf.Tensor:
    """s² (J, P), all of one variance."""
    return tf.cast(mask, mean.dtype) * variance


def log_det(covariance: tf.Tensor, mask: np.ndarray) -> tf.Tensor:
    """Σ ln s², of the weights that count."""
    return tf.reduce_sum(tf.where(mask > 0, tf.math.log(covariance), 0.0))


def variances(covariance: tf.Tensor) -> tf.Tensor:
    """(J, P), the variance of each weight."""
    return covariance


def spread(covariance: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """(B, J), E_r[Σ_p s²_jp r_p²] for the means r (B, P) of the regressors."""
    return tf.matmul(r, covariance, transpose_b=True)


def quadratic(covariance: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """(B, J), Σ_p s²_jp r_p² of given regressors (B, P)."""
    return tf.matmul(tf.square(r), covariance, transpose_b=True)


def slopes(
    mean: tf.Tensor,
    covariance: tf.Tensor,
    gamma: tf.Tensor,
    targets: tf.Tensor,
    r: tf.Tensor,
) -> tuple[Slopes, tf.Tensor]:
    """(`Slopes`, γ̄ ψ̄ (B, J)) for γ̄ (B, J), targets ȳ − ½ (B, J) and the means r (B, P)."""
    squares = tf.matmul(gamma, tf.square(mean))
    parts = Slopes(tf.matmul(targets, mean), gamma, squares, squares + tf.matmul(gamma, covariance))
    return parts, gamma * tf.matmul(r, mean, transpose_b=True)


def slope(parts: Slopes, moving: tf.Tensor, mean: tf.Tensor, p: int | tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """(B,), the slope of regressor p, whose mean is now `value`, without the linear part."""
    return -0.5 * parts.second[:, p] - tf.linalg.matvec(moving, mean[:, p]) + parts.squares[:, p] * value


def moved(parts: Slopes, moving: tf.Tensor, mean: tf.Tensor, p: int | tf.Tensor, change: tf.Tensor) -> tf.Tensor:
    """γ̄ ψ̄ after r̄_p has changed by (B,)."""
    return moving + change[:, tf.newaxis] * parts.gamma * mean[:, p]


def update(
    statistics: Sequence[tf.Tensor],
    precision: tf.Tensor,
    mean: tf.Tensor,
    mask: np.ndarray,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """(μ, s², Σ ln s²) after one round of all weights for the statistics and ⟨1/ζ⟩ (J, P), from the means so far."""
    outer, linear = symmetric.expanded(statistics[0]), statistics[1]
    mask = tf.cast(mask, mean.dtype)
    total = tf.linalg.diag_part(outer) + precision

    def one(p, mean):
        others = tf.reduce_sum(outer[:, p] * mean, 1) - outer[:, p, p] * mean[:, p]
        return p + 1, _with_column(mean, p, mask[:, p] * (linear[:, p] - others) / total[:, p])

    _, mean = loops.while_loop(lambda p, _: p < mean.shape[1], one, (tf.constant(0), mean))
    return mean, mask / total, -tf.reduce_sum(tf.where(mask > 0, tf.math.log(total), 0.0))


def online_update(
    naturals: tuple[tf.Tensor, tf.Tensor],
    gamma: tf.Tensor,
    targets: tf.Tensor,
    r: tf.Tensor,
    precision: tf.Tensor,
    mean: tf.Tensor,
    mask: np.ndarray,
    scale: Number,
    rate: Number,
) -> tuple[tuple[tf.Tensor, tf.Tensor], tf.Tensor, tf.Tensor, tf.Tensor]:
    """One round of all weights of natural parameters λ ← (1 − ρ) λ + ρ λ̂, from the rows of a minibatch.

    Args:
      naturals: (1/s² (J, P), μ/s² (J, P)).
      gamma: (B, J), γ̄; 0 for what does not count.
      targets: (B, J), ȳ − ½; 0 for what does not count.
      r: (B, P), the means of the regressors.
      precision: (J, P), ⟨1/ζ⟩.
      mean: (J, P), μ so far.
      mask: (J, P), 1 where a regressor counts.
      scale: N/B.
      rate: ρ.

    Returns:
      (the natural parameters, μ, s², Σ ln s²).
    """
    mask = tf.cast(mask, mean.dtype)
    # λ̂ of the precisions is of γ̄ and r̄ alone, as r² = r
    total = (1 - rate) * naturals[0] + rate * (precision + scale * tf.matmul(gamma, r, transpose_a=True))
    pull = scale * tf.matmul(targets, r, transpose_a=True)
    # Σ_n γ̄_jn r̄_np², by which a weight counts among its own others
    own = scale * tf.matmul(gamma, tf.square(r), transpose_a=True)

    def one(p, mean, weighted, linear):
        crowd = scale * tf.linalg.matvec(weighted, r[:, p], transpose_a=True) - own[:, p] * mean[:, p]
        column = (1 - rate) * linear[:, p] + rate * mask[:, p] * (pull[:, p] - crowd)
        change = column / total[:, p] - mean[:, p]
        weighted += gamma * r[:, p, tf.newaxis] * change
        return p + 1, _with_column(mean, p, mean[:, p] + change), weighted, _with_column(linear, p, column)

    weighted = gamma * tf.matmul(r, mean, transpose_b=True)  # γ̄ ψ̄
    start = (tf.constant(0), mean, weighted, naturals[1])
    _, mean, _, linear = loops.while_loop(lambda p, *_: p < mean.shape[1], one, start)
    return (total, linear), mean, mask / total, -tf.reduce_sum(tf.where(mask > 0, tf.math.log(total), 0.0))


def initial_naturals(precision: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The natural parameters of the prior, ⟨1/ζ⟩ (J, P)."""
    return precision, tf.zeros_like(precision)


def draw(mean: tf.Tensor, covariance: tf.Tensor, normal: tf.Tensor) -> tf.Tensor:
    """Weights (J, P) of q for standard normal numbers (J, P)."""
    return mean + tf.sqrt(covariance) * normal


def _with_column(matrix, p, column):
    """The matrix with a column replaced."""
    return tf.where(tf.range(matrix.shape[1]) == p, column[:, tf.newaxis], matrix)
