"""Stochastic gradient Nosé-Hoover thermostats.

    splitting   v ← v + ℓ g
                θ ← θ + v/2
                ξ ← ξ + (v⊙v − η)/(2μ)
                v ← exp(−ξ) v + N(0, aη (1 − exp(−2ξ))/ξ)
                ξ ← ξ + (v⊙v − η)/(2μ)
                θ ← θ + v/2
    Euler       v ← v − ξ⊙v + ℓ g + N(0, 2aη);   θ ← θ + v;   ξ ← ξ + (v⊙v − η)/μ  (with the new v)

with η = ℓT, started at v ~ N(0, η), ξ = a. The thermostat ξ finds the friction that removes the heat of the
gradient noise, without being told its size, where the noise is drawn anew at each step: what several steps on one
minibatch share (`kernel_steps` above 1) is no heat to it; μ is its mass. The extended system leaves
exp(log target / T) N(v; 0, η) N(ξ; ξ̄, η/μ) invariant as ℓ → 0, so the law of θ does not depend on μ. That is with a ξ
for each entry. One ξ for all n entries (`thermostat="scalar"`) goes by the mean of v⊙v, and has the variance η/(nμ).

Two facts about the Euler scheme, the one of the papers (μ = 1):

- Its friction is a finite step. The thermostat holds E v² = η, hence on a Gaussian of curvature λ, with noise of
  standard deviation s in g, ξ̄ (2 − ξ̄ − ℓλ/2) = 2a + (ℓs)²/η and the variance is (1 − ξ̄/2) T/λ, biased at any
  learning rate. Above 2a + (ℓs)²/η = (1 − ℓλ/4)² no ξ̄ is strong enough: ξ grows past 2 and the chain diverges.
- At a real size μ = 1 is so heavy that the thermostat hardly moves: at η = 2·10⁻⁷ it changes by 2·10⁻⁷ (v²/η − 1) a
  step. With the splitting, `thermostat_mass="auto"` takes μ = 10η/min(a, 1)²: it reacts within some 10ξ̄/min(a, 1)²
  steps, 10/a of them near ξ = a below 1. The standard deviation of an entry's ξ is a/√10, of a above 1 √(a/10): there
  v is forgotten within a step, and ξ must not move by much in one. With Euler μ is 1.

A schedule or another N changes η: the splitting then rescales v by the root of the ratio, so that v ~ N(0, η) stays
true. The splitting has a balance for noise up to (ℓs)² = 2η; beyond, ξ grows slowly, and above twice that θ is too hot.
Within it, where ℓλ is small and (ℓs)² = 2hη, the balance is h coth ξ̄ = 1 − a/ξ̄ and the variance of θ
(1 − ½h tanh(ξ̄/2)) T/λ: 8 % too small at h = ½ and a = 0.1.

Sources: Ding, Fang, Babbush, Chen, Skeel and Neven, "Bayesian sampling using stochastic gradient thermostats",
NIPS 2014 (Euler, scalar ξ); Gan, Chen, Henao, Carlson and Carin, "Scalable deep Poisson factor
analysis for topic modeling", ICML 2015 (elementwise ξ); Leimkuhler and Shang, "Adaptive thermostats for
noisy gradient systems", SIAM Journal on Scientific Computing 38 (2016) (the order of the parts is that of BADODAB).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common.checks import numbers_known, one_of, positive_number
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

if TYPE_CHECKING:
    from tfdsmcmc._common.types import GradientFn, Integrator, KernelResults, LearningRate, Nest, Number

_REACTION = 10.0  # "auto": the thermostat reacts within this many relaxation times 1/a of the momentum
_UNBALANCED = 0.5  # the friction from which on Euler has no balance as ℓ → 0, even without noise


class SGNHTResults(NamedTuple):
    """Kernel results.

    Attributes:
      momentum: v, of the structure of the state.
      thermostat: ξ, of the structure of the state; a scalar for the scalar thermostat.
      kinetic_temperature: mean of v²/η where the thermostat feels it, in the splitting before and after the friction:
        1 where the chain is as hot as it should be.
      eta: η of the step.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient or new state was not finite.
    """

    momentum: Nest
    thermostat: Nest
    kinetic_temperature: tf.Tensor
    eta: tf.Tensor
    step: tf.Tensor
    skipped_steps: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class SGNHT(StochasticGradientKernel):
    """Langevin dynamics whose friction adapts to the gradient noise.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      learning_rate: ℓ, a number or a schedule.
      friction: a, the injected noise and the initial thermostat, per step; Euler needs a < 2, and a < ½ to have a
        balance.
      temperature: T; 1/N where g is the gradient of the log posterior over N.
      thermostat: "elementwise", one ξ for each entry; or "scalar", one for all entries of the state.
      thermostat_mass: μ, a positive number (1 is the papers') or "auto".
      integrator: "splitting" or "euler" (the papers').

    Raises:
      ValueError: for an argument out of range.

    Warns:
      UserWarning: for a friction of ½ or more with Euler, at which the chain diverges.
    """

    def __init__(
        self,
        gradient_fn: GradientFn | None = None,
        learning_rate: LearningRate = 0.01,
        friction: Number = 0.1,
        temperature: Number = 1.0,
        thermostat: Literal["elementwise", "scalar"] = "elementwise",
        thermostat_mass: float | Literal["auto"] = "auto",
        integrator: Integrator = "splitting",
        name: str = "sgnht",
    ):
        one_of("thermostat", thermostat, ("elementwise", "scalar"))
        if not (isinstance(thermostat_mass, str) and thermostat_mass == "auto"):
            positive_number("thermostat_mass", thermostat_mass)
        check_integrator(integrator)
        check_friction(friction, integrator)
        moves = np.any(numbers_known(temperature) > 0)  # at T = 0 the thermostat rests
        if integrator == "euler" and moves and np.any(numbers_known(friction) >= _UNBALANCED):
            warnings.warn(
                f"The Euler scheme of SGNHT has no balance at a friction of ½ or more: the thermostat grows until the "
                f"chain diverges. Take a smaller one, or integrator='splitting'. Received: friction={friction!r}",
                UserWarning,
                stacklevel=2,
            )
        super().__init__(
            gradient_fn,
            temperature,
            name,
            learning_rate=learning_rate,
            friction=friction,
            thermostat=thermostat,
            thermostat_mass=thermostat_mass,
            integrator=integrator,
        )

    @property
    def adapts_to_gradient_noise(self) -> bool:
        return True

    @property
    def noise_tolerance(self) -> float | None:
        """½, half of what the splitting can balance, with a ξ of each entry's own and an automatic mass; else that of
        SGHMC, for one ξ does not know which entries are noisy, and a heavier one learns it too late."""
        wanted = {"integrator": "splitting", "thermostat": "elementwise", "thermostat_mass": "auto"}
        adapts = all(isinstance(self.parameters[key], str) and self.parameters[key] == wanted[key] for key in wanted)
        friction = friction_of_a_step(self.parameters["friction"], self.parameters["integrator"])
        return 0.5 if adapts else 0.1 * friction

    def kinetic_temperature(self, kernel_results: KernelResults) -> tf.Tensor:
        return kernel_results.kinetic_temperature

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        momentum = initial_momentum(parts, step_size[1], seed)
        friction = [tf.zeros_like(part) + tf.cast(self.parameters["friction"], part.dtype) for part in parts]
        scalar = self.parameters["thermostat"] == "scalar"
        return SGNHTResults(
            momentum=tf.nest.pack_sequence_as(init_state, momentum),
            thermostat=tf.cast(self.parameters["friction"], parts[0].dtype)
            if scalar
            else tf.nest.pack_sequence_as(init_state, friction),
            kinetic_temperature=tf.math.divide_no_nan(mean_square(momentum), tf.cast(step_size[1], parts[0].dtype)),
            eta=step_size[1],
            **counts,
        )

    def _update(self, parts, gradients, results, step_size, seed):
        splitting = self.parameters["integrator"] == "splitting"
        integrate = _splitting if splitting else _euler
        momentum, thermostat = tf.nest.flatten(results.momentum), tf.nest.flatten(results.thermostat)
        momentum = rescaled(momentum, step_size[1], results.eta) if splitting else momentum
        adapt, friction = self._adaptation(step_size[1]), tf.cast(self.parameters["friction"], step_size[1].dtype)
        moved, momentum, thermostat, heat = integrate(
            parts, momentum, thermostat, gradients, normals(parts, seed), step_size, friction, adapt
        )
        temperature = tf.math.divide_no_nan(heat, tf.cast(step_size[1], parts[0].dtype))
        return moved, results._replace(
            momentum=tf.nest.pack_sequence_as(results.momentum, momentum),
            thermostat=tf.nest.pack_sequence_as(results.thermostat, thermostat),
            kinetic_temperature=temperature,
            eta=step_size[1],
        )

    def _adaptation(self, eta):
        """The map (ξ, v, fraction of a step) → ξ + fraction (v⊙v − η)/μ."""
        mass = self.parameters["thermostat_mass"]
        if isinstance(mass, str) and self.parameters["integrator"] == "euler":
            mass = tf.cast(eta > 0, eta.dtype)  # at T = 0 the thermostat rests
        elif isinstance(mass, str):
            mass = _REACTION * eta / tf.minimum(tf.cast(self.parameters["friction"], eta.dtype), 1.0) ** 2
        # at T = 0 an automatic mass is 0 too: the thermostat rests
        inverse_mass = tf.math.reciprocal_no_nan(tf.cast(mass, eta.dtype))

        def adapt(thermostat, momentum, fraction):
            if self.parameters["thermostat"] == "scalar":
                squares = [mean_square(momentum)]
            else:
                squares = [tf.square(v) for v in momentum]
            return [
                x + fraction * tf.cast(inverse_mass, x.dtype) * (square - tf.cast(eta, x.dtype))
                for x, square in zip(thermostat, squares)
            ]

        return adapt


def _splitting(parts, momentum, thermostat, gradients, noise, step_size, friction, adapt):
    rate, eta = step_size
    momentum = [v + tf.cast(rate, v.dtype) * g for v, g in zip(momentum, gradients)]
    parts = [p + 0.5 * v for p, v in zip(parts, momentum)]
    thermostat = adapt(thermostat, momentum, 0.5)
    heat = mean_square(momentum)
    momentum = [
        _ornstein_uhlenbeck(v, x, n, tf.cast(friction * eta, v.dtype))
        for v, x, n in zip(momentum, _for_each(thermostat, parts), noise)
    ]
    thermostat = adapt(thermostat, momentum, 0.5)
    heat = 0.5 * (heat + mean_square(momentum))  # what the two half steps of ξ see
    return [p + 0.5 * v for p, v in zip(parts, momentum)], momentum, thermostat, heat


def _euler(parts, momentum, thermostat, gradients, noise, step_size, friction, adapt):
    rate, eta = step_size
    scale = tf.sqrt(2.0 * friction * eta)
    momentum = [
        v - x * v + tf.cast(rate, v.dtype) * g + tf.cast(scale, v.dtype) * n
        for v, x, g, n in zip(momentum, _for_each(thermostat, parts), gradients, noise)
    ]
    moved = [p + v for p, v in zip(parts, momentum)]
    return moved, momentum, adapt(thermostat, momentum, 1.0), mean_square(momentum)


def _ornstein_uhlenbeck(v, x, noise, diffusion):
    """dv = −ξv dt + √(2aη) dW over one unit of time, exactly; `diffusion` is aη."""
    decay = tf.exp(-x)
    # (1 − exp(−2ξ))/ξ, by its series near 0, where the quotient cancels
    small = tf.abs(x) < 0.01
    safe = tf.where(small, tf.ones_like(x), x)
    quotient = tf.where(small, 2.0 - 2.0 * x + (4.0 / 3.0) * x * x, (1.0 - decay * decay) / safe)
    return decay * v + tf.sqrt(diffusion * quotient) * noise


def _for_each(thermostat, parts):
    """One ξ for each part; a scalar thermostat serves all."""
    if len(thermostat) == len(parts):
        return thermostat
    return [tf.cast(thermostat[0], part.dtype) for part in parts]
