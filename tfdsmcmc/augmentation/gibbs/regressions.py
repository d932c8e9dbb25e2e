"""A layer as logistic regressions, one for each of its units, whose weights have normal laws given Pólya-Gamma draws.

    y_nj ~ Bernoulli(σ(ψ_nj)),  ψ_nj = r_nᵀ w_j,  γ_nj ~ PG(1, ψ_nj)
    w_j given all ~ N(Λ_j⁻¹ b_j, Λ_j⁻¹),   Λ_j = Σ_n γ_nj r_n r_nᵀ + diag(1/v_j),   b_j = Σ_n (y_nj − ½) r_n + m_j/v_j

where the entries of w_j are N(m, v) a priori. The regressors r_n of an SBN are its parents and 1, so that weights and
bias are drawn together; those of a DARN the parents, the units themselves and 1, of which unit j uses those before it.
The sums run over observed y_nj.

Σ_n γ_nj r_n r_nᵀ is symmetric, and kept as its wrapped diagonals (`symmetric`). Each is one matrix product over a block
of rows, and they take half the time of the whole.

A layer without parents has the same ψ_j = c_j in all rows, and a γ_nj ~ PG(1, c_j) for each of them all the same: one
in the place of N different ones would not leave the posterior invariant.

Sources: Polson, Scott and Windle, Journal of the American Statistical Association 108 (2013); Gan, Henao, Carlson and
Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015. The joint draw of weights and bias,
and the sums for autoregressive layers, are derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.shared.inverses import in_groups, normal_draws, scaled
from tfdsmcmc.augmentation.shared.layer_shapes import shape_of
from tfdsmcmc.distributions import PolyaGamma

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape
    from tfdsmcmc.layers import SBN


class Sums(NamedTuple):
    """Statistics of a regression.

    Attributes:
      precision: (⌊R/2⌋ + 1, J, R), the wrapped diagonals of Σ_n γ r rᵀ.
      linear: (J, R), Σ_n (y − ½) r.
    """

    precision: tf.Tensor
    linear: tf.Tensor


def gammas(logits: Sequence[tf.Tensor], seed: Seed) -> list[tf.Tensor]:
    """γ ~ PG(1, ψ) for the logits of several layers, list of (n, J).

    One draw: each takes a program of its own to be compiled.
    """
    widths = [part.shape[-1] for part in logits]
    return tf.split(PolyaGamma(1.0, tf.concat(logits, 1)).sample(seed=seed), widths, 1)


class Regression:
    """The units of a layer, each with regressors.

    Args:
      layer: SBN or DARN.
    """

    layer: SBN
    units: int

    def __init__(self, layer: SBN):
        self.layer, self.units = layer, layer.units
        self.shape: LayerShape = shape_of(layer)
        self.variables: list[keras.Variable] = list(layer.trainable_variables)
        self.regressors: int = self.shape.width

    def no_sums(self) -> Sums:
        shape = [symmetric.count(self.regressors), self.units, self.regressors]
        return Sums(tf.zeros(shape), tf.zeros([self.units, self.regressors]))

    def added(self, sums: Sums, child: tf.Tensor, parents: tf.Tensor, observed: tf.Tensor, gamma: tf.Tensor) -> Sums:
        """The sums with those of a block of rows.

        Args:
          sums: `Sums`.
          child: y, (n, J).
          parents: (n, parents).
          observed: (n, J) float32, 1 where y counts; or (n, 1).
          gamma: (n, J).
        """
        regressors = self.shape.regressors(parents, child)
        linear = tf.matmul((child - 0.5) * observed, regressors, transpose_a=True)
        return Sums(self._with_products(sums.precision, gamma * observed, regressors), sums.linear + linear)

    def logits(self, child: tf.Tensor, parents: tf.Tensor) -> tf.Tensor:
        """ψ, (n, J)."""
        logits = self.layer.logits(parents)
        return logits + tf.matmul(child, self.layer.lateral_kernel()) if self.shape.lateral else logits

    def draw(self, sums: Sums, laws: Sequence[tuple[TensorLike, TensorLike]], seed: Seed) -> list[tf.Tensor]:
        """The weights given the sums and the laws of their entries, a list as `variables`.

        Args:
          sums: `Sums`.
          laws: pairs (m, v) for each variable, which broadcast to it.
          seed: int32 of shape (2,).
        """
        mean, variance = (self._rows([law[i] for law in laws]) for i in (0, 1))
        scale = tf.sqrt(variance)  # w = √v u: the precision of u is √v P √v + I, however v spreads
        mask = tf.constant(self.shape.mask, tf.float32) if self.shape.lateral else None  # None: all use all
        linear = (sums.linear if mask is None else sums.linear * mask) * scale + mean / scale
        noise = random.normal([self.units, self.regressors], seed)

        def some(numbers):
            wrapped = tf.transpose(tf.gather(sums.precision, numbers, axis=1), [1, 0, 2])
            square = symmetric.expanded(wrapped)
            if mask is not None:
                used = tf.gather(mask, numbers)
                square *= used[:, :, tf.newaxis] * used[:, tf.newaxis]
            parts = (tf.cast(tf.gather(part, numbers), tf.float64) for part in (linear, noise))
            return tf.cast(normal_draws(scaled(square, tf.gather(scale, numbers)), *parts), tf.float32)

        drawn = scale * in_groups(some, linear.shape, tf.TensorSpec(linear.shape, tf.float32))
        kernel, lateral, bias = (tf.transpose(drawn[:, part]) for part in self.shape.columns)
        return [kernel, tf.reshape(bias, [-1]), lateral][: len(self.variables)]

    def _with_products(self, wrapped, gamma, regressors):
        twice, gamma = tf.concat([regressors, regressors], 1), tf.transpose(gamma)
        width, count = self.regressors, symmetric.count(self.regressors)

        def diagonal(s, wrapped):
            products = regressors * tf.slice(twice, [0, s], [-1, width])
            total = wrapped[s] + tf.matmul(gamma, products)
            return s + 1, tf.tensor_scatter_nd_update(wrapped, [[s]], total[tf.newaxis])

        start = tf.constant(0), wrapped
        return loops.while_loop(lambda s, _: s < count, diagonal, start, maximum_iterations=count)[1]

    def _rows(self, parts):
        """Tensors that broadcast to the variables, as (J, R)."""
        shapes = [variable.shape for variable in self.variables]
        parts = [tf.broadcast_to(tf.cast(part, tf.float32), shape) for part, shape in zip(parts, shapes, strict=True)]
        kernel, bias, lateral = parts[0], [part[tf.newaxis] for part in parts[1:2]], parts[2:]
        return tf.transpose(tf.concat([kernel, *lateral, *bias], 0))
