"""Priors as mixtures of normal laws, which draws by augmentation need.

    Normal          w ~ N(m, s²) as it is
    Student-t       w ~ N(m, ζ),  1/ζ ~ Gamma(ν/2, νs²/2);   1/ζ given w ~ Gamma((ν + 1)/2, (νs² + (w − m)²)/2)
    shrinkage       w ~ N(0, ζ + m²) with their own draws of ζ, see `priors`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.priors import WeightPrior

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.priors.prior import Prior

tfd = tfp.distributions


class NormalMixture(WeightPrior):
    """A normal law as it is.

    Args:
      loc: m, a number.
      scale: s, a number.
    """

    loc: float
    scale: float
    conditionally_normal = True

    def __init__(self, loc: float, scale: float):
        self.loc, self.scale = loc, scale

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.constant(self.loc), tf.constant(self.scale**2)


class StudentTMixture(WeightPrior):
    """A Student-t law as a mixture over ζ, its auxiliary tensor.

    Args:
      df: ν, a number.
      loc: m, a number.
      scale: s, a number.
    """

    df: float
    loc: float
    scale: float
    auxiliary_count = 1
    conditionally_normal = True

    def __init__(self, df: float, loc: float, scale: float):
        self.df, self.loc, self.scale = df, loc, scale

    def initial_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        return self.update_auxiliary(value, [], seed)

    def update_auxiliary(self, value: TensorLike, auxiliary: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        value = tf.cast(value, tf.float32)
        rate = 0.5 * (self.df * self.scale**2 + tf.square(value - self.loc))
        return [rate / random.gamma(tf.shape(value), 0.5 * (self.df + 1), seed)]

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.constant(self.loc), auxiliary[0]


class NormalMixtures:
    """The priors of named weights as mixtures, with the auxiliary tensors of each weight as a list.

    Args:
      prior: `Prior`.
      names: of the weights.

    Raises:
      ValueError: for a weight whose prior is no such mixture, or flat.
    """

    def __init__(self, prior: Prior, names: Sequence[str]):
        self.members: list[WeightPrior] = [_mixture(name, prior.for_weight(name)) for name in names]

    def initial_auxiliary(self, weights: Sequence[tf.Tensor], seed: Seed) -> list[list[tf.Tensor]]:
        """The tensors of each weight, a list of lists."""
        seeds = random.split(seed, len(self.members))
        pairs = zip(self.members, weights, strict=True)
        return [member.initial_auxiliary(weight, seeds[i]) for i, (member, weight) in enumerate(pairs)]

    def update_auxiliary(
        self,
        weights: Sequence[tf.Tensor],
        auxiliary: Sequence[Sequence[TensorLike]],
        seed: Seed,
    ) -> list[list[tf.Tensor]]:
        """Draws of them given the weights."""
        seeds = random.split(seed, len(self.members))
        triples = zip(self.members, weights, auxiliary, strict=True)
        return [member.update_auxiliary(weight, own, seeds[i]) for i, (member, weight, own) in enumerate(triples)]

    def laws(self, auxiliary: Sequence[Sequence[TensorLike]]) -> list[tuple[tf.Tensor, tf.Tensor]]:
        """(mean, variance) of the entries of each weight."""
        return [member.conditional_normal(own) for member, own in zip(self.members, auxiliary, strict=True)]


def _mixture(name, member):
    if isinstance(member, WeightPrior) and member.conditionally_normal:
        return member
    kind = type(member)
    if kind in (tfd.Normal, tfd.StudentT):
        names = ("loc", "scale") if kind is tfd.Normal else ("df", "loc", "scale")
        values = [tf.get_static_value(getattr(member, part)) for part in names]
        if all(value is not None for value in values):
            return (NormalMixture if kind is tfd.Normal else StudentTMixture)(*map(float, values))
    raise ValueError(
        "Draws by augmentation need priors that are mixtures of normal laws: Normal and StudentT of numbers, and "
        f"shrinkage priors. Received: {'a flat prior' if member is None else member} for the weight {name!r}"
    )
