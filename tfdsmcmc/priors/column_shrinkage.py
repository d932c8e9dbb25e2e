"""The three-parameter beta normal prior with a scale for each column: it switches hidden units off.

    w_jk ~ N(0, ζ_jk + m²),  ζ_jk ~ Gamma(a, ξ_jk),  ξ_jk ~ Gamma(b, φ_k),  φ_k ~ Gamma(½, ω),  ω ~ Gamma(½, 1)

with rates as second parameters, j the units that a hidden unit k leads to: a column of the paper's W, a row of a
kernel (parents, units) here. Given ω, √φ_k is half-normal of scale (2ω)^(−½), and half-Cauchy of scale 1 over all ω; a
unit whose φ_k is small is switched off, as all its weights are. Given φ, ζ_jk/φ_k ~ BetaPrime(a, b); a = b = ½ is the
horseshoe.

One sweep draws, each given the rest, with J weights in a column and K columns,

    v_jk ~ N(s w, s m²), s = ζ/(ζ + m²)        ζ_jk ~ GIG(a − ½, 2ξ_jk, v_jk²)
    ξ_jk ~ Gamma(a + b, ζ_jk + φ_k)            φ_k ~ Gamma(½ + bJ, ω + Σ_j ξ_jk)
    ω ~ Gamma((K + 1)/2, 1 + Σ_k φ_k)

where v is the part of w without the floor of scale m, as in `shrinkage`: w itself where m = 0.

Sources: Armagan, Dunson and Clyde, "Generalized beta mixtures of Gaussians", NIPS 2011; Gan, Henao, Carlson and Carin,
"Learning deep sigmoid belief networks with data augmentation", AISTATS 2015, Eq. 9 and section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.checks import nonnegative_number, positive_number
from tfdsmcmc.distributions.generalised_inverse_gaussian import generalised_inverse_gaussian
from tfdsmcmc.priors.base import WeightPrior
from tfdsmcmc.priors.scales_given_weights import REACH, ScalesGivenWeights, draw_on, finest

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed, TensorLike

# where scales end in float32
_LEAST, _GREATEST = 1e-30, 1e30


@keras.saving.register_keras_serializable("tfdsmcmc")
class ColumnThreeParameterBetaNormal(WeightPrior):
    """Normal with a variance for each weight, a scale for each parent unit and a common one: the module's docstring.

    Its auxiliary tensors of a weight: [ζ, ξ, φ, ω]; ζ and ξ have the weight's shape, φ an entry for each parent,
    (parents, 1), and ω is a scalar. A weight with a single axis, such as a bias, is one column. All are kept between
    10⁻³⁰ and 10³⁰.

    Args:
      a: of the spike at 0, above 0; the smaller, the sharper.
      b: of the tails, above 0; the smaller, the heavier.
      minimum_scale: m, at least 0. Kernels that follow a gradient need one above 0, such as 0.01 (see `shrinkage`),
        and `compile` refuses 0 for them; draws of the weights do not.

    Raises:
      ValueError: for a number out of range.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> prior = ds.Prior({"kernel": ds.priors.ColumnThreeParameterBetaNormal(), "": None})
    >>> auxiliary = prior.initial_auxiliary(["top/kernel"], [tf.ones([2, 3])], seed=1)
    >>> [part.shape.as_list() for part in auxiliary]
    [[2, 3], [2, 3], [2, 1], []]
    """

    auxiliary_count = 4
    conditionally_normal = True

    def __init__(self, a: float = 0.5, b: float = 0.5, minimum_scale: float = 0.0):
        self.a: float = float(positive_number("a", a))
        self.b: float = float(positive_number("b", b))
        self.minimum_scale: float = float(nonnegative_number("minimum_scale", minimum_scale))

    def initial_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """The auxiliary tensors of a weight after one sweep from ζ = ξ = φ = ω = 1.

        |w| is taken as 0.01 where it is less: a weight that starts at 0 would have a variance that stays there.
        """
        value = tf.cast(value, tf.float32)
        value = tf.where(tf.abs(value) < 0.01, 0.01, value)
        start = [tf.ones_like(value), tf.ones_like(value), tf.ones_like(self._sum(value)), tf.ones([])]
        return self.update_auxiliary(value, start, seed)

    def draw_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """The auxiliary tensors all but drawn from their law given the weight: see `scales_given_weights`.

        With u = ln φ and v = ln ω, after ζ and ξ are integrated out, p(u, v given w) goes as
        exp(v/2 − e^v) Π_k p(w_k given φ_k) exp(u_k/2 + v/2 − e^(u_k + v)).
        """
        value = tf.cast(value, tf.float32)
        common_seed, scale_seed, variance_seed, rate_seed = tf.unstack(random.split(seed, 4))
        shape = self._sum(value).shape
        count = shape.num_elements()
        squares = np.reshape(tf.square(value), [count, value.shape.num_elements() // max(count, 1)])
        scales = ScalesGivenWeights(squares, 1, self.a, self.b, self.minimum_scale**2, REACH)
        u, logs = finest(lambda u: u / 2 + scales.log_density(u), -REACH, REACH, count)
        share = np.exp(logs - np.max(logs, -1, keepdims=True))

        def of_common(grid):
            columns = [np.sum(share * np.exp(-np.exp(u + v)), -1) for v in grid[0]]
            return (1 + count) / 2 * grid - np.exp(grid) + np.log(np.maximum(columns, 1e-300)).sum(1)

        (v,) = draw_on(*finest(of_common, -REACH, 6.0, 1), common_seed)
        u = draw_on(u, logs - np.exp(u + v), scale_seed)
        variance = np.reshape(scales.draw(u, variance_seed), value.shape)
        variance, scale, common = (
            _bounded(tf.constant(np.exp(part), tf.float32)) for part in (variance, np.reshape(u, shape), v)
        )
        rate = _bounded(random.gamma(value.shape, self.a + self.b, rate_seed) / (variance + scale))
        return [variance, rate, scale, common]

    def update_auxiliary(self, value: TensorLike, auxiliary: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        value = tf.cast(value, tf.float32)
        variance, rate, scale, common = auxiliary
        normal_seed, variance_seed, rate_seed, scale_seed, common_seed = tf.unstack(random.split(seed, 5))
        if self.minimum_scale:
            share = variance / (variance + self.minimum_scale**2)
            value = share * value
            value += tf.sqrt(share) * self.minimum_scale * random.normal(tf.shape(value), normal_seed)
        variance = _bounded(generalised_inverse_gaussian(self.a - 0.5, 2 * rate, tf.square(value), variance_seed))
        shape = tf.shape(value)
        rate = _bounded(random.gamma(shape, self.a + self.b, rate_seed) / (variance + scale))
        weights = tf.cast(tf.size(value), tf.float32) / tf.maximum(tf.cast(tf.size(scale), tf.float32), 1.0)
        concentration = 0.5 + self.b * weights
        scale = _bounded(random.gamma(tf.shape(scale), concentration, scale_seed) / (common + self._sum(rate)))
        concentration = 0.5 + 0.5 * tf.cast(tf.size(scale), tf.float32)
        common = _bounded(random.gamma([], concentration, common_seed) / (1.0 + tf.reduce_sum(scale)))
        return [variance, rate, scale, common]

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        """log p(w given ζ), summed over the entries: a scalar."""
        mean, variance = self.conditional_normal(auxiliary)
        square = tf.square(tf.cast(value, tf.float32) - mean)
        return -0.5 * tf.reduce_sum(tf.math.log(2 * math.pi * variance) + square / variance)

    def check_gradient(self, name: str) -> None:
        if not self.minimum_scale:
            raise ValueError(
                "A kernel follows the gradient −w/(ζ + m²), which has no bound at m = 0: give "
                "ColumnThreeParameterBetaNormal a minimum_scale above 0, such as 0.01. "
                f"Received: minimum_scale={self.minimum_scale:g} for the weight {name!r}"
            )

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.zeros([]), auxiliary[0] + self.minimum_scale**2

    def get_config(self) -> Config:
        return {name: getattr(self, name) for name in ("a", "b", "minimum_scale")}

    def _sum(self, value):
        """Sums over the columns, which keep their axes."""
        return tf.reduce_sum(value, list(range(1, value.shape.rank)) or [0], keepdims=True)


def _bounded(scale):
    return tf.clip_by_value(scale, _LEAST, _GREATEST)
