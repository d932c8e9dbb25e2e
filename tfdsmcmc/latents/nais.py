"""Neural adaptive importance sampling.

    z_k ~ q(z given x; φ),      log w_k = log p(x, z_k; θ) − log q(z_k given x; φ),      k = 1, …, K

The self-normalised weights w̃ = softmax(log w) turn the draws into posterior expectations, with a bias of order 1/K:

    ∇ log p(x; θ) = E[∇ log p(x, z; θ) given x] ≈ Σ_k w̃_k ∇ log p(x, z_k; θ)

Methods that raise the evidence lower bound (NVIL, the variational autoencoder) give all draws the weight 1/K instead:

    ∇_θ E_q[log p(x, z; θ) − log q(z given x)] = E_q[∇_θ log p(x, z; θ)] ≈ (1/K) Σ_k ∇ log p(x, z_k; θ)

The bias matters where a chain rests, not on the way there: an optimizer that climbs before θ is sampled
(`mcmc.WarmStart`) may take fewer draws, which cost less. Reweighted wake-sleep ends its runs with more draws likewise.

A climb may warm up: at its beginning what the units of z cost counts less than what they explain of the row,

    log w_k = log p(x given z_1) + Σ_l β^l (log p(z_l given z_{l+1}; θ) − log q(z_l given z_{l−1}; φ)),      z_0 = x

where β rises from 0 to 1. They weigh draws of q for the density p(x given z_1) Π_l q^{1−β^l} p^{β^l} over z, up to a
constant. At random weights a unit explains little yet, and p(z) may learn that it is off, or on, whatever the row,
before it tells rows apart; at β = 1 from the start fewer units of a wide and deep network come into use. A layer
further up learns from p(z_{l−1} given z_l), which counts for more than its own costs as long as β^{l−1} > β^l. Networks
of up to 150 units gained nothing by it on the whole (docs/study_appendix.md, "Climbs that warm up").

Sources: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018); Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015, section 4;
Sønderby, Raiko, Maaløe, Sønderby and Winther, "Ladder variational autoencoders", NeurIPS 2016, section 2.2, warm up a
bound's divergence from the prior by one factor β for all layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf

from tfdsmcmc._common.checks import nonnegative_integer, one_of, positive_integer
from tfdsmcmc._common.streams import log_mean_exp
from tfdsmcmc._common.types import WeightedLatents
from tfdsmcmc.latents.base import Latents

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Number, Seed, TensorLike
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows

_WEIGHTS = ("importance", "uniform")
_LONGEST, _NARROW = 500, 150  # updates, latent units
_MOST = 2**31 - 1


@keras.saving.register_keras_serializable("tfdsmcmc")
class NAIS(Latents):
    """Importance samples from the recognition network.

    Args:
      num_samples: K, the draws for each row.
      weights: "importance" for the gradient of log p(x), "uniform" for that of the evidence lower bound.
      climbing_samples: K while an optimizer climbs before θ is sampled; by default `num_samples`.
      warm_up: updates w of an optimizer over which β rises from 0 to 1, or a tenth of a planned climb, that of
        `mcmc.WarmStart`, where that is shorter, anew in each attempt; "auto" for 500 (1 − 150/U) with U > 150 latent
        units, and none with fewer; 0 for β = 1 from the start. Where θ is sampled β is 1. φ learns by these weights
        where its proposal learns from the draws of θ, as `proposals.WakeSleep` does, but not by `Wake(redraw=True)`,
        `NVIL` or `IWAE`. The metric `effective_sample_size` is that of these weights.

    Raises:
      ValueError: if a number of draws is no positive integer, `weights` neither, or `warm_up` negative, neither an
        integer below 2³¹ nor "auto", or not 0 for uniform weights, which do not depend on β.
    """

    def __init__(
        self,
        num_samples: int = 5,
        weights: Literal["importance", "uniform"] = "importance",
        climbing_samples: int | None = None,
        warm_up: int | Literal["auto"] = 0,
    ):
        self.num_samples: int = positive_integer("num_samples", num_samples)
        if climbing_samples is not None:
            climbing_samples = positive_integer("climbing_samples", climbing_samples)
        self.climbing_samples: int | None = climbing_samples
        one_of("weights", weights, _WEIGHTS)
        self.weights = weights
        if not (isinstance(warm_up, str) and warm_up == "auto"):
            warm_up = nonnegative_integer("warm_up", warm_up)
            if warm_up > _MOST:
                raise ValueError(f"A warm-up lasts at most 2³¹ − 1 updates. Received: warm_up={warm_up}")
        self.warm_up: int | Literal["auto"] = warm_up
        if warm_up and weights == "uniform":
            raise ValueError(f"Uniform weights do not warm up. Received: warm_up={warm_up!r}, weights={weights!r}")
        self.weights_all_alike: bool = weights == "uniform"
        self.importance_weighted: bool = not self.weights_all_alike

    @property
    def climbing(self) -> Latents | None:
        alike = self.climbing_samples in (None, self.num_samples)
        return None if alike else NAIS(self.climbing_samples, self.weights, warm_up=self.warm_up)

    def warm_up_of(self, latent_units: int) -> int:
        if self.warm_up == "auto":
            return round(_LONGEST * max(0.0, 1.0 - _NARROW / max(1, latent_units)))
        return self.warm_up

    def draw(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
        carry: Sequence[tf.Tensor] | None = None,
        latent_power: Number = 1.0,
    ) -> tuple[WeightedLatents, None]:
        """Draws z and its log-weights.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor or `Rows`.
          seed: integer, or int32 tensor of shape (2,).
          carry: not used; importance samples are independent.
          latent_power: β of the weights, a number or a float32 scalar.

        Returns:
          (`WeightedLatents`, None): z a list of (K, B, H_l), log_weights (K, B), which are zeros for uniform weights;
          its estimate of log p(x) is log (1/K) Σ_k w_k with β = 1, or for uniform weights the evidence lower bound
          (1/K) Σ_k log w_k.
        """
        z, log_q = recognition.sample_and_log_prob_of_layers(x, self.num_samples, seed)
        likelihood, *log_p = generative.log_prob_of_layers(x, z)
        nothing = tf.zeros([self.num_samples, tf.shape(likelihood)[-1]])  # of a model without latent layers
        log_weights = sum(log_p, likelihood) - sum(log_q, nothing)
        if self.weights == "uniform":
            return WeightedLatents(z, tf.zeros_like(log_weights), tf.reduce_mean(log_weights, 0)), None
        estimate = log_mean_exp(log_weights)
        if tf.is_tensor(latent_power) or latent_power != 1.0:
            terms = enumerate(zip(log_p, log_q, strict=True), 1)
            log_weights = sum(((latent_power**i - 1.0) * (p - q) for i, (p, q) in terms), log_weights)
        return WeightedLatents(z, log_weights, estimate), None

    def get_config(self) -> Config:
        return {
            "num_samples": self.num_samples,
            "weights": self.weights,
            "climbing_samples": self.climbing_samples,
            "warm_up": self.warm_up,
        }
