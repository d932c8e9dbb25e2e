"""What every stochastic-gradient kernel shares.

A kernel moves θ by one gradient a step, taken where the step begins. In the units of all docstrings here, ℓ is
the learning rate, T the temperature, η = ℓT, and g what `gradient_fn` returns, the gradient of the log target:
with T = 1 the invariant density is proportional to exp(log target); with g = ∇ log p(θ given X) / N it is the
posterior at T = 1/N.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common.checks import learning_rate, nonnegative_number
from tfdsmcmc._common.finite import all_finite
from tfdsmcmc._common.known_values import plain

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import (
        Config,
        GradientFn,
        KernelResults,
        LearningRate,
        Nest,
        Number,
        Seed,
    )
    from tfdsmcmc.mcmc.events import Event


class StochasticGradientKernel(tfp.mcmc.TransitionKernel):
    """Base class of the kernels: the step count, the step size, the steps that are skipped.

    A subclass defines `_bootstrap` and `_update`, both on flat lists of tensors. One without the parameter
    learning_rate also defines `_step_size`, what those two are to know of the length of a step.

    Args:
      gradient_fn: called as `gradient_fn(*state_parts, seed=seed)`, returns the gradient of the log target, of the
        structure of the state; a state that is no list or tuple reaches it as one argument. May be None where only
        `integrate` is used.
      temperature: T, at least 0; at 0 the kernel is deterministic.
      name: name of the kernel.
      **parameters: the subclass's own, under the names that its constructor gives them. learning_rate, where it is
        among them, is ℓ: a positive number or a `keras.optimizers.schedules.LearningRateSchedule` of the step.
    """

    def __init__(self, gradient_fn: GradientFn | None, temperature: Number, name: str, **parameters: Any):
        if gradient_fn is not None and not callable(gradient_fn):
            raise ValueError(f"gradient_fn must be callable. Received: gradient_fn={gradient_fn!r}")
        if "learning_rate" in parameters:
            parameters["learning_rate"] = learning_rate(parameters["learning_rate"])
        nonnegative_number("temperature", temperature)
        self._parameters = {"gradient_fn": gradient_fn, "temperature": temperature, **parameters, "name": name}

    @property
    def parameters(self) -> dict[str, Any]:
        return self._parameters

    @property
    def gradient_fn(self) -> GradientFn | None:
        return self._parameters["gradient_fn"]

    @property
    def learning_rate(self) -> LearningRate:
        return self._parameters["learning_rate"]

    @property
    def temperature(self) -> Number:
        return self._parameters["temperature"]

    @property
    def name(self) -> str:
        return self._parameters["name"]

    @property
    def is_calibrated(self) -> bool:
        """False: there is no accept-reject step, so the invariant law has a bias of the order of ℓ."""
        return False

    @property
    def adapts_to_gradient_noise(self) -> bool:
        """Whether the kernel finds out the gradient's noise from successive steps, each with noise of its own."""
        return False

    @property
    def noise_tolerance(self) -> Number | None:
        """h: gradient noise of variance s² up to (ℓs)² = 2hη changes the variance of θ by a tenth or so at friction
        0.1, with SGNHT by up to a quarter at friction 2, where ℓλ is small; None where no such number is known."""
        return None

    def kinetic_temperature(self, kernel_results: KernelResults) -> tf.Tensor:
        """v²/η of the momentum, a scalar, 1 where the chain is as hot as the target asks; 1 without momentum."""
        del kernel_results
        return tf.ones([])

    @property
    def climbs_first(self) -> bool:
        """Whether an optimizer climbs before the kernel samples."""
        return False

    @property
    def most_climbs(self) -> int:
        """How many climbs from new weights may follow each other before it samples."""
        return 1

    def climb_of(self, kernel_results: KernelResults) -> tuple[int, int, float]:
        """(updates so far, the one from which on it samples, the best look at validation rows) of a kernel that
        climbs first."""
        raise NotImplementedError(f"{type(self).__name__} does not climb.")

    def samples(self, kernel_results: KernelResults) -> tf.Tensor:
        """Whether the next step is one of sampling, a boolean scalar; before it the prior is left out."""
        return tf.ones_like(kernel_results.step, tf.bool)

    def latent_power(self, kernel_results: KernelResults, warm_up: int) -> Number:
        """β of the next step, by which draws of latent variables are weighted (`latents.NAIS`): 1 where θ is sampled.

        Args:
          kernel_results: before the step.
          warm_up: updates over which β rises from 0 to 1 where an optimizer climbs.
        """
        del kernel_results, warm_up
        return 1.0

    def known(self, sampling: bool) -> Self:
        """The kernel for a program of steps that all sample, or all do not: it is traced without the others."""
        return self

    def best_step(self, kernel_results: KernelResults) -> tf.Tensor | None:
        """The step after which an optimizer that climbs first was best on validation rows, 0 before it was; None where
        none climbs."""
        return None

    def goes_back(self, before: KernelResults, after: KernelResults) -> tf.Tensor:
        """Whether a step between these results led back to the best state of a climb, a boolean scalar."""
        del before
        return tf.zeros_like(after.step, tf.bool)

    def started_at(self, kernel_results: KernelResults) -> list[tf.Tensor] | None:
        """The parts of the state at which sampling began, which an optimizer found, a list; None where none did."""
        return None

    def sampled(self, kernel_results: KernelResults) -> tf.Tensor:
        """Whether a step of sampling has been made, a boolean scalar: whether θ may be a posterior sample."""
        return kernel_results.step > 0

    def told(self, event: Event, kernel_results: KernelResults, state: Nest) -> KernelResults:
        """The results after an event of the run (`mcmc.events`), of which a kernel with phases takes notice.

        Args:
          event: one of them.
          kernel_results: of the last step.
          state: the present state, a nest like that of the steps.
        """
        del event, state
        return kernel_results

    def get_config(self) -> Config:
        config = {key: plain(value) for key, value in self._parameters.items() if key != "gradient_fn"}
        rate = config.get("learning_rate")
        if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
            config["learning_rate"] = keras.saving.serialize_keras_object(rate)
        return config

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)

    def learning_rate_at(self, step: tf.Tensor) -> tf.Tensor:
        """ℓ at a step, a scalar tensor."""
        rate = self.learning_rate
        if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
            rate = rate(step)
        rate = tf.convert_to_tensor(rate)
        return rate if rate.dtype.is_floating else tf.cast(rate, tf.float32)  # T would be cast to 0 beside it

    def learning_rate_of(self, kernel_results: KernelResults) -> tf.Tensor:
        """ℓ of the next step, a scalar tensor."""
        return self.learning_rate_at(kernel_results.step)

    def bootstrap_results(self, init_state: Nest, seed: Seed | None = None) -> KernelResults:
        """The results that belong to an initial state.

        Args:
          init_state: nest of floating tensors.
          seed: for the initial momentum; None, as under `tfp.mcmc.sample_chain`, stands for 0.
        """
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(init_state)]
        if not parts:
            raise ValueError(f"The state must have a tensor. Received: init_state={init_state!r}")
        for part in parts:
            if not part.dtype.is_floating:
                raise ValueError(f"The state must be of floating type. Received: dtype {part.dtype.name}")
        step = tf.zeros([], tf.int32)
        seed = random.stream(0 if seed is None else seed, "momentum")
        return self._bootstrap(init_state, parts, self._step_size(step), seed, step=step, skipped_steps=step)

    def one_step(
        self, current_state: Nest, previous_kernel_results: KernelResults, seed: Seed | None = None
    ) -> tuple[Nest, KernelResults]:
        """One step with the kernel's own `gradient_fn`, as `tfp.mcmc.TransitionKernel` has it.

        Returns:
          (state, kernel_results).
        """
        if self.gradient_fn is None:
            raise ValueError("one_step needs a kernel made with gradient_fn. Received: gradient_fn=None")

        def gradient_fn(*parts, seed):
            return self.gradient_fn(*parts, seed=seed), ()

        if seed is None:
            seed = tfp.random.sanitize_seed(None)
        state, results, _ = self.integrate(gradient_fn, current_state, previous_kernel_results, seed)
        return state, results

    def integrate(
        self, gradient_fn: GradientFn, state: Nest, previous_kernel_results: KernelResults, seed: Seed
    ) -> tuple[Nest, KernelResults, Nest]:
        """One step with a gradient that hands on what it drew.

        Args:
          gradient_fn: called as `gradient_fn(*state_parts, seed=seed)`, returns (gradients, aux).
          state: nest of floating tensors.
          previous_kernel_results: from `bootstrap_results` or an earlier step.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (state, kernel_results, aux). Where an entry of the gradient, or of what the step changes of the state, its
          momentum and the like, is not finite, all of them stay as they were, and `skipped_steps` counts one more; that
          holds for the state as a whole, several chains in one state included.
        """
        gradient_seed, noise_seed = tf.unstack(random.split(seed))
        arguments = state if isinstance(state, (list, tuple)) else [state]
        gradients, aux = gradient_fn(*arguments, seed=gradient_seed)
        parts = [tf.convert_to_tensor(part) for part in tf.nest.flatten(state)]
        gradients = _like(gradients, parts)

        results = previous_kernel_results
        step_size = self._step_size(results.step)
        new_parts, new_results = self._update(parts, gradients, results, step_size, noise_seed)

        before, after = (parts, results), (new_parts, new_results)
        # what the step hands on, such as the optimizer's moments while a kernel samples, an earlier step looked at
        changed = tf.nest.map_structure(lambda new, old: [] if new is old else [new], after, before)
        finite = all_finite([*gradients, *tf.nest.flatten(changed)])
        new_parts, new_results = tf.nest.map_structure(
            lambda new, old: old if new is old else tf.where(finite, new, old), after, before
        )
        skipped = results.skipped_steps + tf.cast(~finite, tf.int32)
        new_results = new_results._replace(step=results.step + 1, skipped_steps=skipped)
        return tf.nest.pack_sequence_as(state, new_parts), new_results, aux

    def _step_size(self, step):
        """(ℓ, η) as a pair of scalar tensors."""
        rate = self.learning_rate_at(step)
        return rate, rate * tf.cast(self.temperature, rate.dtype)

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        """The kernel results at the start."""
        raise NotImplementedError(f"{type(self).__name__} must define _bootstrap(init_state, parts, step_size, seed).")

    def _update(self, parts, gradients, results, step_size, seed):
        """(new parts, results with the new momentum and thermostat)."""
        raise NotImplementedError(f"{type(self).__name__} must define _update(parts, gradients, results, …).")


def _like(gradients, parts):
    flat = [tf.convert_to_tensor(g) for g in tf.nest.flatten(gradients)]
    if len(flat) != len(parts) or any(not g.shape.is_compatible_with(p.shape) for g, p in zip(flat, parts)):
        raise ValueError(
            f"gradient_fn must return gradients of the shapes {[tuple(p.shape) for p in parts]}. "
            f"Received: {[tuple(g.shape) for g in flat]}"
        )
    return [tf.cast(g, p.dtype) for g, p in zip(flat, parts)]
