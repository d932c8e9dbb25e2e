"""Shrinkage priors: normal, with a variance of its own for each weight, drawn by Gibbs sampling.

    w given ζ ~ N(0, ζ + m²),     ζ/τ² ~ BetaPrime(a, b):   p(ζ) ∝ ζ^(a − 1) (1 + ζ/τ²)^(−a − b)

or with one ζ for a group of n weights: those that leave a parent unit (a row of a kernel), those that enter a unit (a
column), or a whole tensor. A unit whose outgoing weights share a small ζ is switched off: automatic relevance
determination, with a law of ζ that has a spike at 0 and heavy tails.

As ζ → 0 its density goes as ζ^(a − 1), so a small a gives a sharp spike at w = 0; as ζ → ∞ it goes as ζ^(−b − 1), so a
small b gives heavy tails, |w|^(−2b − 1). a = b = ½ is the horseshoe: √ζ is half-Cauchy of scale τ.

m is there for the chain, not for the weights: the gradient −w/variance is stable in steps of ℓ/N only while
ℓ/(N · variance) stays below 2 to 4, and a beta prime variance comes as near to 0 as it likes. The law of w is exactly
the sum of a three-parameter beta normal and an independent N(0, m²); its spike has width m at least.

With v the beta normal part of w, and mixtures of gammas for the beta prime law,

    w given v ~ N(v, m²),  v given ζ ~ N(0, ζ),  ζ given ν ~ InvGamma(b, ν),  ν ~ Gamma(a, rate 1/τ²)

every conditional is a textbook law. One sweep draws v and ν anew, which need not be stored, and then ζ:

    v given w, ζ ~ N(s w, s m²),  s = ζ/(ζ + m²)          ν given ζ ~ Gamma(a + b, rate 1/τ² + 1/ζ)
    ζ given v, ν ~ InvGamma(b + n/2, ν + Σ v²/2)

Of the v of a group only Σ v² is asked for, so it is drawn in the place of n normal numbers: Σ v²/(s m²) has the
noncentral χ² law of n degrees of freedom around s Σ w²/m², which is that of the square of a normal number around the
root of that, and of a central χ² of n − 1 degrees beside it,

    Σ v² = (s √Σ w² + m √s ε)² + 2 m² s g,     ε ~ N(0, 1),  g ~ Gamma((n − 1)/2)

With an unknown τ ~ half-Cauchy of scale τ₀, one for each weight tensor or one for the weights of each unit,
τ² given κ ~ InvGamma(½, κ) and κ ~ Gamma(½, rate 1/τ₀²); the sweep draws κ given τ² ~ Exponential(rate 1/τ₀² + 1/τ²)
beside v and ν, and τ² given κ, ν ~ InvGamma(½ + ag, κ + Σν) beside ζ, over the g groups that have this τ.

That law of w is the limit of small steps. The gradient −w/(N(ζ + m²)) jumps with each draw of ζ: where the likelihood
says little this is noise in the gradient, which heats a kernel with momentum by about (ℓs)²/(2aη), s² its variance.
On the prior alone with N = 1,200 and ℓ = 0.1 the quartiles of |w| come out 19 to 25 % too wide under SGHMC, 4 to 12 %
under SGLD, and within 4 % under SGNHT with `thermostat_mass="auto"`, whose thermostats take the heat away; at
ℓ = 0.01 SGHMC is within 6 % and SGLD within 2 % (tests/priors/test_heat.py).

Sources: Armagan, Dunson and Clyde, "Generalized beta mixtures of Gaussians", NIPS 2011 (a and b as there, φ = τ²; here
the inverse gamma is the inner law, where it is the outer one there, and no conditional is a generalised inverse
Gaussian); Neal, "Bayesian learning for neural networks" (1996), section 1.2.5 (a scale for the weights out of each
unit); Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015 (the
prior on their weights); Makalic and Schmidt, "A simple sampler for the horseshoe estimator", IEEE Signal Processing
Letters 23 (2016) (the half-Cauchy law as a mixture).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.checks import one_of, positive_number
from tfdsmcmc.priors import sweeps_together
from tfdsmcmc.priors.base import SweepDraws, WeightPrior
from tfdsmcmc.priors.scales_given_weights import REACH, ScalesGivenWeights, draw_on, finest, half_cauchy
from tfdsmcmc.priors.sweeps_together import floating

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed, TensorLike

Group: TypeAlias = Literal["entry", "parent", "unit", "tensor"]

GROUPS: tuple[Group, ...] = ("entry", "parent", "unit", "tensor")  # the entries of a weight that share a variance
_SHARE_TAU = ("tensor", "parent", "unit")

# where variances end in float32: far below any minimum, far above any weight
_LEAST, _GREATEST = 1e-30, 1e30


@keras.saving.register_keras_serializable("tfdsmcmc")
class ThreeParameterBetaNormal(WeightPrior):
    """Normal with a beta prime variance for each weight, plus a normal floor: see the module's docstring.

    Its auxiliary tensors of a weight: [ζ], with an entry for each group and the weight's axes; with
    `learn_global_scale` [ζ, τ²], τ² a scalar or of the shape that its groups have.
    They are kept between 10⁻³⁰ and 10³⁰, which shows only where a or b is below about 0.1.

    Args:
      a: of the spike at 0, above 0; the smaller, the sharper.
      b: of the tails, above 0; the smaller, the heavier.
      global_scale: τ; with `learn_global_scale` the scale τ₀ of its half-Cauchy law.
      minimum_scale: m, above 0.
      learn_global_scale: whether τ is unknown.
      group: the entries that share a variance: "entry" for none, "parent" for a row of a kernel (parents, units),
        "unit" for a column, "tensor" for all. A weight with a single axis, such as a bias, is one group unless "entry".
      global_scale_group: the entries that share an unknown τ: "tensor", or with group="entry" "parent" or "unit". A
        unit whose τ is small is switched off, as all its weights are.

    Raises:
      ValueError: for a number that is not above 0, a `learn_global_scale` that is no bool, another group, or a τ of
        each unit that is known or that other groups than entries share.
    """

    conditionally_normal = True

    def __init__(
        self,
        a: float = 0.5,
        b: float = 0.5,
        global_scale: float = 0.1,
        minimum_scale: float = 0.01,
        learn_global_scale: bool = False,
        group: Group = "entry",
        global_scale_group: Group = "tensor",
    ):
        self.group: Group = one_of("group", group, GROUPS)
        self.a: float = float(positive_number("a", a))
        self.b: float = float(positive_number("b", b))
        self.global_scale: float = float(positive_number("global_scale", global_scale))
        self.minimum_scale: float = float(positive_number("minimum_scale", minimum_scale))
        if not isinstance(learn_global_scale, bool):
            raise ValueError(f"learn_global_scale must be a bool. Received: learn_global_scale={learn_global_scale!r}")
        self.learn_global_scale = learn_global_scale
        self.global_scale_group: Group = global_scale_group
        one_of("global_scale_group", global_scale_group, _SHARE_TAU)
        if global_scale_group != "tensor" and (group != "entry" or not learn_global_scale):
            raise ValueError(
                "global_scale_group is other than 'tensor' with group='entry' and "
                f"learn_global_scale=True. Received: global_scale_group={global_scale_group!r}, group={group!r}, "
                f"learn_global_scale={learn_global_scale}"
            )

    @property
    def auxiliary_count(self) -> int:
        """The number of auxiliary tensors of a weight."""
        return 2 if self.learn_global_scale else 1

    def initial_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """The auxiliary tensors of a weight after one sweep from ζ = τ² = global_scale².

        Args:
          value: the weight.
          seed: int32 of shape (2,).

        Returns:
          List of tensors: float64 for a float64 weight, else float32.
        """
        return self.update_auxiliary(value, self._start(value), seed)

    def _start(self, value):
        value = floating(value)
        start = tf.constant(self.global_scale**2, value.dtype)
        shapes = self._groups(value.shape), self._scales(value.shape)
        return [tf.fill(shape, start) for shape in shapes[: self.auxiliary_count]]

    def draw_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors all but drawn from p(ζ, τ given w), whatever τ is: see `scales_given_weights`."""
        value = floating(value)
        sums, expected = self._sum(tf.square(value)).numpy(), 2 * math.log(self.global_scale)
        scale_seed, seed = tf.unstack(random.split(seed))
        # a row for each τ, whose groups are the columns
        axis = -1 if self.global_scale_group == "unit" else 0
        shape, count = self._scales(value.shape), math.prod(self._scales(value.shape))
        rows = np.reshape(np.moveaxis(sums, axis, 0), [count, sums.size // max(count, 1)])
        highest = expected + (REACH if self.learn_global_scale else 0)
        scales = ScalesGivenWeights(rows, self._size(value.shape), self.a, self.b, self.minimum_scale**2, highest)
        log_tau2 = np.full(count, expected)
        if self.learn_global_scale:

            def log_density(log_scale):
                return half_cauchy(log_scale - expected) + scales.log_density(log_scale)

            log_tau2 = draw_on(*finest(log_density, expected - REACH, highest, count), scale_seed)
        moved = np.moveaxis(sums, axis, 0).shape
        drawn = [np.moveaxis(np.reshape(scales.draw(log_tau2, seed), moved), 0, axis), np.reshape(log_tau2, shape)]
        return [_bounded(tf.constant(np.exp(part), value.dtype)) for part in drawn[: self.auxiliary_count]]

    def update_auxiliary(self, value: TensorLike, auxiliary: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        """One Gibbs sweep, which leaves p(auxiliary given the weight) invariant.

        Args:
          value: the weight.
          auxiliary: its auxiliary tensors.
          seed: int32 of shape (2,).

        Returns:
          List of tensors of the same shapes and types.
        """
        return sweeps_together.updated([(self, value, list(auxiliary))], seed)[0]

    def sweep_draws(self, shape: Sequence[int]) -> SweepDraws:
        groups, size = self._groups(shape), self._size(shape)
        gamma = [(groups, self.a + self.b), (groups, self.b + size / 2)]
        if self.learn_global_scale:
            scales = self._scales(shape)
            gamma += [(scales, 1.0), (scales, 0.5 + self.a * math.prod(groups) / max(1, math.prod(scales)))]
        if size > 1:
            gamma.append((groups, (size - 1) / 2))
        return SweepDraws(groups, gamma)

    def swept(
        self, value: tf.Tensor, auxiliary: Sequence[TensorLike], normal: tf.Tensor, gamma: Sequence[tf.Tensor]
    ) -> list[tf.Tensor]:  # fmt: skip
        variance = auxiliary[0]
        scale2 = auxiliary[1] if self.learn_global_scale else self.global_scale**2
        rate_draw, precision, *gamma = gamma
        rate = rate_draw / (1.0 / scale2 + 1.0 / variance)
        of_scale, beside = (gamma[:2], gamma[2:]) if self.learn_global_scale else ([], gamma)
        updated = [_bounded((rate + self._sum_of_squares(value, variance, normal, beside) / 2) / precision)]
        if of_scale:  # τ² given ν, after κ given the last τ²
            outer_rate = of_scale[0] / (1.0 / self.global_scale**2 + 1.0 / scale2)
            summed = tf.reduce_sum(rate, self._axes(rate.shape.rank, self.global_scale_group), keepdims=True)
            updated.append(_bounded((outer_rate + tf.reshape(summed, outer_rate.shape)) / of_scale[1]))
        return updated

    def _sum_of_squares(self, value, variance, normal, beside):
        """A draw of Σ v² for each group; `beside` has the gamma draws of g, or nothing where groups have one entry."""
        share, floor = variance / (variance + self.minimum_scale**2), self.minimum_scale**2
        noise = tf.sqrt(share * floor * min(self._size(value.shape), 1.0)) * normal  # none where a group is empty
        squares = tf.square(share * tf.sqrt(self._sum(tf.square(value))) + noise)
        for gamma in beside:
            squares += 2 * floor * share * gamma
        return squares

    def _groups(self, shape):
        """The shape of the groups."""
        if self.group == "entry":
            return tuple(shape)
        summed = self._axes(len(shape), self.group)
        return tuple(1 if axis in summed else size for axis, size in enumerate(shape))

    def _scales(self, shape):
        """The shape of τ."""
        if self.global_scale_group == "tensor":
            return ()
        summed = self._axes(len(shape), self.global_scale_group)
        return tuple(1 if axis in summed else size for axis, size in enumerate(shape))

    def _size(self, shape):
        """n, the entries of a group."""
        return math.prod(shape) / max(1, math.prod(self._groups(shape)))

    def _sum(self, value):
        """Sums over the groups, which keep their axes."""
        if self.group == "entry":
            return value
        return tf.reduce_sum(value, self._axes(value.shape.rank, self.group), keepdims=True)

    def _axes(self, rank, group):
        """The axes of a group."""
        axes = {"parent": range(1, rank), "unit": range(rank - 1)}.get(group)
        return list(axes or range(rank))

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        """log p(w given ζ), summed over the entries: a scalar.

        Args:
          value: the weight.
          auxiliary: its auxiliary tensors.
        """
        _, variance = self.conditional_normal(auxiliary)
        return -0.5 * tf.reduce_sum(tf.math.log(2 * math.pi * variance) + tf.square(floating(value)) / variance)

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.zeros([]), auxiliary[0] + self.minimum_scale**2

    def get_config(self) -> Config:
        names = ("a", "b", "global_scale", "minimum_scale", "learn_global_scale", "group", "global_scale_group")
        return {name: getattr(self, name) for name in names}


def _bounded(variance):
    return tf.clip_by_value(variance, _LEAST, _GREATEST)
