"""Priors of a layer's weights in mean-field variational Bayes, each with the factors of its scales.

A prior's state is a named tuple of tensors; `update` moves the factors one after the other, each to its best, given
the second moments ⟨w²⟩ of the weights, and `bound` is what the evidence lower bound has of the weights and their
scales, the entropy of q(w) left out:

    ⟨ln p(w given scales)⟩ + ⟨ln p(scales)⟩ − ⟨ln q(scales)⟩

Weights are (J, P): J units, P regressors that share the prior. All Gammas are by shape and rate.

Source: Gan, Henao, Carlson and Carin (2015), Eq. 9 and section 3.2, general a and b from the same bound; Armagan,
Dunson and Clyde, "Generalized beta mixtures of Gaussians", NIPS 2011.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

if TYPE_CHECKING:
    from tfdsmcmc._common.types import DType

_LEAST = 1e-30  # of ⟨w²⟩: ⟨1/ζ⟩ has no limit as it goes to 0


class NormalScales:
    """w ~ N(0, ν), ν fixed: no factors.

    Args:
      scale: √ν.
      mask: (J, P), 1 for weights that count.
    """

    variance: float
    mask: np.ndarray

    class State(NamedTuple):
        """There is nothing to keep."""

    def __init__(self, scale: float, mask: np.ndarray):
        self.variance, self.mask = float(scale) ** 2, np.asarray(mask, np.float64)

    def initial(self, second: tf.Tensor) -> State:
        return self.State()

    def precision(self, state: State, dtype: DType) -> tf.Tensor:
        """⟨1/ζ⟩, (J, P)."""
        return tf.ones(self.mask.shape, dtype) / self.variance

    def update(self, state: State, second: tf.Tensor) -> State:
        return state

    def bound(self, state: State, second: tf.Tensor) -> tf.Tensor:
        mask = tf.cast(self.mask, second.dtype)
        return tf.reduce_sum(mask * (-0.5 * math.log(2 * math.pi * self.variance) - 0.5 * second / self.variance))


class StudentTScales:
    """w ~ t with ν degrees of freedom and scale s: w given τ ~ N(0, 1/τ), τ ~ Ga(ν/2, ν s²/2).

        q(τ_jp) = Ga(ν/2 + ½, ν s²/2 + ⟨w_jp²⟩/2)

    Args:
      df: ν.
      scale: s.
      mask: (J, P), 1 for weights that count.
    """

    shape: float
    rate: float

    class State(NamedTuple):
        """The rates of q(τ), (J, P)."""

        rate: tf.Tensor

    def __init__(self, df: float, scale: float, mask: np.ndarray):
        self.shape, self.rate = float(df) / 2, float(df) * float(scale) ** 2 / 2
        self.mask: np.ndarray = np.asarray(mask, np.float64)

    def initial(self, second: tf.Tensor) -> State:
        return self.update(None, second)

    def precision(self, state: State, dtype: DType) -> tf.Tensor:
        """⟨τ⟩, (J, P)."""
        return (self.shape + 0.5) / state.rate

    def update(self, state: State | None, second: tf.Tensor) -> State:
        return self.State(self.rate + second / 2)

    def bound(self, state: State, second: tf.Tensor) -> tf.Tensor:
        shape = tf.constant(self.shape + 0.5, second.dtype)
        mean, log_mean = _gamma_moments(shape, state.rate)
        prior = self.shape * math.log(self.rate) - math.lgamma(self.shape) - self.rate * mean
        terms = -0.5 * math.log(2 * math.pi) - 0.5 * mean * second + prior + (self.shape - 0.5) * log_mean
        return tf.reduce_sum(tf.cast(self.mask, second.dtype) * (terms + _gamma_entropy(shape, state.rate)))


class ThreeParameterScales:
    """Three-parameter beta normal weights with a scale for each column, that is for each parent unit.

        w_jk ~ N(0, ζ_jk),  ζ_jk ~ Ga(a, ξ_jk),  ξ_jk ~ Ga(b, φ_k),  φ_k ~ Ga(½, ω),  ω ~ Ga(½, 1)

        q(ζ_jk) = GIG(a − ½, 2 ξ̄_jk, ⟨w_jk²⟩)         q(φ_k) = Ga(½ + b J, ω̄ + Σ_j ξ̄_jk)
        q(ξ_jk) = Ga(a + b, ζ̄_jk + φ̄_k)               q(ω) = Ga(½ + K/2, 1 + Σ_k φ̄_k)

    GIG(p, A, B) has the density ∝ ζ^(p − 1) exp(−(A ζ + B/ζ)/2); with w = √(AB)

        ζ̄ = √(B/A) K_(p+1)(w)/K_p(w),     ⟨1/ζ⟩ = √(A/B) K_(p−1)(w)/K_p(w)

    Args:
      a: of the spike at 0.
      b: of the tails.
      mask: (J, K), 1 for weights that count.
    """

    a: float
    b: float
    mask: np.ndarray
    shapes: tuple[float, np.ndarray, float]

    class State(NamedTuple):
        """A and B of q(ζ), (J, K); the rates of q(ξ), (J, K), of q(φ), (K,), and of q(ω), a scalar."""

        a: tf.Tensor
        b: tf.Tensor
        xi: tf.Tensor
        phi: tf.Tensor
        omega: tf.Tensor

    def __init__(self, a: float, b: float, mask: np.ndarray):
        self.a, self.b, self.mask = float(a), float(b), np.asarray(mask, np.float64)
        self.order: float = self.a - 0.5
        self.shapes = (self.a + self.b, 0.5 + self.b * self.mask.sum(0), 0.5 + self.mask.shape[1] / 2)

    def initial(self, second: tf.Tensor) -> State:
        """ξ̄ = a/⟨w²⟩, so that the weights have the variance that they show; φ and ω at their best for it."""
        second = self._of_those_that_count(second)
        xi = self.shapes[0] * second / self.a
        phi = 1 + tf.reduce_sum(self._mask(second) * self.a / second, 0)
        return self.update_omega(self.State(2 * self.a / second, second, xi, phi, tf.ones([], second.dtype)))

    def precision(self, state: State, dtype: DType) -> tf.Tensor:
        """⟨1/ζ⟩, (J, K)."""
        return self._moments(state)[1]

    def update(self, state: State, second: tf.Tensor) -> State:
        """ζ, ξ, φ and ω, each once."""
        return self.update_omega(self.update_phi(self.update_xi(self.update_zeta(state, second))))

    def columns(self, state: State) -> tf.Tensor:
        """⟨φ⟩, (K,)."""
        return self._phi(state)

    def update_zeta(self, state: State, second: tf.Tensor) -> State:
        return state._replace(a=2 * self._xi(state), b=self._of_those_that_count(second))

    def update_xi(self, state: State) -> State:
        return state._replace(xi=self._moments(state)[0] + self._phi(state))

    def update_phi(self, state: State) -> State:
        return state._replace(phi=self._omega(state) + tf.reduce_sum(self._mask(state.xi) * self._xi(state), 0))

    def update_omega(self, state: State) -> State:
        return state._replace(omega=1 + tf.reduce_sum(self._phi(state)))

    def bound(self, state: State, second: tf.Tensor) -> tf.Tensor:
        dtype = second.dtype
        zeta, inverse, log_norm = self._moments(state)
        shapes = [tf.cast(shape, dtype) for shape in self.shapes]
        (xi, log_xi), (phi, log_phi), (omega, log_omega) = (
            _gamma_moments(shape, rate) for shape, rate in zip(shapes, state[2:])
        )
        weights = -0.5 * math.log(2 * math.pi) - 0.5 * inverse * second
        # ⟨ln ζ⟩ has no part: its coefficients add up to 0
        zetas = self.a * log_xi - math.lgamma(self.a) - xi * zeta + log_norm
        zetas += 0.5 * (state.a * zeta + state.b * inverse)
        xis = self.b * log_phi - math.lgamma(self.b) + (self.b - 1) * log_xi - phi * xi
        total = tf.reduce_sum(self._mask(second) * (weights + zetas + xis + _gamma_entropy(shapes[0], state.xi)))
        half = math.lgamma(0.5)
        phis = 0.5 * log_omega - half - 0.5 * log_phi - omega * phi + _gamma_entropy(shapes[1], state.phi)
        return total + tf.reduce_sum(phis) - half - 0.5 * log_omega - omega + _gamma_entropy(shapes[2], state.omega)

    def _moments(self, state):
        """(ζ̄, ⟨1/ζ⟩, the logarithm of q(ζ)'s normalising integral)."""
        root = tf.sqrt(state.a * state.b)
        scale, p = tf.sqrt(state.b) / tf.sqrt(state.a), self.order  # b/a may be below what float32 has
        here = _log_bessel(p, root)
        zeta = scale * tf.exp(_log_bessel(p + 1, root) - here)
        inverse = tf.exp(_log_bessel(p - 1, root) - here) / scale
        return zeta, inverse, math.log(2) + here - root + p * tf.math.log(scale)

    def _of_those_that_count(self, second):
        """⟨w²⟩; 1 for weights that do not count, which are 0 and whose scales would have no limit."""
        return tf.where(self.mask > 0, tf.maximum(second, _LEAST), 1)

    def _xi(self, state):
        return self.shapes[0] / state.xi

    def _phi(self, state):
        return tf.cast(self.shapes[1], state.phi.dtype) / state.phi

    def _omega(self, state):
        return self.shapes[2] / state.omega

    def _mask(self, like):
        return tf.cast(self.mask, like.dtype)


def _log_bessel(order, x):
    """ln (e^x K_p(x))."""
    return tfp.math.log_bessel_kve(tf.constant(abs(order), x.dtype), x)


def _gamma_moments(shape, rate):
    """(⟨x⟩, ⟨ln x⟩)."""
    return shape / rate, tf.math.digamma(shape) - tf.math.log(rate)


def _gamma_entropy(shape, rate):
    return shape - tf.math.log(rate) + tf.math.lgamma(shape) + (1 - shape) * tf.math.digamma(shape)
