"""Neural adaptive importance sampling.

    z_k ~ q(z given x; φ),      log w_k = log p(x, z_k; θ) − log q(z_k given x; φ),      k = 1, …, K

The self-normalised weights w̃ = softmax(log w) turn the draws into posterior expectations, with a bias of order 1/K:

    ∇ log p(x; θ) = E[∇ log p(x, z; θ) given x] ≈ Σ_k w̃_k ∇ log p(x, z_k; θ)

Methods that raise the evidence lower bound (NVIL, the variational autoencoder) give all draws the weight 1/K instead:

    ∇_θ E_q[log p(x, z; θ) − log q(z given x)] = E_q[∇_θ log p(x, z; θ)] ≈ (1/K) Σ_k ∇ log p(x, z_k; θ)

The bias matters where a chain rests, not on the way there: an optimizer that climbs before θ is sampled
(`mcmc.WarmStart`) may take fewer draws, which cost less. Reweighted wake-sleep ends its runs with more draws likewise.

Sources: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018); Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf

from tfdsmcmc._common.checks import positive_integer
from tfdsmcmc._common.streams import log_mean_exp
from tfdsmcmc._common.types import WeightedLatents
from tfdsmcmc.latents.base import Latents

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed, TensorLike
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows

_WEIGHTS = ("importance", "uniform")


@keras.saving.register_keras_serializable("tfdsmcmc")
class NAIS(Latents):
    """Importance samples from the recognition network.

    Args:
      num_samples: K, the draws for each row.
      weights: "importance" for the gradient of log p(x), "uniform" for that of the evidence lower bound.
      climbing_samples: K while an optimizer climbs before θ is sampled; by default `num_samples`.

    Raises:
      ValueError: if a number of draws is no positive integer, or `weights` neither.
    """

    def __init__(
        self,
        num_samples: int = 5,
        weights: Literal["importance", "uniform"] = "importance",
        climbing_samples: int | None = None,
    ):
        self.num_samples: int = positive_integer("num_samples", num_samples)
        if climbing_samples is not None:
            climbing_samples = positive_integer("climbing_samples", climbing_samples)
        self.climbing_samples: int | None = climbing_samples
        if weights not in _WEIGHTS:
            raise ValueError(f"weights is one of {list(_WEIGHTS)}. Received: weights={weights!r}")
        self.weights = weights
        self.weights_all_alike: bool = weights == "uniform"

    @property
    def climbing(self) -> Latents | None:
        alike = self.climbing_samples in (None, self.num_samples)
        return None if alike else NAIS(self.climbing_samples, self.weights)

    def draw(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
        carry: Sequence[tf.Tensor] | None = None,
    ) -> tuple[WeightedLatents, None]:
        """Draws z and its log-weights.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor or `Rows`.
          seed: integer, or int32 tensor of shape (2,).
          carry: not used; importance samples are independent.

        Returns:
          (`WeightedLatents`, None): z a list of (K, B, H_l), log_weights (K, B), which are zeros for uniform weights;
          its estimate of log p(x) is log (1/K) Σ_k w_k, or for uniform weights the evidence lower bound
          (1/K) Σ_k log w_k.
        """
        z, log_q = recognition.sample_and_log_prob(x, self.num_samples, seed)
        log_weights = generative.log_joint(x, z) - log_q
        if self.weights == "uniform":
            return WeightedLatents(z, tf.zeros_like(log_weights), tf.reduce_mean(log_weights, 0)), None
        return WeightedLatents(z, log_weights, log_mean_exp(log_weights)), None

    def get_config(self) -> Config:
        return {
            "num_samples": self.num_samples,
            "weights": self.weights,
            "climbing_samples": self.climbing_samples,
        }
