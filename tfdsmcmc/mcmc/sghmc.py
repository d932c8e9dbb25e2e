"""Stochastic gradient Hamiltonian Monte Carlo.

    splitting   v ← v + ℓ g;   θ ← θ + v/2;   v ← e⁻ᵃ v + N(0, η(1 − e⁻²ᵃ));   θ ← θ + v/2
    Euler       v ← (1 − a) v + ℓ g + N(0, 2aη);   θ ← θ + v                     η = ℓT

A schedule or another N changes η: the splitting then rescales v by the root of the ratio, so that v ~ N(0, η) stays
true.

The splitting is BAOAB taken from kick to kick, so that a step needs one gradient: θ has the law of BAOAB, which
on a Gaussian is exact at every stable step size (ℓλ < 4).

Sources: Chen, Fox and Guestrin, "Stochastic gradient Hamiltonian Monte Carlo", ICML 2014, equation 15 (Euler);
Leimkuhler and Matthews, "Rational construction of stochastic numerical methods for molecular sampling", Applied
Mathematics Research eXpress 2013 (BAOAB).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from tfdsmcmc.mcmc.base import (
    StochasticGradientKernel,
    check_friction,
    check_integrator,
    initial_momentum,
    mean_square,
    normals,
    rescaled,
)


class SGHMCResults(NamedTuple):
    """Kernel results.

    Attributes:
      momentum: v, of the structure of the state.
      kinetic_temperature: mean of v²/η after the step, 1 where the chain is as hot as it should be.
      eta: η of the step.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient was not finite.
    """

    momentum: Any
    kinetic_temperature: tf.Tensor
    eta: tf.Tensor
    step: tf.Tensor
    skipped_steps: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class SGHMC(StochasticGradientKernel):
    """Underdamped Langevin dynamics with stochastic gradients.

    Noise in g heats the chain: nothing here corrects for it (SGNHT does). For the law of either integrator on a
    Gaussian, noise included, solve the discrete Lyapunov equation of its linear map.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      learning_rate: ℓ, a number or a schedule.
      friction: a, per step; Euler needs a < 2.
      temperature: T; 1/N where g is the gradient of the log posterior over N.
      integrator: "splitting" or "euler" (the paper's).

    Raises:
      ValueError: for an argument out of range.
    """

    def __init__(
        self, gradient_fn=None, learning_rate=0.01, friction=0.1, temperature=1.0, integrator="splitting", name="sghmc"
    ):
        check_integrator(integrator)
        check_friction(friction, integrator)
        super().__init__(gradient_fn, learning_rate, temperature, name, friction=friction, integrator=integrator)

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        momentum = initial_momentum(parts, step_size[1], seed)
        return SGHMCResults(
            momentum=tf.nest.pack_sequence_as(init_state, momentum),
            kinetic_temperature=tf.math.divide_no_nan(mean_square(momentum), tf.cast(step_size[1], parts[0].dtype)),
            eta=step_size[1],
            **counts,
        )

    def _update(self, parts, gradients, results, step_size, seed):
        splitting = self.parameters["integrator"] == "splitting"
        move = _splitting if splitting else _euler
        friction = self.parameters["friction"]
        old = tf.nest.flatten(results.momentum)
        old = rescaled(old, step_size[1], results.eta) if splitting else old
        moved, momentum = [], []
        for p, v, g, n in zip(parts, old, gradients, normals(parts, seed)):
            rate, eta, a = (tf.cast(value, p.dtype) for value in (*step_size, friction))
            p, v = move(p, v, g, n, rate, eta, a)
            moved.append(p)
            momentum.append(v)
        temperature = tf.math.divide_no_nan(mean_square(momentum), tf.cast(step_size[1], parts[0].dtype))
        momentum = tf.nest.pack_sequence_as(results.momentum, momentum)
        return moved, results._replace(momentum=momentum, kinetic_temperature=temperature, eta=step_size[1])


def _splitting(p, v, g, noise, rate, eta, a):
    v += rate * g
    p += 0.5 * v
    v = tf.exp(-a) * v + tf.sqrt(-eta * tf.math.expm1(-2.0 * a)) * noise
    return p + 0.5 * v, v


def _euler(p, v, g, noise, rate, eta, a):
    v = (1.0 - a) * v + rate * g + tf.sqrt(2.0 * a * eta) * noise
    return p + v, v
