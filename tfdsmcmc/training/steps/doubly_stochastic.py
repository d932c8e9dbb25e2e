"""The doubly stochastic step: a random minibatch, random draws behind its gradient, and a random move of the weights.

    g = the gradient estimator's, of log p(θ given X)/N
    θ ← kernel step along g at temperature T/N
    λ ← draw of the auxiliary scales of shrinkage priors given θ
    φ ← optimizer step along the gradient of the proposal's objective

By default all θ-updates of a minibatch come first; `interleaved`, φ-updates follow each of them, with its draws, as the
algorithm is published.

An update whose gradient or result is not finite is left out: θ, its momentum and the like, and the latent variables
that are carried, stay as they were before it; so do φ, its optimizer and what the proposal learns for itself, also
where a θ-update before it was left out. The scales λ are drawn given whatever θ there is. The metric `skipped_steps` is
the fraction of updates left out.

Two metrics tell the temperature of the chain. The kinetic one, v²/η, a thermostat holds at 1 wherever the chain is. The
configurational one, −N θ·g/d over the d entries of θ, is 1 in the mean over a chain that has come to rest at
temperature 1, and not while it is on its way. With the g by which the chain moves both are so whatever the bias of g
and whatever noise its steps share: that shows in `diagnostics.configurational_temperature`, whose gradient is another.

Source: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018), algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling
from tfdsmcmc._common.finite import all_finite
from tfdsmcmc.mcmc.events import Planned, Validated
from tfdsmcmc.training.steps import row_parts
from tfdsmcmc.training.steps.repeated import repeated
from tfdsmcmc.training.steps.starts import fresh_weights
from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    import keras
    import numpy as np

    from tfdsmcmc._common.types import KernelResults, Nest, Number, Seed, TensorLike
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.training.feeding.batch import Batch
    from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator
    from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning


class StepState(NamedTuple):
    """What a step changes, φ and its optimizer apart.

    Attributes:
      weights: list of tensors, θ.
      kernel_results: of the kernel.
      auxiliary: list of tensors, the scales λ of shrinkage priors.
      carried: what the estimator carries: lists of (N, …), or of whatever the run shares; () for nothing.
    """

    weights: list[tf.Tensor]
    kernel_results: KernelResults
    auxiliary: Sequence[tf.Tensor] = ()
    carried: Nest = ()


class DoublyStochasticStep(Step):
    """One step on a minibatch, of one chain. φ and its optimizer are updated in place.

    Args:
      network: what has `named_weights`, pairs (name, variable) of θ, and `layers` with their initializers.
      prior: `Prior` of θ.
      estimator: `GradientEstimator`.
      kernel: transition kernel of θ, its temperature that of a single row's worth of data.
      kernel_steps: θ-updates a minibatch.
      learning: `RecognitionLearning`, or None if no φ learns.
      interleaved: whether φ-updates follow each θ-update of a minibatch.
      jit_compile: whether chains over the latent variables are started by a program that XLA compiles.
      climb: such a step, of the same state, which is made instead while an optimizer climbs before the kernel samples;
        None for the same step throughout.
    """

    climb: DoublyStochasticStep | None
    network: Any
    prior: Prior
    estimator: GradientEstimator
    kernel: StochasticGradientKernel
    kernel_steps: int
    learning: RecognitionLearning | None
    interleaved: bool
    variables: list[keras.Variable]

    def __init__(
        self, network: Any, prior: Prior, estimator: GradientEstimator, kernel: StochasticGradientKernel,
        kernel_steps: int = 1, learning: RecognitionLearning | None = None, interleaved: bool = False,
        jit_compile: bool = True, climb: DoublyStochasticStep | None = None,
    ):  # fmt: skip
        self.climb = climb
        self.network, self.prior = network, prior
        self.estimator, self.kernel, self.kernel_steps = estimator, kernel, kernel_steps
        self.learning, self.interleaved = learning, interleaved
        # kept here, for a layer may be frozen later
        self._names, self.variables = (list(parts) for parts in zip(*network.named_weights))
        if kernel_steps:
            prior.check_gradients(self._names)
        heat = ("kinetic_temperature", "configurational_temperature") if kernel_steps else ("kinetic_temperature",)
        self.metric_names: tuple[str, ...] = (*estimator.metric_names, *heat, "skipped_steps")
        self.per_row: tuple[str, ...] = ("carried",) if estimator.carries == "row" else ()
        self.fills_gaps: bool = estimator.fills_gaps
        self.takes_weights: bool = estimator.takes_weights and (learning is None or learning.proposal.takes_weights)
        self._start = compiling.program(estimator.start, jit_compile)

    @property
    def own_variables(self) -> dict[str, keras.Variable | tf.Variable]:
        own = [] if self.learning is None else self.learning.proposal.variables
        return {f"proposal_{i}": variable for i, variable in enumerate(own)}

    @property
    def beside(self) -> Sequence[keras.Variable]:
        recognition = self.estimator.recognition
        return [] if recognition is None else list(recognition.trainable_variables)

    @property
    def assigned(self) -> Sequence[keras.Variable | tf.Variable]:
        return [] if self.learning is None else self.learning.assigned

    @property
    def phi_follows(self) -> bool:
        recognition = self.estimator.recognition
        if recognition is None or not recognition.weights:
            return True
        return self.learning is not None and self.learning.steps > 0 and bool(self.beside)

    def init(
        self, rows: RandomAccessSource | None, seed: Seed, weights: Sequence[TensorLike], num_rows: Number = 1.0,
        state: Nest = None,
    ) -> Nest:  # fmt: skip
        results, auxiliary, carried = (None, None, ()) if state is None else state[1:]
        if state is None or int(results.step) == 0:  # the first momentum depends on N
            results = self._kernel(num_rows).bootstrap_results(weights, seed=seed)
        if auxiliary is None:
            auxiliary = self.prior.initial_auxiliary(self._names, weights, random.stream(seed, "auxiliary"))
        carry_seed = random.stream(seed, "carried latents")
        if self.estimator.carries == "row" and (rows is not None or state is None):
            carried = row_parts.started(self._start, self.estimator.no_rows(), rows, weights, carry_seed)
        elif self.estimator.carries == "run" and state is None:
            carried = self.estimator.start(weights, None, carry_seed)
        return StepState(list(weights), results, auxiliary, carried)

    def step(self, state: Nest, batch: Batch, seed: Seed) -> tuple[Nest, dict[str, tf.Tensor]]:
        if self.climb is None:
            return self._step(state, batch, seed)
        samples = self.kernel.samples(state.kernel_results)
        return tf.cond(samples, lambda: self._step(state, batch, seed), lambda: self.climb.step(state, batch, seed))

    def sampled(self, state: Nest) -> bool | tf.Tensor:
        return self.kernel.sampled(state.kernel_results) if self.kernel_steps else True

    def started_at(self, state: Nest) -> list[tf.Tensor] | None:
        return self.kernel.started_at(state.kernel_results) if self.kernel_steps else None

    def told(self, state: Nest, event: Event) -> Nest:
        if not self.kernel_steps:  # φ alone learns
            return state
        if isinstance(event, Planned) and event.steps is not None:
            epoch = None if event.epoch_steps is None else event.epoch_steps * self.kernel_steps
            event = event._replace(steps=min(event.steps * self.kernel_steps, 2**31 - 2), epoch_steps=epoch)
        if isinstance(event, Validated):
            if not self.phi_follows:
                return state
            if event.epoch_steps is not None:
                event = event._replace(epoch_steps=event.epoch_steps * self.kernel_steps)
        return _with_results(state, self.kernel.told(event, state.kernel_results, state.weights))

    def skipped(self, state: Nest) -> tuple[tf.Tensor, tf.Tensor] | None:
        results = state.kernel_results
        return (results.step, results.skipped_steps) if self.kernel_steps else None

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        theta = fresh_weights(self.network, seed)
        if not self.beside:
            return theta
        return [*theta, *fresh_weights(self.estimator.recognition, random.stream(seed, "recognition network"))]

    def _step(self, state, batch, seed):
        x, seeds = batch.rows.plain, self._seeds(seed)
        rounds = self._rounds()

        def add_round(number, so_far):
            state, carry, skipped, _ = so_far
            state, carry, draws, metrics = self._move(state, x, batch.num_rows, carry, seeds, number)
            here = metrics["skipped_steps"]
            skipped += here + self._learn(state.weights, x, draws, carry, seeds, number, here == 0)
            return state, carry, skipped, metrics

        so_far = state, self._carry_of(state, batch.index), tf.zeros([]), None
        state, carry, skipped, metrics = repeated(add_round, rounds, so_far)
        if self.kernel_steps and len(state.auxiliary):
            auxiliary_seed = random.stream(seed, "auxiliary")
            scales = self.prior.update_auxiliary(self._names, state.weights, state.auxiliary, auxiliary_seed)
            state = state._replace(auxiliary=scales)
        metrics |= {"skipped_steps": skipped / self._updates()}
        return self._with_carry(state, batch.index, carry), metrics

    def _rounds(self):
        """Groups of θ-updates, each followed by φ-updates."""
        return self.kernel_steps if self.interleaved and self.kernel_steps else 1

    def _updates(self):
        """Updates of θ and φ from a minibatch, at least 1."""
        return max(1, self.kernel_steps + (self.learning.steps * self._rounds() if self.learning else 0))

    def _kernel(self, num_rows):
        return self.kernel.copy(temperature=self.kernel.temperature / num_rows)

    def _seeds(self, seed):
        """The seed of each kernel step, then of each proposal step, then of draws for metrics, (…, 2)."""
        proposal_steps = self.learning.steps * self._rounds() if self.learning else 0
        return random.split(seed, self.kernel_steps + proposal_steps + 1)

    def _move(self, state, x, num_rows, carry, seeds, number):
        """The θ-updates of a round: (state, carry, the last draws, metrics)."""
        weights, results, auxiliary, carried = state
        kernel, estimator = self._kernel(num_rows), self.estimator
        each = self.kernel_steps // self._rounds()
        before = results.skipped_steps

        def update(i, so_far):
            weights, results, carry, *_ = so_far
            prior_weight = tf.cast(kernel.samples(results), tf.float32)

            def gradient_fn(*weights, seed):
                gradients, draws, moved = estimator.gradient(weights, x, num_rows, auxiliary, carry, seed, prior_weight)
                return gradients, (draws, moved, _configurational_temperature(weights, gradients, num_rows))

            already = results.skipped_steps
            weights, results, aux = kernel.integrate(gradient_fn, weights, results, seeds[number * each + i])
            draws, moved, configurational = aux
            return weights, results, _chosen(results.skipped_steps == already, moved, carry), draws, configurational

        if self.kernel_steps:
            so_far = repeated(update, each, (weights, results, carry, None, None))
            weights, results, carry, draws, configurational = so_far
        else:
            draws, moved = estimator.draw(weights, x, carry, seeds[-1])
            carry = _chosen(all_finite(part for part in tf.nest.flatten(draws) if part is not None), moved, carry)
        metrics = {
            **estimator.metrics(draws),
            "kinetic_temperature": kernel.kinetic_temperature(results),
            **({"configurational_temperature": configurational} if self.kernel_steps else {}),
            "skipped_steps": tf.cast(results.skipped_steps - before, tf.float32),
        }
        return StepState(weights, results, auxiliary, carried), carry, draws, metrics

    def _learn(self, weights, x, draws, carry, seeds, number, moved):
        """The φ-updates that follow a round, if all θ-updates of it were made; the number of those left out."""
        skipped = tf.zeros([])
        for i in range(self.learning.steps if self.learning else 0):
            place = self.kernel_steps + number * self.learning.steps + i

            def gradient(place=place):
                return self.learning.gradient(weights, x, draws, carry, seeds[place])

            skipped += 1.0 - tf.cast(self.learning.update(gradient, moved), tf.float32)
        return skipped

    def _carry_of(self, state, index):
        if self.estimator.carries == "row":
            return row_parts.of_rows(state.carried, index)
        return state.carried if self.estimator.carries == "run" else None

    def _with_carry(self, state, index, carry):
        if self.estimator.carries == "row":
            return state._replace(carried=row_parts.with_rows(state.carried, index, carry))
        return state._replace(carried=carry) if self.estimator.carries == "run" else state


def _configurational_temperature(weights, gradients, num_rows):
    """−N θ·g/d over all d entries: 1 in the mean over a chain at temperature 1, however its momentum looks."""
    products = [tf.reduce_sum(weight * tf.cast(g, weight.dtype)) for weight, g in zip(weights, gradients)]
    entries = tf.add_n([tf.size(weight) for weight in weights])
    value = tf.cast(-num_rows * tf.add_n(products) / tf.cast(entries, num_rows.dtype), tf.float32)
    return tf.where(tf.math.is_finite(value), value, 0.0)  # of an update that is left out


def _with_results(state, results):
    """The state with other kernel results; itself where they are the same."""
    return state if results is state.kernel_results else state._replace(kernel_results=results)


def _chosen(condition, new, old):
    """One of two nests of one structure; None stays None."""
    return tf.nest.map_structure(lambda a, b: None if a is None else tf.where(condition, a, b), new, old)
