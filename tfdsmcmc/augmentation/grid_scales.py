"""Shrinkage priors without a conjugate form in mean-field variational Bayes: their scales live on a grid.

    w ~ N(0, ζ + m²),   ζ/τ² ~ BetaPrime(a, b),   one ζ for a group of n weights;   τ fixed, or half-Cauchy of scale τ₀

The floor m² leaves no conjugate law of ζ, but ζ is one number for each group: it takes values on a grid of ln ζ, and τ
on one of ln τ, in proportion to their densities there, and the factors are probabilities of the places on the grid:

    ln q(ζ_g = ζ_i) = ⟨ln p(ζ_i given τ)⟩ − n/2 ln(ζ_i + m²) − ½ Σ_(w in g) ⟨w²⟩/(ζ_i + m²) + a constant
    ln q(τ_k) = ln p(τ_k) + Σ_g Σ_i q(ζ_g = ζ_i) ln p(ζ_i given τ_k) + a constant

The bound is one for the prior on the grid. Its steps of ¼ in ln ζ are far finer than what a group of weights tells of
its scale.

Source: derived here, for the priors of `priors/shrinkage.py`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

_STEP = 0.25  # in ln ζ
_TAUS = np.linspace(-7, 7, 57)  # ln τ/τ₀


class GridScales:
    """The scales of a three-parameter beta normal prior with a floor, by groups.

    Args:
      prior: `priors.ThreeParameterBetaNormal`.
      group: "entry", "parent" (a column of what is (J, P) here), "unit" (a row) or "tensor".
      mask: (J, P), 1 for weights that count.
    """

    class State(NamedTuple):
        """ln q(ζ) of each group (G, I), and ln q(τ), (T,)."""

        zeta: tf.Tensor
        tau: tf.Tensor

    def __init__(self, prior, group, mask):
        self.mask, self.group = np.asarray(mask, np.float64), group
        scale, floor = prior.global_scale, prior.minimum_scale**2
        log_taus = math.log(scale) + (_TAUS if prior.learn_global_scale else np.zeros(1))
        # from far below the floor, where ζ counts for nothing, to weights a hundred times those that any τ allows
        low = math.log(floor) - 7
        high = max(2 * log_taus[-1] + 9, low + 1)
        log_zeta = np.arange(low, high + _STEP, _STEP)
        ratio = log_zeta[np.newaxis] - 2 * log_taus[:, np.newaxis]
        density = prior.a * ratio - (prior.a + prior.b) * np.logaddexp(0, ratio)
        self._given_tau = _normalised(density)  # (T, I)
        # τ density in ln τ of a half-Cauchy law: τ/(1 + τ²/τ₀²)
        offset = log_taus - math.log(scale)
        self._tau_prior = _normalised(offset - np.logaddexp(0, 2 * offset))
        self._variance = np.exp(log_zeta) + floor
        self._counts = self._sums(self.mask)

    def initial(self, second):
        tau = tf.constant(self._tau_prior, second.dtype)
        return self.update(self.State(None, tau), second)

    def precision(self, state, dtype):
        """⟨1/(ζ + m²)⟩, (J, P)."""
        inverse = tf.linalg.matvec(tf.exp(state.zeta), tf.constant(1 / self._variance, dtype))
        rows, columns = self.mask.shape
        if self.group in ("parent", "unit"):
            inverse = inverse[tf.newaxis] if self.group == "parent" else inverse[:, tf.newaxis]
            return tf.broadcast_to(inverse, [rows, columns])
        return tf.reshape(inverse, [rows, columns]) if self.group == "entry" else tf.fill([rows, columns], inverse[0])

    def update(self, state, second):
        return self.update_tau(self.update_zeta(state, second))

    def update_zeta(self, state, second):
        prior = tf.linalg.matvec(self._constant(self._given_tau, second), tf.exp(state.tau), transpose_a=True)
        return state._replace(zeta=tf.nn.log_softmax(prior + self._evidence(second)))

    def update_tau(self, state):
        zeta = tf.reduce_sum(self._used(state.zeta) * tf.exp(state.zeta), 0)
        told = tf.linalg.matvec(self._constant(self._given_tau, zeta), zeta)
        return state._replace(tau=tf.nn.log_softmax(self._constant(self._tau_prior, zeta) + told))

    def bound(self, state, second):
        zeta, tau = tf.exp(state.zeta), tf.exp(state.tau)
        prior = tf.linalg.matvec(self._constant(self._given_tau, second), tau, transpose_a=True)
        weights = self._evidence(second) - 0.5 * math.log(2 * math.pi) * self._constant(self._counts, second)[:, None]
        total = tf.reduce_sum(self._used(second) * zeta * (prior + weights - state.zeta))
        return total + tf.reduce_sum(tau * (self._constant(self._tau_prior, second) - state.tau))

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


def _normalised(logs):
    return logs - np.logaddexp.reduce(logs, -1, keepdims=True)
