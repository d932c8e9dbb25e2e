"""The contract of the prior of one weight, a tensor of independent or exchangeable entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Distribution, Seed, TensorLike


class SweepDraws(NamedTuple):
    """The random numbers of a sweep, which those of other weights are drawn along with.

    Attributes:
      normal: shape of standard normal numbers.
      gamma: a (shape, concentration) for each tensor of gamma numbers of rate 1.
    """

    normal: tuple[int, ...]
    gamma: list[tuple[tuple[int, ...], float]]


class WeightPrior:
    """Base class of priors of a weight, such as shrinkage priors; a subclass defines `log_prob` and its configuration.

    A prior with auxiliary tensors λ, such as the scales of a shrinkage prior, gives log p(w given λ), and draws of λ
    given w that leave p(λ given w) invariant.

    Attributes:
      auxiliary_count: the number of auxiliary tensors of a weight.
      conditionally_normal: whether the entries of a weight are independent and normal given λ, as draws of the weights
        by augmentation need; `conditional_normal` has their law then.
    """

    auxiliary_count = 0
    conditionally_normal = False

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        """log p(w given λ), summed over the entries: a scalar.

        Args:
          value: the weight.
          auxiliary: list of its auxiliary tensors.
        """
        raise NotImplementedError(f"{type(self).__name__} must define log_prob(value, auxiliary).")

    def initial_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors to start from, a list.

        Args:
          value: the weight.
          seed: int32 of shape (2,).
        """
        return []

    def update_auxiliary(self, value: TensorLike, auxiliary: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        """Draws of the auxiliary tensors given the weight, a list of tensors of the same shapes and types."""
        return list(auxiliary)

    def sweep_draws(self, shape: Sequence[int]) -> SweepDraws:
        """What `swept` asks for. A prior with these two has its numbers drawn along with those of other weights, where
        no subclass defines `update_auxiliary` anew; one without has a seed of its own.

        Args:
          shape: of the weight.
        """
        raise NotImplementedError(f"{type(self).__name__} asks for no random numbers.")

    def swept(
        self, value: tf.Tensor, auxiliary: Sequence[TensorLike], normal: tf.Tensor, gamma: Sequence[tf.Tensor]
    ) -> list[tf.Tensor]:  # fmt: skip
        """`update_auxiliary` by given random numbers.

        Args:
          value: the weight, float32 or float64.
          auxiliary: its auxiliary tensors.
          normal: as `sweep_draws` asks for.
          gamma: likewise.
        """
        raise NotImplementedError(f"{type(self).__name__} asks for no random numbers.")

    def draw_auxiliary(self, value: TensorLike, seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors all but drawn from p(λ given w), to sweep on from where λ is needed at a given w.

        By default those of `initial_auxiliary`, which may be far from that law; outside of programs only.

        Args:
          value: the weight.
          seed: int32 of shape (2,).
        """
        return self.initial_auxiliary(value, seed)

    def check_gradient(self, name: str) -> None:
        """Raises a ValueError where no kernel can follow the gradient of log p(w given λ), as it has no bound.

        Args:
          name: of the weight.
        """

    def conditional_normal(self, auxiliary: Sequence[TensorLike]) -> tuple[tf.Tensor, tf.Tensor]:
        """(means, variances) of the entries given λ, which broadcast to the weight.

        Args:
          auxiliary: list of the weight's auxiliary tensors.
        """
        raise NotImplementedError(f"{type(self).__name__} is not normal given auxiliary tensors.")

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)


class FlatPrior(WeightPrior):
    """log p(w) = 0."""

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        return tf.zeros([])


class IndependentPrior(WeightPrior):
    """Independent entries of one law.

    Args:
      distribution: scalar TFP distribution.
    """

    def __init__(self, distribution: Distribution):
        self.distribution = distribution

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        return tf.reduce_sum(tf.cast(self.distribution.log_prob(tf.cast(value, self.distribution.dtype)), tf.float32))
