"""The contract of an objective for the recognition network, and what the objectives share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc._common import checks

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import (
        Config,
        LatentSampler,
        OptimizerLike,
        Seed,
        TensorLike,
        WeightedCompletions,
        WeightedLatents,
    )
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


class Proposal:
    """Base class: a subclass returns from `surrogate` a scalar whose gradient in φ is the ascent direction.

    Args:
      optimizer: Keras optimizer of φ, or its name.

    Attributes:
      redraw: whether the training loop draws the latent variables again, with the moved θ, before each φ-update.
      takes_weights: whether means over rows in the objective heed their weights, `rows.mean_over_rows`.

    Raises:
      ValueError: if `optimizer` is no Keras optimizer and not the name of one.
    """

    redraw = False
    takes_weights = False

    def __init__(self, optimizer: OptimizerLike = "adam"):
        self.optimizer: keras.optimizers.Optimizer = checks.optimizer(optimizer)

    def check(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        latents: LatentSampler | None = None,
    ) -> None:
        """Raises a ValueError, before anything is compiled, if the objective does not suit the networks or latents."""

    def build(self, units: int) -> None:
        """Creates the variables of the objective itself; a second call of the same width changes nothing.

        Args:
          units: D, the width of the data.
        """

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """Variables that the optimizer updates beside φ."""
        return []

    @property
    def variables(self) -> list[keras.Variable | tf.Variable]:
        """All variables of the objective itself, for saving; those of the optimizer are not among them."""
        return []

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """A scalar to ascend in φ and in `trainable_variables`; θ is held fixed.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor, or `Rows` where entries are missing.
          latents: `WeightedLatents` of x.
          seed: int32 tensor of shape (2,).
        """
        raise NotImplementedError(f"{type(self).__name__} must define surrogate(generative, recognition, x, …).")

    def get_config(self) -> Config:
        return {"optimizer": keras.optimizers.serialize(self.optimizer)}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**{**config, "optimizer": keras.optimizers.deserialize(config["optimizer"])})


def number_of_samples(latents: WeightedLatents | WeightedCompletions) -> int | tf.Tensor:
    """K of `WeightedLatents`, an integer where it is known and a tensor otherwise."""
    static = latents.log_weights.shape[0]
    return tf.shape(latents.log_weights)[0] if static is None else int(static)


def fixed(parts: Iterable[tf.Tensor]) -> list[tf.Tensor]:
    """Tensors as constants: no gradient flows into them."""
    return [tf.stop_gradient(part) for part in parts]
