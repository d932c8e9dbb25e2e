"""A layer as logistic regressions, one for each of its units, whose weights have normal laws given Pólya-Gamma draws.

    y_nj ~ Bernoulli(σ(ψ_nj)),  ψ_nj = r_nᵀ w_j,  γ_nj ~ PG(1, ψ_nj)
    w_j given all ~ N(Λ_j⁻¹ b_j, Λ_j⁻¹),   Λ_j = Σ_n γ_nj r_n r_nᵀ + diag(1/v_j),   b_j = Σ_n (y_nj − ½) r_n + m_j/v_j

where the entries of w_j are N(m, v) a priori. The regressors r_n of an SBN are its parents and 1, so that weights and
bias are drawn together; those of a DARN the parents, the units themselves and 1, of which unit j uses those before it.
The sums run over observed y_nj.

Σ_n γ_nj r_n r_nᵀ is symmetric, and kept as its wrapped diagonals: those of distance s = 0, …, ⌊R/2⌋, of R entries
(i, i + s mod R) each. Each is one matrix product over a block of rows, and they take half the time of the whole.

A layer without parents other than 1 has the same ψ_j = c_j in all rows. The sum of the γ_nj is drawn at once then, by
PG(N_j, c_j), N_j being the number of observed y_nj: one γ ~ PG(1, c_j) in the place of N_j different ones would not leave
the posterior invariant.

Sources: Polson, Scott and Windle, Journal of the American Statistical Association 108 (2013); Gan, Henao, Carlson and
Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015. The joint draw of weights and bias,
and the sums for autoregressive layers, are derived here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.augmentation.normal_draws import normal_draws
from tfdsmcmc.distributions import PolyaGamma
from tfdsmcmc.distributions.autoregressive_bernoulli import earlier_to_later
from tfdsmcmc.layers import DARN

# Λ's diagonal is raised by this share of the sum in it: more than the errors of float32 sums, so that units which are
# the same in all rows do not give a matrix that is not positive definite
_RAISED = 1e-6


class Sums(NamedTuple):
    """Statistics of a regression.

    Attributes:
      precision: (S, J, R), wrapped diagonals of Σ_n γ r rᵀ; for a shared ψ (J,), the numbers of observed y.
      linear: (J, R), Σ_n (y − ½) r; for a shared ψ (J,).
    """

    precision: Any
    linear: Any


def regression_of(layer):
    """The regression of a layer of the kind SBN or DARN."""
    return SharedBias(layer) if not layer.parent_units and type(layer) is not DARN else Regression(layer)


class Regression:
    """The units of a layer, each with regressors.

    Args:
      layer: SBN or DARN.
    """

    def __init__(self, layer):
        self.layer, self.units = layer, layer.units
        self.lateral = type(layer) is DARN
        self.variables = list(layer.trainable_variables)
        self._within = layer.units if self.lateral else 0
        self.regressors = layer.parent_units + self._within + 1

    def no_sums(self):
        shape = [self.regressors // 2 + 1, self.units, self.regressors]
        return Sums(tf.zeros(shape), tf.zeros([self.units, self.regressors]))

    def added(self, sums, child, parents, observed, seed):
        """The sums with those of a block of rows.

        Args:
          sums: `Sums`.
          child: y, (n, J).
          parents: (n, parents).
          observed: (n, J) float32, 1 where y counts; or (n, 1).
          seed: int32 of shape (2,).
        """
        ones = tf.ones_like(child[:, :1])
        regressors = tf.concat([parents, child, ones] if self.lateral else [parents, ones], 1)
        linear = tf.matmul((child - 0.5) * observed, regressors, transpose_a=True)
        gamma = PolyaGamma(1.0, self.logits(child, parents)).sample(seed=seed) * observed
        return Sums(self._with_products(sums.precision, gamma, regressors), sums.linear + linear)

    def logits(self, child, parents):
        """ψ, (n, J)."""
        logits = self.layer.logits(parents)
        return logits + tf.matmul(child, self.layer.lateral_kernel()) if self.lateral else logits

    def draw(self, sums, laws, seed):
        """The weights given the sums and the laws of their entries, a list as `variables`.

        Args:
          sums: `Sums`.
          laws: pairs (m, v) for each variable, which broadcast to it.
          seed: int32 of shape (2,).
        """
        mean, variance = (self._rows([law[i] for law in laws]) for i in (0, 1))
        scale = tf.sqrt(variance)  # w = √v u: the precision of u is √v P √v + I, however v spreads
        mask, diagonal = self._mask(), tf.eye(self.regressors, dtype=tf.float64)
        linear = (sums.linear if mask is None else sums.linear * mask) * scale + mean / scale
        place = self._place()

        def precision(numbers):
            wrapped = tf.transpose(tf.gather(sums.precision, numbers, axis=1), [1, 0, 2])
            square = tf.gather(tf.reshape(wrapped, [wrapped.shape[0], -1]), place, axis=1)
            if mask is not None:
                used = tf.gather(mask, numbers)
                square *= used[:, :, tf.newaxis] * used[:, tf.newaxis]
            scales = tf.cast(tf.gather(scale, numbers), tf.float64)
            square = tf.cast(square, tf.float64) * (1.0 + _RAISED * diagonal)
            return square * scales[:, :, tf.newaxis] * scales[:, tf.newaxis] + diagonal

        noise = random.normal([self.units, self.regressors], seed)
        drawn = tf.cast(normal_draws(precision, linear, noise), tf.float32) * scale
        parts = tf.split(tf.transpose(drawn), [self.layer.parent_units, self._within, 1])
        return [parts[2][0] if i == 1 else parts[i // 2] for i in range(len(laws))]

    def _with_products(self, wrapped, gamma, regressors):
        twice, gamma = tf.concat([regressors, regressors], 1), tf.transpose(gamma)
        width, count = self.regressors, self.regressors // 2 + 1

        def diagonal(s, wrapped):
            products = regressors * tf.slice(twice, [0, s], [-1, width])
            total = wrapped[s] + tf.matmul(gamma, products)
            return s + 1, tf.tensor_scatter_nd_update(wrapped, [[s]], total[tf.newaxis])

        limits = {"maximum_iterations": count, "parallel_iterations": 1}
        return tf.while_loop(lambda s, _: s < count, diagonal, (tf.constant(0), wrapped), **limits)[1]

    def _place(self):
        """Where each entry of Λ stands among the wrapped diagonals, (R, R)."""
        first, second = np.indices((self.regressors, self.regressors))
        distance = (second - first) % self.regressors
        near = distance <= self.regressors // 2
        distance, start = np.where(near, distance, self.regressors - distance), np.where(near, first, second)
        return distance * self.regressors + start

    def _rows(self, parts):
        """Tensors that broadcast to the variables, as (J, R)."""
        shapes = [variable.shape for variable in self.variables]
        parts = [tf.broadcast_to(tf.cast(part, tf.float32), shape) for part, shape in zip(parts, shapes, strict=True)]
        kernel, bias, *lateral = parts
        return tf.transpose(tf.concat([kernel, *lateral, bias[tf.newaxis]], 0))

    def _mask(self):
        """(J, R), 1 for the regressors that a unit uses; None if all use all."""
        if not self.lateral:
            return None
        earlier = tf.transpose(earlier_to_later(tf.ones([self.units, self.units]), self.layer.ordering))
        return tf.concat([tf.ones([self.units, self.layer.parent_units]), earlier, tf.ones([self.units, 1])], 1)


class SharedBias:
    """The units of a layer of biases alone.

    Args:
      layer: SBN without parents.
    """

    def __init__(self, layer):
        self.layer, self.units = layer, layer.units
        self.variables = list(layer.trainable_variables)

    def no_sums(self):
        return Sums(tf.zeros([self.units]), tf.zeros([self.units]))

    def added(self, sums, child, parents, observed, seed):
        """As of a `Regression`."""
        counts = tf.reduce_sum(observed * tf.ones_like(child), 0)
        return Sums(sums.precision + counts, sums.linear + tf.reduce_sum((child - 0.5) * observed, 0))

    def logits(self, child, parents):
        return tf.broadcast_to(self.layer.bias.value, tf.shape(child))

    def draw(self, sums, laws, seed):
        """As of a `Regression`; the kernel has no entry."""
        gamma_seed, normal_seed = tf.unstack(random.split(seed))
        gamma = shared_gamma(sums.precision, self.layer.bias.value, gamma_seed)
        mean, variance = laws[1]
        precision = gamma + 1.0 / variance
        bias = (sums.linear + mean / variance) / precision
        bias += random.normal([self.units], normal_seed) * tf.math.rsqrt(precision)
        # of no entry; TensorFlow's graph optimizer fails at a constant without entries
        return [self.layer.kernel.value, bias]


def shared_gamma(counts, bias, seed):
    """Draws of the sum of N_j independent PG(1, c_j), (J,)."""
    return PolyaGamma(counts, bias).sample(seed=seed)
