"""Shrinkage priors without a conjugate form in mean-field variational Bayes: their scales live on a grid.

    w ~ N(0, ζ + m²),   ζ/τ² ~ BetaPrime(a, b),   one ζ for a group of n weights;   τ fixed, or half-Cauchy of scale τ₀

The floor m² leaves no conjugate law of ζ, but ζ is one number for each group: it takes values on a grid of ln ζ, and τ
on one of ln τ, in proportion to their densities there, and the factors are probabilities of the places on the grid:

    ln q(ζ_g = ζ_i) = ⟨ln p(ζ_i given τ)⟩ − n/2 ln(ζ_i + m²) − ½ Σ_(w in g) ⟨w²⟩/(ζ_i + m²) + a constant
    ln q(τ_k) = ln p(τ_k) + Σ_g Σ_i q(ζ_g = ζ_i) ln p(ζ_i given τ_k) + a constant

The bound is one for the prior on the grid, whose first and last points have the tails beyond them.

How fine: a sum in steps of h differs from the integral by twice the Fourier transform of the integrand, of t = ln ζ, at
2πj/h, j = 1, 2, … (Poisson's summation). Without a floor and in a tail of the prior, ζ^a or ζ^(−b), the integrand is
exp(−kt − ½ Σ⟨w²⟩ e^(−t)), and the error of the sum, as a share of it, is at most

    2 Σ_j |Γ(k + 2πij/h)/Γ(k)| ≈ 2 exp(−2π²/(k h²)),    k = n/2 − a … n/2 + b, and one more for ⟨1/ζ⟩

The law of t has the variance 1/k, or more where the floor hides ζ, and the wider it is the less is the error. So
h = 1.5/√(n + 2 min(a, b)) for the largest group, ¼ at most, makes a share of 10⁻⁶ at most, of 10⁻⁷ for large groups.
Steps of ¼ were wrong by 10⁻¹ at n = 200. Likewise, the logarithm of q(τ) has curvatures of at most a + b for each of G
groups, in ln τ, and the steps are 1.5/√(2(a + b)G), ¼ at most. The grid has some 40/h points in ln ζ and 14 over the
step in ln τ: tables grow as √(nG), the root of the number of weights, and q(ζ) as G√n, less than the weights do. What
lies below the grid, where ζ < e⁻¹² m²/n, is off by 10⁻⁵ of 1/(ζ + m²). Numbers of float32 add 2·10⁻⁸ n to the share by
which ⟨1/(ζ + m²)⟩ is off.

Source: derived here, for the priors of `priors/shrinkage.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc.priors.scales_given_weights import log_probabilities, log_step

if TYPE_CHECKING:
    from tfdsmcmc._common.types import DType
    from tfdsmcmc.priors.shrinkage import Group, ThreeParameterBetaNormal

_STEP = 0.25  # at most, in ln ζ and in ln τ
_REACH = 7.0  # of ln τ/τ₀
_HIGHEST = 14.0  # ln ζ that a grid reaches at least: weights of a thousand


class GridScales:
    """The scales of a three-parameter beta normal prior with a floor, by groups.

    Args:
      prior: `priors.ThreeParameterBetaNormal`.
      group: "entry", "parent" (a column of what is (J, P) here), "unit" (a row) or "tensor".
      mask: (J, P), 1 for weights that count.
      global_scale_group: that share a τ: "tensor", or of single entries "parent" or "unit".
    """

    mask: np.ndarray
    group: Group

    class State(NamedTuple):
        """ln q(ζ) of each group (G, I), and ln q(τ) of each τ, (K, T)."""

        zeta: tf.Tensor
        tau: tf.Tensor

    def __init__(
        self,
        prior: ThreeParameterBetaNormal,
        group: Group,
        mask: np.ndarray,
        global_scale_group: Group = "tensor",
    ):
        self.mask, self.group = np.asarray(mask, np.float64), group
        scale, floor = prior.global_scale, prior.minimum_scale**2
        self._counts = self._sums(self.mask)
        rows, columns = self.mask.shape
        self._num_taus = {"tensor": 1, "parent": columns, "unit": rows}[global_scale_group]
        places = {"parent": np.tile(np.arange(columns), rows), "unit": np.repeat(np.arange(rows), columns)}
        self._tau_of = places.get(global_scale_group, np.zeros(len(self._counts), np.int64))  # of each group
        largest = max(1.0, self._counts.max(initial=0))
        groups = max(1, np.bincount(self._tau_of, self._counts > 0).max(initial=0))  # of a τ, at most
        log_taus = math.log(scale) + (_log_taus(prior, groups) if prior.learn_global_scale else np.zeros(1))
        # from far below the floor, where ζ counts for nothing, to weights a hundred times those that any τ allows
        step = min(_STEP, log_step(largest, prior.a, prior.b))
        low = math.log(floor / largest) - 12
        log_zeta = np.arange(low, max(2 * log_taus[-1] + 9, _HIGHEST, low + 1) + step, step)
        ratio = log_zeta[np.newaxis] - 2 * log_taus[:, np.newaxis]
        self._given_tau = _normalised(log_probabilities(prior.a, prior.b, ratio, step))  # (T, I)
        # τ density in ln τ of a half-Cauchy law: τ/(1 + τ²/τ₀²)
        offset = log_taus - math.log(scale)
        self._tau_prior = _normalised(offset - np.logaddexp(0, 2 * offset))
        self._variance = np.exp(log_zeta) + floor

    def initial(self, second: tf.Tensor) -> State:
        tau = tf.tile(self._constant(self._tau_prior, second)[tf.newaxis], [self._num_taus, 1])
        return self.update(self.State(None, tau), second)

    def precision(self, state: State, dtype: DType) -> tf.Tensor:
        """⟨1/(ζ + m²)⟩, (J, P)."""
        inverse = tf.linalg.matvec(tf.exp(state.zeta), tf.constant(1 / self._variance, dtype))
        rows, columns = self.mask.shape
        if self.group in ("parent", "unit"):
            inverse = inverse[tf.newaxis] if self.group == "parent" else inverse[:, tf.newaxis]
            return tf.broadcast_to(inverse, [rows, columns])
        return tf.reshape(inverse, [rows, columns]) if self.group == "entry" else tf.fill([rows, columns], inverse[0])

    def update(self, state: State, second: tf.Tensor) -> State:
        return self.update_tau(self.update_zeta(state, second))

    def update_zeta(self, state: State, second: tf.Tensor) -> State:
        return state._replace(zeta=tf.nn.log_softmax(self._expected_prior(state) + self._evidence(second)))

    def update_tau(self, state: State) -> State:
        zeta = self._used(state.zeta) * tf.exp(state.zeta)
        zeta = tf.math.unsorted_segment_sum(zeta, self._tau_of, self._num_taus)
        told = tf.matmul(zeta, self._constant(self._given_tau, zeta), transpose_b=True)
        return state._replace(tau=tf.nn.log_softmax(self._constant(self._tau_prior, zeta) + told))

    def bound(self, state: State, second: tf.Tensor) -> tf.Tensor:
        zeta, tau = tf.exp(state.zeta), tf.exp(state.tau)
        prior = self._expected_prior(state)
        weights = self._evidence(second) - 0.5 * math.log(2 * math.pi) * self._constant(self._counts, second)[:, None]
        total = tf.reduce_sum(self._used(second) * zeta * (prior + weights - state.zeta))
        return total + tf.reduce_sum(tau * (self._constant(self._tau_prior, second) - state.tau))

    def _expected_prior(self, state):
        """⟨ln p(ζ given τ)⟩ of each group, (G, I)."""
        return tf.gather(tf.matmul(tf.exp(state.tau), self._constant(self._given_tau, state.tau)), self._tau_of)

    def _evidence(self, second):
        """−n/2 ln(ζ_i + m²) − ½ Σ ⟨w²⟩/(ζ_i + m²), (G, I)."""
        sums = self._sums(second * self._constant(self.mask, second))[:, tf.newaxis]
        counts = self._constant(self._counts, second)[:, tf.newaxis]
        variance = self._constant(self._variance, second)
        return -0.5 * (counts * tf.math.log(variance) + sums / variance)

    def _used(self, like):
        """1 for a group with weights that count, else 0: what has no weights has no scale either, (G, 1)."""
        return self._constant(self._counts > 0, like)[:, tf.newaxis]

    def _sums(self, values):
        """Sums over the groups, (G,)."""
        if self.group == "entry":
            return tf.reshape(values, [-1]) if tf.is_tensor(values) else np.reshape(values, [-1])
        axes = {"parent": 0, "unit": 1, "tensor": None}[self.group]
        if tf.is_tensor(values):
            return tf.reshape(tf.reduce_sum(values, axes), [-1])
        return np.reshape(values.sum(axes), [-1])

    def _constant(self, value, like):
        return tf.constant(np.asarray(value, like.dtype.as_numpy_dtype))


def _log_taus(prior, groups):
    """ln τ/τ₀ on its grid, with 0 in the middle."""
    step = min(_STEP, 1.5 / math.sqrt(2 * (prior.a + prior.b) * groups))
    count = math.ceil(_REACH / step)
    return np.linspace(-_REACH, _REACH, 2 * count + 1)


def _normalised(logs):
    return logs - np.logaddexp.reduce(logs, -1, keepdims=True)
