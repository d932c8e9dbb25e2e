"""The gradient of a model with latent variables, by Fisher's identity.

    ∇ log p(x; θ) = E[∇ log p(x, z; θ) given x]
    g = ∇ log p(θ given λ)/N + mean_B Σ_k w̃_k ∇ log p(x, z_k; θ),     w̃ = softmax(log w),     (z, log w) = latents.draw

Of weighted rows N is the sum of their weights, and mean_B the mean in which each counts as its weight says
(`rows.weighted_source`).

Source: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018), equations 9 to 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.streams import log_mean_exp
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.rows import mean_over_rows
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.rows.rows import Rows


class FisherIdentity(GradientEstimator):
    """Weighted draws of the latent variables in place of their posterior.

    Args:
      generative: `GenerativeNetwork`, with weights θ.
      recognition: `RecognitionNetwork`.
      prior: `Prior` of θ.
      latents: how z is drawn.
    """

    generative: GenerativeNetwork
    recognition: RecognitionNetwork
    prior: Prior
    latents: Latents
    carries: Literal["row", "run"] | None
    fills_gaps: bool
    takes_weights = True
    metric_names: tuple[str, ...] = ("log_likelihood", "effective_sample_size")

    def __init__(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior, latents: Latents):
        self.generative, self.recognition = generative, recognition
        self.prior, self.latents = prior, latents
        self.carries, self.fills_gaps = "row" if latents.persistent else None, latents.draw_missing
        self.burn_in = getattr(latents, "burn_in", 0)
        self.warm_up = latents.warm_up_of(sum(generative.latent_units))

    def gradient(
        self,
        weights: Sequence[tf.Tensor],
        x: TensorLike | Rows,
        num_rows: Number,
        auxiliary: Sequence[tf.Tensor],
        carry: Nest,
        seed: Seed,
        prior_weight: Number = 1.0,
        latent_power: Number = 1.0,
    ) -> tuple[list[tf.Tensor], Nest, Nest]:
        names, variables = zip(*self.generative.named_weights)
        weights = list(weights)
        with tf.GradientTape(watch_accessed_variables=False) as tape, evaluated_at(variables, weights):
            with tape.stop_recording():
                latents, carry = self._draw(x, carry, seed, latent_power)
                shares = tf.nn.softmax(latents.log_weights, axis=0)
            tape.watch(weights)
            log_joint = self.generative.log_joint(getattr(latents, "x", x), latents.z)
            objective = mean_over_rows(tf.reduce_sum(shares * log_joint, 0), x)
            if tf.is_tensor(prior_weight) or prior_weight:  # a program of the climb is traced without the prior
                objective += prior_weight * self.prior.log_prob(names, weights, auxiliary) / num_rows
        return tape.gradient(objective, weights, unconnected_gradients="zero"), latents, carry

    def draw(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows, carry: Nest, seed: Seed) -> tuple[Nest, Nest]:
        with evaluated_at(self.generative.trainable_variables, weights):
            return self._draw(x, carry, seed)

    def start(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows | None, seed: Seed) -> Nest:
        with evaluated_at(self.generative.trainable_variables, weights):
            z = self.latents.start(self.generative, self.recognition, x, seed)
        return self._stored(z)

    def no_rows(self) -> list[np.ndarray]:
        return [np.zeros((0, units), dtype) for units, dtype in self.latents.carried_parts(self.generative)]

    def metrics(self, draws: Nest) -> dict[str, tf.Tensor]:
        shares = tf.nn.softmax(draws.log_weights, axis=0)
        size = 1.0 / tf.reduce_sum(tf.square(shares), 0)
        return {"log_likelihood": tf.reduce_mean(draws.log_likelihood), "effective_sample_size": tf.reduce_mean(size)}

    def _draw(self, x, carry, seed, latent_power=1.0):
        """(draws, carry), the bits of the carry in one byte each."""
        carry = None if carry is None else [tf.cast(part, tf.float32) for part in carry]
        power = {"latent_power": latent_power} if self.warm_up else {}
        latents, moved = self.latents.draw(self.generative, self.recognition, x, seed, carry, **power)
        if latents.log_likelihood is None:
            latents = latents._replace(log_likelihood=log_mean_exp(latents.log_weights))
        return latents, None if carry is None else self._stored(moved)

    def _stored(self, carry):
        """The parts of a carry in their types."""
        parts = self.latents.carried_parts(self.generative)
        return [tf.cast(part, dtype) for part, (_, dtype) in zip(carry, parts, strict=True)]
