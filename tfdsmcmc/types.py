"""Protocols and named tuples that cross rooms.

Shapes: data B, samples K, chains C lead; units last. `z` is a list of tensors (…, H), nearest to the data first.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import tensorflow as tf


class WeightedLatents(NamedTuple):
    """Draws of the latent variables given the data, with their weights.

    Attributes:
      z: list of tensors (K, B, H_l), nearest to the data first.
      log_weights: (K, B), up to a constant for each row the logarithms of the weights that gradients give the draws:
        log p(x, z) − log q(z given x) for importance samples; zeros where all draws weigh alike.
      log_likelihood: (B,), an estimate of log p(x) to show beside the learning, or None: then log (1/K) Σ_k w_k is.
    """

    z: list[tf.Tensor]
    log_weights: tf.Tensor
    log_likelihood: tf.Tensor | None = None


class WeightedCompletions(NamedTuple):
    """Draws of the latent variables and of the missing entries of the data, with their weights.

    Attributes:
      x: (K, B, D), the data with draws in the gaps.
      z, log_weights, log_likelihood: as of `WeightedLatents`.
    """

    x: tf.Tensor
    z: list[tf.Tensor]
    log_weights: tf.Tensor
    log_likelihood: tf.Tensor | None = None


class Kernel(Protocol):
    """How the weights θ move: a `tfp.mcmc.TransitionKernel` that can hand on what the gradient drew."""

    learning_rate: Any
    temperature: Any

    def copy(self, **parameters):
        """Returns the kernel with some parameters replaced."""

    def bootstrap_results(self, init_state, seed=None):
        """Returns the results that belong to an initial state."""

    def integrate(self, gradient_fn, state, previous_kernel_results, seed):
        """One step with `gradient_fn(*state_parts, seed=seed) → (gradients, aux)`.

        Returns (state, kernel_results, aux).
        """
