"""q(w_j) = N(μ_j, Σ_j) of all weights of a unit, its bias among them, and what expectations under it need.

    ⟨ψ²⟩ = ψ̄² + Σ_p μ_p² v_p + Σ_pp' Σ_pp' ⟨r_p r_p'⟩,     v = r̄ (1 − r̄)
    Σ_j⁻¹ = Σ_n γ̄_jn ⟨r_n r_nᵀ⟩ + diag⟨1/ζ_j⟩,     Σ_j⁻¹ μ_j = Σ_n (ȳ_jn − ½) r̄_n

for regressors r whose entries are independent zeros and ones of means r̄. A unit that is regressor p raises the bound by
the slope

    ∂/∂r̄_p = Σ_j [(ȳ_j − ½) μ_jp − ½ γ̄_j (⟨w_jp²⟩ + 2 Σ_{p' ≠ p} ⟨w_jp w_jp'⟩ r̄_p')]

Work B J P² each for the tilts, the slopes and the statistics of B rows; J P² floats each for the covariances and the
statistics.

Source: Gan, Henao, Carlson and Carin (2015), section 3.2; the bias joined to the weights.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import tensorflow as tf

from tfdsmcmc.augmentation.inverses import normal_posteriors

NAME = "full"


class Slopes(NamedTuple):
    """What the slopes of the regressors of some rows come from.

    Attributes:
      linear: (B, P), Σ_j (ȳ_j − ½) μ_jp.
      coupling: (B, P, P), M = Σ_j γ̄_j ⟨w_j w_jᵀ⟩.
      diagonal: (B, P), that of M.
    """

    linear: tf.Tensor
    coupling: tf.Tensor
    diagonal: tf.Tensor


def initial(mean, variance, mask):
    """Σ (J, P, P), diagonal, of one variance."""
    return tf.linalg.diag(tf.cast(mask, mean.dtype) * variance)


def log_det(covariance, mask):
    """Σ_j ln det Σ_j of diagonal covariances, as `initial` gives them."""
    return tf.reduce_sum(tf.where(mask > 0, tf.math.log(variances(covariance)), 0.0))


def variances(covariance):
    """(J, P), the variance of each weight."""
    return tf.linalg.diag_part(covariance)


def spread(covariance, r):
    """(B, J), E_r[rᵀ Σ_j r] for the means r (B, P) of the regressors."""
    return tf.matmul(_flat(_products(r)), _flat(covariance), transpose_b=True)


def quadratic(covariance, r):
    """(B, J), rᵀ Σ_j r of given regressors (B, P)."""
    return tf.matmul(_flat(r[:, :, tf.newaxis] * r[:, tf.newaxis]), _flat(covariance), transpose_b=True)


def slopes(mean, covariance, gamma, targets, r):
    """(`Slopes`, M r̄) for γ̄ (B, J), targets ȳ − ½ (B, J) and the means r (B, P)."""
    second = covariance + mean[:, :, tf.newaxis] * mean[:, tf.newaxis]
    coupling = tf.reshape(tf.matmul(gamma, _flat(second)), [-1, *second.shape[1:]])
    parts = Slopes(tf.matmul(targets, mean), coupling, tf.linalg.diag_part(coupling))
    return parts, tf.linalg.matvec(coupling, r)


def slope(parts, moving, mean, p, value):
    """(B,), the slope of regressor p, whose mean is now `value`, without the linear part."""
    diagonal = parts.diagonal[:, p]
    return -0.5 * diagonal - moving[:, p] + diagonal * value


def moved(parts, moving, mean, p, change):
    """M r̄ after r̄_p has changed by (B,)."""
    return moving + change[:, tf.newaxis] * parts.coupling[:, p]


def statistics(gamma, targets, r):
    """(Σ_n γ̄_jn ⟨r_n r_nᵀ⟩ (J, P, P), Σ_n (ȳ_jn − ½) r̄_n (J, P))."""
    products = _products(r)
    outer = tf.matmul(gamma, _flat(products), transpose_a=True)
    return tf.reshape(outer, [-1, *products.shape[1:]]), tf.matmul(targets, r, transpose_a=True)


def update(statistics, precision, mean, mask):
    """(μ, Σ, Σ_j ln det Σ_j) that are best for the statistics and ⟨1/ζ⟩ (J, P).

    The weights are scaled by √ζ first, as ⟨1/ζ⟩ reaches 10¹⁰ and more.
    """
    outer, linear = statistics
    scale = tf.math.rsqrt(precision) * tf.cast(mask, linear.dtype)
    mean, covariance, log_det = normal_posteriors(outer, linear, scale)
    log_det = -tf.reduce_sum(log_det) - tf.reduce_sum(tf.where(mask > 0, tf.math.log(precision), 0.0))
    return mean, covariance, log_det


def online_update(naturals, gamma, targets, r, precision, mean, mask, scale, rate):
    """Natural parameters λ ← (1 − ρ) λ + ρ λ̂ of the weights, from the rows of a minibatch.

    Args:
      naturals: (Σ_n γ̄ ⟨r rᵀ⟩ (J, P, P), Σ_j⁻¹ μ_j (J, P), ⟨1/ζ⟩ (J, P)): the sum of the first and the diagonal of the
        last is Σ_j⁻¹.
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


def initial_naturals(precision):
    """The natural parameters of the prior, ⟨1/ζ⟩ (J, P)."""
    return tf.zeros([*precision.shape, precision.shape[-1]], precision.dtype), tf.zeros_like(precision), precision


def draw(mean, covariance, normal):
    """Weights (J, P) of q for standard normal numbers (J, P).

    By the root of the correlations, whose diagonal is raised by 10⁻⁵: more than the errors of a float32 inverse.
    """
    scale = tf.sqrt(variances(covariance))
    inverse = tf.math.divide_no_nan(tf.ones_like(scale), scale)
    correlation = covariance * inverse[:, :, tf.newaxis] * inverse[:, tf.newaxis]
    ones = tf.ones(scale.shape, tf.float64)
    correlation = tf.linalg.set_diag(tf.cast(correlation, tf.float64), (1 + 1e-5) * ones)
    root = tf.cast(tf.linalg.cholesky(correlation), mean.dtype)
    return mean + scale * tf.linalg.matvec(root, normal)


def entropy(log_det, mask):
    """Σ_j ½ ln det (2πe Σ_j), a scalar."""
    return 0.5 * (log_det + float(mask.sum()) * math.log(2 * math.pi * math.e))


def _products(r):
    """⟨r_n r_nᵀ⟩, (B, P, P)."""
    return tf.linalg.set_diag(r[:, :, tf.newaxis] * r[:, tf.newaxis], r)


def _flat(matrices):
    return tf.reshape(matrices, [-1, matrices.shape[-1] ** 2])
