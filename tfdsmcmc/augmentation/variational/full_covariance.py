"""q(w_j) = N(μ_j, Σ_j) of all weights of a unit, its bias among them, and what expectations under it need.

    ⟨ψ²⟩ = ψ̄² + Σ_p μ_p² v_p + Σ_pp' Σ_pp' ⟨r_p r_p'⟩,     v = r̄ (1 − r̄)
    Σ_j⁻¹ = Σ_n γ̄_jn ⟨r_n r_nᵀ⟩ + diag⟨1/ζ_j⟩,     Σ_j⁻¹ μ_j = Σ_n (ȳ_jn − ½) r̄_n

for regressors r whose entries are independent zeros and ones of means r̄. A unit that is regressor p raises the bound by
the slope

    ∂/∂r̄_p = Σ_j [(ȳ_j − ½) μ_jp − ½ γ̄_j (⟨w_jp²⟩ + 2 Σ_{p' ≠ p} ⟨w_jp w_jp'⟩ r̄_p')]

Work B J P²/2 each for the tilts, the slopes and the statistics of B rows; J P²/2 floats each for the covariances and
the statistics, all of which are kept as wrapped diagonals (`symmetric`), (⌊P/2⌋ + 1, P) for each unit.

Source: Gan, Henao, Carlson and Carin (2015), section 3.2; the bias joined to the weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc._common import loops
from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.shared.inverses import normal_posteriors, raise_of

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Number

NAME = "full"


class Slopes(NamedTuple):
    """What the slopes of the regressors of some rows come from.

    Attributes:
      linear: (B, P), Σ_j (ȳ_j − ½) μ_jp.
      coupling: the wrapped diagonals of M = Σ_j γ̄_j ⟨w_j w_jᵀ⟩, one after the other, by B, of which rows are taken.
      diagonal: (B, P), that of M.
    """

    linear: tf.Tensor
    coupling: tf.Tensor
    diagonal: tf.Tensor


def initial(mean: tf.Tensor, variance: float, mask: np.ndarray) -> tf.Tensor:
    """Σ, diagonal, of one variance."""
    diagonal = tf.cast(mask, mean.dtype)[:, tf.newaxis] * variance
    return tf.pad(diagonal, [[0, 0], [0, symmetric.count(mask.shape[1]) - 1], [0, 0]])


def log_det(covariance: tf.Tensor, mask: np.ndarray) -> tf.Tensor:
    """Σ_j ln det Σ_j of diagonal covariances, as `initial` gives them."""
    return tf.reduce_sum(tf.where(mask > 0, tf.math.log(variances(covariance)), 0.0))


def variances(covariance: tf.Tensor) -> tf.Tensor:
    """(J, P), the variance of each weight."""
    return covariance[:, 0]


def spread(covariance: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """(B, J), E_r[rᵀ Σ_j r] for the means r (B, P) of the regressors."""
    return _sums_of_products(symmetric.products_of_bits(r), covariance)


def quadratic(covariance: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """(B, J), rᵀ Σ_j r of given regressors (B, P)."""
    return _sums_of_products(symmetric.products(r), covariance)


def slopes(
    mean: tf.Tensor,
    covariance: tf.Tensor,
    gamma: tf.Tensor,
    targets: tf.Tensor,
    r: tf.Tensor,
) -> tuple[Slopes, tf.Tensor]:
    """(`Slopes`, M r̄ (P, B)) for γ̄ (B, J), targets ȳ − ½ (B, J) and the means r (B, P)."""
    second, size = symmetric.flat(covariance + symmetric.products(mean)), mean.shape[1]
    coupling = tf.matmul(second, gamma, transpose_a=True, transpose_b=True)
    parts = Slopes(tf.matmul(targets, mean), coupling, tf.transpose(coupling[:size]))

    def with_column(p, moving):
        return p + 1, moved(parts, moving, mean, p, r[:, p])

    start = tf.constant(0), tf.zeros_like(coupling[:size])
    return parts, loops.while_loop(lambda p, _: p < size, with_column, start)[1]


def slope(parts: Slopes, moving: tf.Tensor, mean: tf.Tensor, p: int | tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """(B,), the slope of regressor p, whose mean is now `value`, without the linear part."""
    diagonal = parts.diagonal[:, p]
    return -0.5 * diagonal - moving[p] + diagonal * value


def moved(parts: Slopes, moving: tf.Tensor, mean: tf.Tensor, p: int | tf.Tensor, change: tf.Tensor) -> tf.Tensor:
    """M r̄ after r̄_p has changed by (B,)."""
    return moving + change * symmetric.row(parts.coupling, mean.shape[1], p)


def statistics(gamma: tf.Tensor, targets: tf.Tensor, r: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """(Σ_n γ̄_jn ⟨r_n r_nᵀ⟩ as wrapped diagonals, Σ_n (ȳ_jn − ½) r̄_n (J, P))."""
    products = symmetric.products_of_bits(r)
    outer = tf.matmul(gamma, symmetric.flat(products), transpose_a=True)
    return tf.reshape(outer, [-1, *products.shape[1:]]), tf.matmul(targets, r, transpose_a=True)


def update(
    statistics: Sequence[tf.Tensor],
    precision: tf.Tensor,
    mean: tf.Tensor,
    mask: np.ndarray,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """(μ, Σ, Σ_j ln det Σ_j) that are best for the statistics and ⟨1/ζ⟩ (J, P).

    The weights are scaled by √ζ first, as ⟨1/ζ⟩ reaches 10¹⁰ and more.
    """
    outer, linear = statistics
    scale = tf.math.rsqrt(precision) * tf.cast(mask, linear.dtype)
    mean, covariance, log_det = normal_posteriors(outer, linear, scale)
    log_det = -tf.reduce_sum(log_det) - tf.reduce_sum(tf.where(mask > 0, tf.math.log(precision), 0.0))
    return mean, covariance, log_det


def online_update(
    naturals: tuple[tf.Tensor, tf.Tensor, tf.Tensor],
    gamma: tf.Tensor,
    targets: tf.Tensor,
    r: tf.Tensor,
    precision: tf.Tensor,
    mean: tf.Tensor,
    mask: np.ndarray,
    scale: Number,
    rate: Number,
) -> tuple[tuple[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor, tf.Tensor, tf.Tensor]:
    """Natural parameters λ ← (1 − ρ) λ + ρ λ̂ of the weights, from the rows of a minibatch.

    Args:
      naturals: (Σ_n γ̄ ⟨r rᵀ⟩ as wrapped diagonals, Σ_j⁻¹ μ_j (J, P), ⟨1/ζ⟩ (J, P)): the sum of the first and the
        diagonal of the last is Σ_j⁻¹.
      gamma: (B, J), γ̄; 0 for what does not count.
      targets: (B, J), ȳ − ½; 0 for what does not count.
      r: (B, P), the means of the regressors.
      precision: (J, P), ⟨1/ζ⟩.
      mean: (J, P), μ so far.
      mask: (J, P), 1 where a regressor counts.
      scale: N/B.
      rate: ρ.

    Returns:
      (the natural parameters, μ, Σ, Σ_j ln det Σ_j).
    """
    outer, linear = statistics(gamma, targets, r)
    fresh = (scale * outer, scale * linear, precision)
    naturals = tuple((1 - rate) * old + rate * new for old, new in zip(naturals, fresh, strict=True))
    return naturals, *update(naturals[:2], naturals[2], mean, mask)


def initial_naturals(precision: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The natural parameters of the prior, ⟨1/ζ⟩ (J, P)."""
    return no_sums(precision), tf.zeros_like(precision), precision


def no_sums(like: tf.Tensor) -> tf.Tensor:
    """The statistic Σ_n γ̄ ⟨r rᵀ⟩ of no rows, of the type of a tensor (J, P)."""
    units, size = like.shape
    return tf.zeros([units, symmetric.count(size), size], like.dtype)


def draw(mean: tf.Tensor, covariance: tf.Tensor, normal: tf.Tensor) -> tf.Tensor:
    """Weights (J, P) of q for standard normal numbers (J, P).

    By the root of the correlations, in float64. Their diagonal is raised by r = `inverses.raise_of`, but at most 10⁻⁵:
    as much as P entries that are rounded to float32 may take an eigenvalue below 0. The price is paid where regressors
    are nearly collinear: uᵀw has a variance that is larger by r Σ_p u_p² Σ_pp than q's.
    """
    scale = tf.sqrt(tf.cast(variances(covariance), tf.float64))
    inverse = tf.math.divide_no_nan(tf.ones_like(scale), scale)
    correlation = tf.cast(symmetric.expanded(covariance), tf.float64)
    correlation *= inverse[:, :, tf.newaxis] * inverse[:, tf.newaxis]
    raised = 1.0 + min(1e-5, float(raise_of(scale.shape[1], covariance.dtype)))
    correlation = tf.linalg.set_diag(correlation, tf.fill(scale.shape, tf.constant(raised, tf.float64)))
    step = scale * tf.linalg.matvec(tf.linalg.cholesky(correlation), tf.cast(normal, tf.float64))
    return mean + tf.cast(step, mean.dtype)


def entropy(log_det: tf.Tensor, mask: np.ndarray) -> tf.Tensor:
    """Σ_j ½ ln det (2πe Σ_j), a scalar."""
    return 0.5 * (log_det + float(mask.sum()) * math.log(2 * math.pi * math.e))


def _sums_of_products(products, covariance):
    """(B, J), tr(A_n Σ_j) of wrapped diagonals."""
    return tf.matmul(symmetric.flat(symmetric.counted(products)), symmetric.flat(covariance), transpose_b=True)
