"""Protocols and named tuples that cross rooms.

Shapes: data B, samples K, chains C lead; units last. `z` is a list of tensors (…, H), nearest to the data first.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import tensorflow as tf


class _Weighted(NamedTuple):
    z: list[tf.Tensor]
    log_weights: tf.Tensor


class WeightedLatents(_Weighted):
    """Draws of the latent variables given the data, with their weights: a pair (z, log_weights).

    Attributes:
      z: list of tensors (K, B, H_l), nearest to the data first.
      log_weights: (K, B), up to a constant for each row the logarithms of the weights that gradients give the draws:
        log p(x, z) − log q(z given x) for importance samples; zeros where all draws weigh alike.
      log_likelihood: (B,), an estimate of log p(x) to show beside the learning, or None: then log (1/K) Σ_k w_k is.
    """

    log_likelihood = None

    def __new__(cls, z, log_weights, log_likelihood=None):
        self = super().__new__(cls, z, log_weights)
        self.log_likelihood = log_likelihood
        return self


class Latents(Protocol):
    """How z is drawn given x, and with which weights.

    Two more are optional: `check(generative)` raises a ValueError at `compile` for networks that do not suit; and with
    `persistent = True` a method `start(generative, recognition, x, seed)` gives the carry of new chains.
    """

    num_samples: int

    def draw(self, generative, recognition, x, seed, carry=None) -> tuple[WeightedLatents, Any]:
        """Returns the draws and the carry that the next call takes (a Markov chain over z, or None)."""


class Proposal(Protocol):
    """How the recognition network learns; `proposals.Proposal` has defaults for all but `surrogate`.

    Optional are `check(generative, recognition, latents)`, which raises a ValueError at `compile` for what does not
    suit, and `build(units)`, which makes variables of its own.
    """

    optimizer: Any
    redraw: bool
    trainable_variables: list
    variables: list

    def surrogate(self, generative, recognition, x, latents: WeightedLatents, seed) -> tf.Tensor:
        """Returns a scalar whose gradient in φ, with draws and weights held fixed, is the ascent direction."""


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
