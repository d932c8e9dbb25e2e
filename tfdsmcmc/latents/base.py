"""The contract of a sampler of the latent variables given the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, DType, Seed, TensorLike, WeightedCompletions, WeightedLatents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


class Latents:
    """Base class: a subclass returns from `draw` the latent variables given the data, with weights.

    Attributes:
      num_samples: K, the draws for each row.
      weights_all_alike: whether draws of the recognition network itself come with equal weights, from which an
        objective that fits it to weighted draws could learn nothing.
      importance_weighted: whether draws of the recognition network come with importance weights.
      persistent: whether each row of the data keeps a Markov chain over z from epoch to epoch; `start` begins it.
      draw_missing: whether missing entries of x are drawn too, so that the data layer may be of any kind.
      climbing: the `Latents` that stand in for these while an optimizer climbs before θ is sampled, or None.
    """

    num_samples: int
    weights_all_alike = False
    importance_weighted = False
    persistent = False
    draw_missing = False
    climbing: Latents | None = None

    def check(self, generative: GenerativeNetwork) -> None:
        """Raises a ValueError, before anything is compiled, for a network that does not suit."""

    def warm_up_of(self, latent_units: int) -> int:
        """Over how many updates of an optimizer the weights of draws warm up, for so many latent units in all.

        With more than 0 `draw` must take the argument `latent_power` too, see `NAIS`.
        """
        del latent_units
        return 0

    def draw(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
        carry: Sequence[tf.Tensor] | None = None,
    ) -> tuple[WeightedLatents | WeightedCompletions, list[tf.Tensor] | None]:
        """Draws z and its log-weights.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor, or `Rows` where entries are missing.
          seed: integer, or int32 tensor of shape (2,).
          carry: where the Markov chains over z of these rows stand; None for new ones.

        Returns:
          (`WeightedLatents`, the carry that the next call takes, or None).
        """
        raise NotImplementedError(f"{type(self).__name__} must define draw(generative, recognition, x, seed, carry).")

    def start(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
    ) -> list[tf.Tensor]:
        """The carry of new chains, list of tensors (B, units): of persistent samplers."""
        raise NotImplementedError(f"{type(self).__name__} keeps no chains: it does not define start.")

    def carried_parts(self, generative: GenerativeNetwork) -> list[tuple[int, DType]]:
        """What is kept of each row: a list of pairs (units, type), of bits "uint8"."""
        return [(units, "uint8") for units in generative.latent_units]

    def get_config(self) -> Config:
        return {"num_samples": self.num_samples}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)
