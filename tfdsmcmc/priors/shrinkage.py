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

With an unknown τ ~ half-Cauchy of scale τ₀, one for each weight tensor, τ² given κ ~ InvGamma(½, κ) and
κ ~ Gamma(½, rate 1/τ₀²); the sweep draws κ given τ² ~ Exponential(rate 1/τ₀² + 1/τ²) beside v and ν, and
τ² given κ, ν ~ InvGamma(½ + ag, κ + Σν) beside ζ, g the groups.

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
from tfdsmcmc._common.checks import positive_number
from tfdsmcmc.priors.base import WeightPrior
from tfdsmcmc.priors.scales_given_weights import REACH, ScalesGivenWeights, draw_on, finest, half_cauchy

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed, TensorLike

Group: TypeAlias = Literal["entry", "parent", "unit", "tensor"]

GROUPS: tuple[Group, ...] = ("entry", "parent", "unit", "tensor")  # the entries of a weight that share a variance

# where variances end in float32: far below any minimum, far above any weight
_LEAST, _GREATEST = 1e-30, 1e30


@keras.saving.register_keras_serializable("tfdsmcmc")
class ThreeParameterBetaNormal(WeightPrior):
    """Normal with a beta prime variance for each weight, plus a normal floor: see the module's docstring.

    Its auxiliary tensors of a weight: [ζ], with an entry for each group and the weight's axes; with
    `learn_global_scale` [ζ, τ²], τ² a scalar.
    They are kept between 10⁻³⁰ and 10³⁰, which shows only where a or b is below about 0.1.

    Args:
      a: of the spike at 0, above 0; the smaller, the sharper.
      b: of the tails, above 0; the smaller, the heavier.
      global_scale: τ; with `learn_global_scale` the scale τ₀ of its half-Cauchy law.
      minimum_scale: m, above 0.
      learn_global_scale: whether τ is unknown, one for each weight tensor.
      group: the entries that share a variance: "entry" for none, "parent" for a row of a kernel (parents, units),
        "unit" for a column, "tensor" for all. A weight with a single axis, such as a bias, is one group unless "entry".

    Raises:
      ValueError: for a number that is not above 0, a `learn_global_scale` that is no bool, or another group.
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
    ):
        self.group: Group = _checked_group(group)
        self.a: float = float(positive_number("a", a))
        self.b: float = float(positive_number("b", b))
        self.global_scale: float = float(positive_number("global_scale", global_scale))
        self.minimum_scale: float = float(positive_number("minimum_scale", minimum_scale))
        if not isinstance(learn_global_scale, bool):
            raise ValueError(f"learn_global_scale must be a bool. Received: learn_global_scale={learn_global_scale!r}")
        self.learn_global_scale = learn_global_scale

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
        value = _floating(value)
        start = tf.constant(self.global_scale**2, value.dtype)
        variance = tf.fill(tf.shape(self._sum(value)), start)
        return self.update_auxiliary(value, [variance, start][: self.auxiliary_count], seed)

    def draw_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors all but drawn from p(ζ, τ given w), whatever τ is: see `scales_given_weights`."""
        value = _floating(value)
        sums, centre = self._sum(tf.square(value)), np.full(1, 2 * math.log(self.global_scale))
        squares, scale_seed, seed = np.reshape(sums, [1, -1]), *tf.unstack(random.split(seed))
        highest = centre[0] + (REACH if self.learn_global_scale else 0)
        scales = ScalesGivenWeights(squares, self._size(value), self.a, self.b, self.minimum_scale**2, highest)
        if self.learn_global_scale:

            def log_density(log_scale):
                return half_cauchy(log_scale - centre) + scales.log_density(log_scale)

            centre = draw_on(*finest(log_density, centre[0] - REACH, highest, 1), scale_seed)
        drawn = [np.reshape(scales.draw(centre, seed), sums.shape), centre[0]]
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
        value = _floating(value)
        variance = auxiliary[0]
        scale2 = auxiliary[1] if self.learn_global_scale else self.global_scale**2
        normal_seed, gamma_seed, scale_seed = tf.unstack(random.split(seed, 3))

        rate_draw, precision, *beside = self._gammas(value, gamma_seed)
        rate = rate_draw / (1.0 / scale2 + 1.0 / variance)
        squares = self._sum_of_squares(value, variance, beside, normal_seed)
        updated = [_bounded((rate + squares / 2) / precision)]
        if self.learn_global_scale:
            updated.append(self._global_variance(rate, scale2, scale_seed))
        return updated

    def _sum_of_squares(self, value, variance, beside, seed):
        """A draw of Σ v² for each group; `beside` has the gamma draws of g, or nothing where groups are entries."""
        share, floor = variance / (variance + self.minimum_scale**2), self.minimum_scale**2
        normal = random.normal(tf.shape(variance), seed, value.dtype)
        noise = tf.sqrt(share * floor * tf.minimum(self._size(value), 1.0)) * normal  # none where a group is empty
        squares = tf.square(share * tf.sqrt(self._sum(tf.square(value))) + noise)
        for gamma in beside:
            squares += tf.where(self._size(value) > 1, 2 * floor * share * gamma, 0.0)
        return squares

    def _gammas(self, value, seed):
        """Gamma draws for each group, of concentrations a + b, b + n/2 and, unless groups are entries, (n − 1)/2."""
        shares = self.group != "entry"
        concentration, size = self.b + 0.5, self._size(value)
        if self.a != 0.5 or shares:
            # a group of one entry asks for the last in vain
            parts = [self.a + self.b, self.b + size / 2, *([tf.maximum(size - 1, 1) / 2] if shares else [])]
            parts = [tf.cast(part, value.dtype) for part in parts]
            concentration = tf.reshape(tf.stack(parts), [len(parts)] + [1] * value.shape.rank)
        # one call for all: XLA compiles the sum of two calls into a loop ten times slower
        shape = tf.concat([[3 if shares else 2], tf.shape(self._sum(value))], 0)
        return tf.unstack(random.gamma(shape, concentration, seed, value.dtype))

    def _size(self, value):
        """n, the entries of a group."""
        groups = tf.shape(self._sum(value))
        return tf.cast(tf.size(value), value.dtype) / tf.cast(tf.reduce_prod(groups), value.dtype)

    def _sum(self, value):
        """Sums over the groups, which keep their axes."""
        rank = value.shape.rank
        if self.group == "entry":
            return value
        axes = {"parent": list(range(1, rank)), "unit": list(range(rank - 1))}.get(self.group)
        return tf.reduce_sum(value, axes or list(range(rank)), keepdims=True)

    def _global_variance(self, rate, scale2, seed):
        """A draw of τ² given ν, after one of κ given the last τ²."""
        outer_seed, seed = tf.unstack(random.split(seed))
        outer_rate = random.gamma([], 1, outer_seed, rate.dtype) / (1.0 / self.global_scale**2 + 1.0 / scale2)
        concentration = 0.5 + self.a * tf.cast(tf.size(rate), rate.dtype)
        return _bounded((outer_rate + tf.reduce_sum(rate)) / random.gamma([], concentration, seed, rate.dtype))

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        """log p(w given ζ), summed over the entries: a scalar.

        Args:
          value: the weight.
          auxiliary: its auxiliary tensors.
        """
        _, variance = self.conditional_normal(auxiliary)
        return -0.5 * tf.reduce_sum(tf.math.log(2 * math.pi * variance) + tf.square(_floating(value)) / variance)

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.zeros([]), auxiliary[0] + self.minimum_scale**2

    def get_config(self) -> Config:
        names = ("a", "b", "global_scale", "minimum_scale", "learn_global_scale", "group")
        return {name: getattr(self, name) for name in names}


@keras.saving.register_keras_serializable("tfdsmcmc")
class Horseshoe(ThreeParameterBetaNormal):
    """The horseshoe: `ThreeParameterBetaNormal` with a = b = ½, and the fastest of them.

    w ~ N(0, ζ + m²), √ζ half-Cauchy of scale τ: an infinite spike rounded off at width m, tails as heavy as Cauchy's.

    Args:
      global_scale: τ; with `learn_global_scale` the scale of its half-Cauchy law.
      minimum_scale: m, above 0.
      learn_global_scale: whether τ is unknown, one for each weight tensor.

    Raises:
      ValueError: for a number that is not above 0, or a `learn_global_scale` that is no bool.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> prior = ds.Prior({"kernel": ds.priors.Horseshoe(global_scale=0.05), "": None})
    >>> names, values = ["top/kernel", "top/bias"], [tf.zeros([2, 3]), tf.zeros([3])]
    >>> auxiliary = prior.initial_auxiliary(names, values, seed=1)
    >>> auxiliary = prior.update_auxiliary(names, values, auxiliary, seed=2)
    >>> [variance.shape for variance in auxiliary]
    [TensorShape([2, 3])]
    >>> prior.log_prob(names, values, auxiliary).shape
    TensorShape([])
    """

    def __init__(
        self,
        global_scale: float = 0.1,
        minimum_scale: float = 0.01,
        learn_global_scale: bool = False,
        group: Group = "entry",
    ):
        super().__init__(0.5, 0.5, global_scale, minimum_scale, learn_global_scale, group)

    def get_config(self) -> Config:
        return {name: part for name, part in super().get_config().items() if name not in ("a", "b")}


def _checked_group(group):
    if not isinstance(group, str) or group not in GROUPS:
        raise ValueError(f"group must be one of {list(GROUPS)}. Received: group={group!r}")
    return group


def _floating(value):
    value = tf.convert_to_tensor(value)
    return value if value.dtype == tf.float64 else tf.cast(value, tf.float32)


def _bounded(variance):
    return tf.clip_by_value(variance, _LEAST, _GREATEST)
