"""Preconditioned stochastic gradient Langevin dynamics.

    V ← αV + (1 − α) g⊙g,      G = 1/(λ + √V)
    θ ← θ + ℓ G⊙g + N(0, 2ηG),      η = ℓT

The first gradient sets V = g⊙g: from V = 0 the first step would be up to 1/√(1 − α) times too long, ten times at
α = 0.99.

As the paper does in practice, the term ηΓ, Γᵢ = ∂Gᵢᵢ/∂θᵢ, is left out of the drift: within a step it is of order
1 − α, and at a given ℓ so is the bias of the invariant law, besides that of the finite step. As α → 1 V becomes a
constant, the mean of g⊙g, and the chain is SGLD with the step ℓG. The bias does not vanish with ℓ: where the 1/(1 − α)
steps that V remembers are too few for θ to cross the posterior, V is a function of θ, and the density left invariant
tends to exp(log target / T)/G. Gradient noise that outweighs the mean gradient keeps V, and with it G, constant.

λ bounds the variance of the noise by 2η/λ, in the entries where the gradient vanishes.

Source: Li, Chen, Carlson and Carin, "Preconditioned stochastic gradient Langevin dynamics for deep neural networks",
AAAI 2016, algorithm 1 (there with ε = 2ℓ/N, the gradient of the full log posterior in the drift, and its mean over the
rows in V).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common.checks import nonnegative_number, numbers_known, positive_number
from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.momentum import normals

if TYPE_CHECKING:
    from tfdsmcmc._common.types import GradientFn, LearningRate, Nest, Number


class PreconditionedSGLDResults(NamedTuple):
    """Kernel results.

    Attributes:
      square_average: V, of the structure of the state; 0 before the first gradient.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient or new state was not finite.
    """

    square_average: Nest
    step: tf.Tensor
    skipped_steps: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class PreconditionedSGLD(StochasticGradientKernel):
    """SGLD whose step in each entry of θ is in inverse proportion to the size of its gradients.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      learning_rate: ℓ, a number or a schedule; θ moves by about ℓ at first, whatever the scale of g.
      decay: α, in [0, 1]; V remembers about 1/(1 − α) gradients, at 1 only the first.
      epsilon: λ, positive, in the units of g.
      temperature: T; 1/N where g is the gradient of the log posterior over N.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import tensorflow_probability as tfp, tfdsmcmc as ds
    >>> kernel = ds.mcmc.PreconditionedSGLD(lambda x, seed: [-x], learning_rate=0.1)
    >>> chain = tfp.mcmc.sample_chain(5, current_state=[1.0], kernel=kernel, trace_fn=None, seed=[0, 1])
    >>> chain[0].shape
    TensorShape([5])
    """

    def __init__(
        self,
        gradient_fn: GradientFn | None = None,
        learning_rate: LearningRate = 0.01,
        decay: float = 0.99,
        epsilon: float = 1e-5,
        temperature: Number = 1.0,
        name: str = "preconditioned_sgld",
    ):
        nonnegative_number("decay", decay)
        if np.any(numbers_known(decay) > 1):
            raise ValueError(f"decay must be at most 1. Received: decay={decay!r}")
        positive_number("epsilon", epsilon)
        super().__init__(gradient_fn, temperature, name, learning_rate=learning_rate, decay=decay, epsilon=epsilon)

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        zeros = tf.nest.pack_sequence_as(init_state, [tf.zeros_like(part) for part in parts])
        return PreconditionedSGLDResults(square_average=zeros, **counts)

    def _update(self, parts, gradients, results, step_size, seed):
        first = tf.equal(results.step, results.skipped_steps)  # no gradient has been finite so far
        moved, averages = [], []
        old = tf.nest.flatten(results.square_average)
        for p, v, g, n in zip(parts, old, gradients, normals(parts, seed)):
            rate, eta, decay, epsilon = (tf.cast(value, p.dtype) for value in (*step_size, *self._settings))
            v = tf.where(first, tf.square(g), decay * v + (1.0 - decay) * tf.square(g))
            scale = 1.0 / (epsilon + tf.sqrt(v))
            moved.append(p + rate * scale * g + tf.sqrt(2.0 * eta * scale) * n)
            averages.append(v)
        return moved, results._replace(square_average=tf.nest.pack_sequence_as(results.square_average, averages))

    @property
    def _settings(self):
        return self.parameters["decay"], self.parameters["epsilon"]
