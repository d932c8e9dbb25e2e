"""Stochastic gradient Hamiltonian Monte Carlo.

    splitting   v ← v + ℓ g;   θ ← θ + v/2;   v ← e⁻ᵃ v + N(0, η(1 − e⁻²ᵃ));   θ ← θ + v/2
    Euler       v ← (1 − a) v + ℓ g + N(0, 2aη);   θ ← θ + v                     η = ℓT

A schedule or another N changes η: the splitting then rescales v by the root of the ratio, so that v ~ N(0, η) stays
true.

The splitting is BAOAB taken from kick to kick, so that a step needs one gradient: θ has the law of BAOAB, which
on a Gaussian is exact at every stable step size (ℓλ < 4).

Noise of variance s² in the entries of g brings heat, which is made up for by injecting less, with ŝ² for s²:

    splitting   N(0, max(0, η(1 − e⁻²ᵃ) − ¼(1 + e⁻ᵃ)² ℓ²ŝ²))
    Euler       N(0, max(0, 2aη − ℓ²ŝ²))

Unless it is cut off at 0, where the chain stays too hot, θ then diffuses as without gradient noise. Euler's law is
what it was. In the splitting the noise of the kick moves θ before the friction and after it: in the long run a kick
of 1 moves θ by ½(1 + e⁻ᵃ)/(1 − e⁻ᵃ), an injected 1 by 1/(1 − e⁻ᵃ), whence the factor. On a Gaussian, with k = ℓλ, ŝ²
= s² and D = (ℓs)²/(η(1 − k/4)),

    Var θ = T/λ (1 + D k/(16 tanh(a/2))),      E v²/η = 1 + D (k/(16 tanh(a/2)) − (1 + 3e⁻ᵃ)/(4 + 4e⁻ᵃ))

so θ is right up to the order of ℓλ, while v, as it is after the friction, has about (ℓs)²/(2η) less than η. Without the
correction the excess of both is about (ℓs)²/(2aη).

ŝ² may be estimated, entry by entry, from the gradients of successive steps, whose mean hardly differs:

    ŝ² ← ŝ² + max(1 − β, 1/m) (½(g_t − g_{t−1})² − ŝ²)

at the m-th difference, so the plain mean of the first 1/(1 − β). On a Gaussian its expectation is
s² (1 + ℓλr) + λ² E(θ_t − θ_{t−1})²/2, r = (1 + e⁻ᵃ)/2 for the splitting and 1 for Euler: too large by the order of ℓλ
of s², and by about η λ²/2, which takes (ℓλ)²/2 of η from the injected variance: a fraction of (ℓλ)²/4a of it, and about
that of Var θ, at ℓλ = 0.2 and a = 0.1 10 % for Euler and 9 % for the splitting. It sees only noise that is drawn anew
each step: not that of a minibatch which several steps share.

Sources: Chen, Fox and Guestrin, "Stochastic gradient Hamiltonian Monte Carlo", ICML 2014, equation 15 (Euler; there
2(C − B̂)η is injected, with 2B̂η = (ℓŝ)²);
Leimkuhler and Matthews, "Rational construction of stochastic numerical methods for molecular sampling", Applied
Mathematics Research eXpress 2013 (BAOAB).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common.checks import nonnegative_number, numbers_known
from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.momentum import (
    check_friction,
    check_integrator,
    friction_of_a_step,
    initial_momentum,
    mean_square,
    normals,
    rescaled,
)
from tfdsmcmc.mcmc.rates_by_noise import noise_estimate

if TYPE_CHECKING:
    from tfdsmcmc._common.types import GradientFn, Integrator, KernelResults, LearningRate, Nest, Number


class SGHMCResults(NamedTuple):
    """Kernel results.

    Attributes:
      momentum: v, of the structure of the state.
      kinetic_temperature: mean of v²/η after the step, 1 where the chain is as hot as it should be.
      eta: η of the step.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient or new state was not finite.
      noise_variance: ŝ², of the structure of the state; empty unless it is estimated, like the next.
      previous_gradient: g of the last step that was not skipped.
    """

    momentum: Nest
    kinetic_temperature: tf.Tensor
    eta: tf.Tensor
    step: tf.Tensor
    skipped_steps: tf.Tensor
    noise_variance: Nest = ()
    previous_gradient: Nest = ()


@keras.saving.register_keras_serializable("tfdsmcmc")
class SGHMC(StochasticGradientKernel):
    """Underdamped Langevin dynamics with stochastic gradients.

    Noise in g heats the chain, unless `gradient_noise` tells its size (SGNHT finds the friction that takes the heat
    away, of whatever size). For the law of either integrator on a Gaussian, noise included, solve the discrete
    Lyapunov equation of its linear map.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      learning_rate: ℓ, a number or a schedule.
      friction: a, per step; Euler needs a < 2.
      temperature: T; 1/N where g is the gradient of the log posterior over N.
      integrator: "splitting" or "euler" (the paper's).
      gradient_noise: ŝ², the variance of the noise in an entry of g: a number for all; "estimate"; or None for 0.
      noise_decay: β of the estimate, in [0, 1): it remembers about 1/(1 − β) steps.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> kernel = ds.mcmc.SGHMC(lambda x, seed: [-x], learning_rate=0.1, gradient_noise="estimate")
    >>> results = kernel.bootstrap_results([tf.zeros([3])], seed=0)
    >>> state, results = kernel.one_step([tf.zeros([3])], results, seed=1)
    >>> results.noise_variance[0].numpy()
    array([0., 0., 0.], dtype=float32)
    """

    def __init__(
        self,
        gradient_fn: GradientFn | None = None,
        learning_rate: LearningRate = 0.01,
        friction: Number = 0.1,
        temperature: Number = 1.0,
        integrator: Integrator = "splitting",
        gradient_noise: float | Literal["estimate"] | None = None,
        noise_decay: float = 0.99,
        name: str = "sghmc",
    ):
        check_integrator(integrator)
        check_friction(friction, integrator)
        _check_noise(gradient_noise, noise_decay)
        super().__init__(
            gradient_fn,
            temperature,
            name,
            learning_rate=learning_rate,
            friction=friction,
            integrator=integrator,
            gradient_noise=gradient_noise,
            noise_decay=noise_decay,
        )

    @property
    def adapts_to_gradient_noise(self) -> bool:
        return self._estimates_noise

    @property
    def noise_tolerance(self) -> Number | None:
        """b/10, as noise adds about h/b to the variance of θ; 0.4b where it is estimated and made up for, which can be
        done up to b. For Euler b = a, for the splitting b = 2 tanh(a/2). None where ŝ² is given, which belongs to one
        ℓ."""
        given = None if self._estimates_noise else self.parameters["gradient_noise"]
        if given is not None and (tf.is_tensor(given) or given > 0):
            return None
        friction = friction_of_a_step(self.parameters["friction"], self.parameters["integrator"])
        return (0.4 if self._estimates_noise else 0.1) * friction

    def kinetic_temperature(self, kernel_results: KernelResults) -> tf.Tensor:
        return kernel_results.kinetic_temperature

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        momentum = initial_momentum(parts, step_size[1], seed)
        zeros = tf.nest.pack_sequence_as(init_state, [tf.zeros_like(part) for part in parts])
        memory = {"noise_variance": zeros, "previous_gradient": zeros} if self._estimates_noise else {}
        return SGHMCResults(
            momentum=tf.nest.pack_sequence_as(init_state, momentum),
            kinetic_temperature=tf.math.divide_no_nan(mean_square(momentum), tf.cast(step_size[1], parts[0].dtype)),
            eta=step_size[1],
            **counts,
            **memory,
        )

    def _update(self, parts, gradients, results, step_size, seed):
        splitting = self.parameters["integrator"] == "splitting"
        move = _splitting if splitting else _euler
        friction = self.parameters["friction"]
        old = tf.nest.flatten(results.momentum)
        old = rescaled(old, step_size[1], results.eta) if splitting else old
        variances, results = self._noise_variances(gradients, results)
        moved, momentum = [], []
        for p, v, g, n, variance in zip(parts, old, gradients, normals(parts, seed), variances):
            rate, eta, a = (tf.cast(value, p.dtype) for value in (*step_size, friction))
            p, v = move(p, v, g, n, rate, eta, a, rate * rate * tf.cast(variance, p.dtype))
            moved.append(p)
            momentum.append(v)
        temperature = tf.math.divide_no_nan(mean_square(momentum), tf.cast(step_size[1], parts[0].dtype))
        momentum = tf.nest.pack_sequence_as(results.momentum, momentum)
        return moved, results._replace(momentum=momentum, kinetic_temperature=temperature, eta=step_size[1])

    @property
    def _estimates_noise(self):
        noise = self.parameters["gradient_noise"]
        return isinstance(noise, str) and noise == "estimate"

    def _noise_variances(self, gradients, results):
        """(ŝ² for each part, results with what the estimate remembers)."""
        if not self._estimates_noise:
            noise = self.parameters["gradient_noise"]
            return [0.0 if noise is None else noise] * len(gradients), results
        differences = results.step - results.skipped_steps  # this one counted, as the first gradient has none
        structure, previous = results.noise_variance, tf.nest.flatten(results.previous_gradient)
        count = tf.cast(differences, gradients[0].dtype)
        least = 1.0 - tf.cast(self.parameters["noise_decay"], count.dtype)
        weight = tf.maximum(least, tf.math.reciprocal_no_nan(count))
        weight = tf.where(differences > 0, weight, tf.zeros_like(weight))
        variances = noise_estimate(tf.nest.flatten(structure), gradients, previous, weight)
        return variances, results._replace(
            noise_variance=tf.nest.pack_sequence_as(structure, variances),
            previous_gradient=tf.nest.pack_sequence_as(structure, gradients),
        )


def _splitting(p, v, g, noise, rate, eta, a, heat):
    """`heat` is the variance of the noise in ℓg."""
    v += rate * g
    p += 0.5 * v
    injected = -eta * tf.math.expm1(-2.0 * a) - tf.square(0.5 + 0.5 * tf.exp(-a)) * heat
    v = tf.exp(-a) * v + tf.sqrt(tf.maximum(injected, 0.0)) * noise
    return p + 0.5 * v, v


def _euler(p, v, g, noise, rate, eta, a, heat):
    v = (1.0 - a) * v + rate * g + tf.sqrt(tf.maximum(2.0 * a * eta - heat, 0.0)) * noise
    return p + v, v


def _check_noise(gradient_noise, noise_decay):
    """Raises a ValueError for a variance that is none, or a decay outside [0, 1)."""
    if isinstance(gradient_noise, str):
        if gradient_noise != "estimate":
            raise ValueError(
                f"gradient_noise must be a number, None or 'estimate'. Received: gradient_noise={gradient_noise!r}"
            )
    elif gradient_noise is not None:
        nonnegative_number("gradient_noise", gradient_noise)
    nonnegative_number("noise_decay", noise_decay)
    if np.any(numbers_known(noise_decay) >= 1):
        raise ValueError(f"noise_decay must be below 1. Received: noise_decay={noise_decay!r}")
