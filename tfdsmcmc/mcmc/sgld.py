"""Stochastic gradient Langevin dynamics.

    θ ← θ + ℓ g + N(0, 2η),      η = ℓT

Source: Welling and Teh, "Bayesian learning via stochastic gradient Langevin dynamics", ICML 2011, equation 4
(there with ε = 2ℓ/N and the gradient of the full log posterior).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import keras
import tensorflow as tf

from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.momentum import check_integrator, normals

if TYPE_CHECKING:
    from tfdsmcmc._common.types import GradientFn, LearningRate, Number


class SGLDResults(NamedTuple):
    """Kernel results: step and skipped_steps, int32 scalars."""

    step: tf.Tensor
    skipped_steps: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class SGLD(StochasticGradientKernel):
    """Overdamped Langevin dynamics with stochastic gradients.

    For log target −λθ²/2 at T = 1 the variance of the chain is 1/(λ(1 − ℓλ/2)); noise of variance s² in g adds
    ℓ²s²/(1 − (1 − ℓλ)²).

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      learning_rate: ℓ, a number or a schedule.
      temperature: T; 1/N where g is the gradient of the log posterior over N.
      integrator: "euler", the only one.

    Raises:
      ValueError: for a learning rate or temperature out of range, or an unknown integrator.

    Example:

    >>> import tensorflow_probability as tfp, tfdsmcmc as ds
    >>> kernel = ds.mcmc.SGLD(lambda x, seed: [-x], learning_rate=0.1)
    >>> chain = tfp.mcmc.sample_chain(5, current_state=[0.0], kernel=kernel, trace_fn=None, seed=[0, 1])
    >>> chain[0].shape
    TensorShape([5])
    """

    def __init__(
        self,
        gradient_fn: GradientFn | None = None,
        learning_rate: LearningRate = 0.01,
        temperature: Number = 1.0,
        integrator: Literal["euler"] = "euler",
        name: str = "sgld",
    ):
        integrator = check_integrator(integrator, ("euler",))
        super().__init__(gradient_fn, temperature, name, learning_rate=learning_rate, integrator=integrator)

    @property
    def noise_tolerance(self) -> float | None:
        """0.1, as noise adds h to the variance of θ."""
        return 0.1

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        return SGLDResults(**counts)

    def _update(self, parts, gradients, results, step_size, seed):
        rate, eta = step_size
        scale = tf.sqrt(2.0 * eta)
        moved = [
            p + tf.cast(rate, p.dtype) * g + tf.cast(scale, p.dtype) * n
            for p, g, n in zip(parts, gradients, normals(parts, seed))
        ]
        return moved, results
