"""The reparametrised lower bounds of log p(x), for continuous latent variables.

    z_k = z(ε_k, x; φ),      w_k = p(x, z_k; θ) / q(z_k given x; φ),      k = 1, …, K
    importance   E[log (1/K) Σ_k w_k] ≤ log p(x),      ∇_φ = E[Σ_k w̃_k ∇_φ log w(x, z(ε_k, x; φ))]
    elbo         E[(1/K) Σ_k log w_k],                  the same with 1/K in place of w̃_k

The first tightens as K grows and is the second at K = 1. Both pull q towards the exclusive divergence, so it may miss
modes where the wake phase would cover them; for K > 1 the importance bound minds this less.

Sources: Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016 (equations 8 to 14);
Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc._common import checks
from tfdsmcmc._common.streams import log_mean_exp
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.proposals.base import Proposal, fixed, number_of_samples
from tfdsmcmc.rows import as_rows, mean_over_rows

if TYPE_CHECKING:
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

tfd = tfp.distributions

_BOUNDS = ("importance", "elbo")


@keras.saving.register_keras_serializable("tfdsmcmc")
class IWAE(Proposal):
    """Raises a lower bound of log p(x) in φ, with gradients through the draws.

    It draws for itself, K as many as the latents hold.

    Args:
      optimizer: Keras optimizer of φ, or its name.
      bound: "importance" or "elbo".

    Raises:
      ValueError: if `bound` or `optimizer` is none of those.

    Example:

    >>> import keras, tfdsmcmc as ds
    >>> proposal = ds.proposals.IWAE(keras.optimizers.Adam(1e-3), bound="elbo")
    """

    takes_weights = True

    def __init__(self, optimizer: OptimizerLike = "adam", bound: Literal["importance", "elbo"] = "importance"):
        checks.one_of("bound", bound, _BOUNDS)
        super().__init__(optimizer)
        self.bound = bound

    def check(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        latents: LatentSampler | None = None,
    ) -> None:
        """Checks that all latent variables are continuous and reparametrised.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          latents: any will do.

        Raises:
          ValueError: naming the layers that are not.
        """
        if not recognition.built:
            recognition.build((None, generative.seen_units))
        unfit = [layer.name for layer in generative.layers[:-1] if layer.binary]
        unfit += [layer.name for layer in recognition.layers if not _is_reparametrised(layer)]
        if unfit:
            raise ValueError(
                "IWAE takes gradients through the draws: every latent layer must be continuous, and every recognition "
                f"layer reparametrised. Received: others in the layers {unfit}"
            )

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """mean_B log (1/K) Σ_k w_k or mean_B (1/K) Σ_k log w_k, a scalar to ascend in φ; θ is held fixed.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D).
          latents: `WeightedLatents`, of which only K is used.
          seed: int32 tensor of shape (2,).

        Raises:
          ValueError: as `check`.
        """
        self.check(generative, recognition)
        x = as_rows(x).floats().plain
        z = recognition.sample(x, number_of_samples(latents), seed)
        # the gradient passes through z to φ, not into θ
        theta = generative.trainable_variables
        with evaluated_at(theta, fixed(variable.value for variable in theta)):
            log_joint = generative.log_joint(x, z)
        log_weights = log_joint - recognition.log_prob(z, x)
        if self.bound == "elbo":
            return mean_over_rows(log_weights, x)
        return mean_over_rows(log_mean_exp(log_weights), x)

    def get_config(self) -> Config:
        return {**super().get_config(), "bound": self.bound}


def _is_reparametrised(layer):
    distribution = layer.distribution(tf.zeros([1, layer.parent_units]))
    return distribution.reparameterization_type == tfd.FULLY_REPARAMETERIZED
