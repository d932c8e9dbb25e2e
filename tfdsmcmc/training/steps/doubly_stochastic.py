"""The doubly stochastic step: a random minibatch, random draws behind its gradient, and a random move of the weights.

    g = the gradient estimator's, of log p(θ given X)/N
    θ ← kernel step along g at temperature T/N
    λ ← draw of the auxiliary scales of shrinkage priors given θ
    φ ← optimizer step along the gradient of the proposal's objective

By default all θ-updates of a minibatch come first; `interleaved`, φ-updates follow each of them, as the algorithm is
published.

An update that is not finite is left out, see `updates`; the scales λ are drawn given whatever θ there is.

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

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling
from tfdsmcmc.mcmc.events import ClimbEnds, ClimbsAgain, GoesBackTo, Planned, Validated
from tfdsmcmc.training.steps import best_recognition, row_parts
from tfdsmcmc.training.steps.best_recognition import BestRecognition
from tfdsmcmc.training.steps.starts import fresh_weights
from tfdsmcmc.training.steps.step import Step
from tfdsmcmc.training.steps.updates import Updates, at_temperature

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import KernelResults, Nest, Number, Seed, TensorLike
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.rows.source import RandomAccessSource, Source
    from tfdsmcmc.training.feeding.batch import Batch
    from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator
    from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning


_COMPILED_FROM = 6000  # rows times draws of their start: of fewer XLA takes longer to compile it than it takes


class StepState(NamedTuple):
    """What a step changes, φ and its optimizer apart.

    Attributes:
      weights: list of tensors, θ.
      kernel_results: of the kernel.
      auxiliary: list of tensors, the scales λ of shrinkage priors.
      carried: what the estimator carries: lists of (N, …), or of whatever the run shares; () for nothing.
      best_phi: `BestRecognition` of a climb; () where φ does not learn, or none climbs.
    """

    weights: list[tf.Tensor]
    kernel_results: KernelResults
    auxiliary: Sequence[tf.Tensor] = ()
    carried: Nest = ()
    best_phi: Nest = ()


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
      jit_compile: whether chains over the latent variables are started by a program that XLA compiles, where they are
        many or long.
      climb: such a step, of the same state, which is made instead while an optimizer climbs before the kernel samples;
        None for the same step throughout.
      climbs: whether it is such a step.
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
        jit_compile: bool = True, climb: DoublyStochasticStep | None = None, climbs: bool = False,
    ):  # fmt: skip
        self.climb = climb
        self.network, self.prior = network, prior
        self.estimator, self.kernel, self.kernel_steps = estimator, kernel, kernel_steps
        self.learning, self.interleaved = learning, interleaved
        sampling = None
        if kernel_steps == 1 and (climb is not None or climbs):  # a climb may end between two updates of a minibatch
            sampling = not climbs
        self._updates = Updates(estimator, kernel, kernel_steps, learning, interleaved, sampling)
        # kept here, for a layer may be frozen later
        self._names, self.variables = (list(parts) for parts in zip(*network.named_weights))
        if kernel_steps:
            prior.check_gradients(self._names)
        heat = ("kinetic_temperature", "configurational_temperature") if kernel_steps else ("kinetic_temperature",)
        self.metric_names: tuple[str, ...] = (*estimator.metric_names, *heat, "skipped_steps")
        self.per_row: tuple[str, ...] = ("carried",) if estimator.carries == "row" else ()
        self.fills_gaps: bool = estimator.fills_gaps
        self.takes_weights: bool = estimator.takes_weights and (learning is None or learning.proposal.takes_weights)
        self._starts = [compiling.program(estimator.start, jit) for jit in (False, jit_compile)]

    @property
    def own_variables(self) -> dict[str, keras.Variable | tf.Variable]:
        own = [] if self.learning is None else self.learning.proposal.variables
        spread = None if self.learning is None else self.learning.row_spread
        named = {f"proposal_{i}": variable for i, variable in enumerate(own)}
        return named if spread is None else {**named, "row_spread": spread}

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
        results, auxiliary, carried, best_phi = (None, None, (), ()) if state is None else state[1:]
        if state is None or int(results.step) == 0:  # the first momentum depends on N
            kernel = at_temperature(self.kernel, num_rows)
            results = kernel.bootstrap_results(weights, seed=seed)
            if state is not None and self.has_ended_climb(state):  # before the first step
                results = kernel.told(ClimbEnds(), results, weights)
        if auxiliary is None:
            auxiliary = self.prior.initial_auxiliary(self._names, weights, random.stream(seed, "auxiliary"))
        carry_seed = random.stream(seed, "carried latents")
        if self.estimator.carries == "row" and (rows is not None or state is None):
            work = 0 if rows is None else rows.num_rows * (self.estimator.burn_in + 1)
            start = self._starts[work > _COMPILED_FROM]
            carried = row_parts.started(start, self.estimator.no_rows(), rows, weights, carry_seed)
        elif self.estimator.carries == "run" and state is None:
            carried = self.estimator.start(weights, None, carry_seed)
        if state is None and self.kernel_steps and self.kernel.climbs_first and self.learning is not None:
            best_phi = best_recognition.nothing_kept(self.beside)
        return StepState(list(weights), results, auxiliary, carried, best_phi)

    def look_at(self, rows: Source, steps: int) -> None:
        if self.learning is not None:
            self.learning.look_at(rows, steps)

    def step(self, state: Nest, batch: Batch, seed: Seed) -> tuple[Nest, dict[str, tf.Tensor]]:
        if self.climb is None:
            state, metrics = self._updated(state, batch, seed)
        else:
            samples = self.kernel.samples(state.kernel_results)
            branches = [lambda step=step: step._updated(state, batch, seed) for step in (self, self.climb)]
            state, metrics = tf.cond(samples, *branches)
        if self.kernel_steps and len(state.auxiliary):
            auxiliary_seed = random.stream(seed, "auxiliary")
            scales = self.prior.update_auxiliary(self._names, state.weights, state.auxiliary, auxiliary_seed)
            state = state._replace(auxiliary=scales)
        return state, metrics

    def sampled(self, state: Nest) -> bool | tf.Tensor:
        return self.kernel.sampled(state.kernel_results) if self.kernel_steps else True

    def started_at(self, state: Nest) -> tuple[list[tf.Tensor], list[tf.Tensor]] | None:
        theta = self.kernel.started_at(state.kernel_results) if self.kernel_steps else None
        if theta is None:
            return None
        best_step = self.kernel.best_step(state.kernel_results)
        return theta, list(state.best_phi.values) if state.best_phi and np.all(best_step == state.best_phi.step) else []

    def has_ended_climb(self, state: Nest) -> bool:
        return bool(self.kernel_steps and self.kernel.climbs_first and self.kernel.samples(state.kernel_results))

    def leaves_for(self, state: Nest, steps: int) -> tuple[list[tf.Tensor], list[tf.Tensor]] | None:
        results = state.kernel_results
        best_step = self.kernel.best_step(results) if self.kernel_steps else None
        if best_step is None or results.step - best_step < steps * self.kernel_steps:
            return None
        goes_back = self.kernel.goes_back(results, results._replace(step=results.step + 1))
        return self.started_at(state) if goes_back else None

    def told(self, state: Nest, event: Event, beside: Sequence[TensorLike] | None = None) -> Nest:
        if not self.kernel_steps:  # φ alone learns
            return state
        if isinstance(event, Planned) and event.steps is not None:
            epoch = None if event.epoch_steps is None else event.epoch_steps * self.kernel_steps
            looks = event.looks if self.phi_follows else ()
            event = event._replace(
                steps=min(event.steps * self.kernel_steps, 2**31 - 2), epoch_steps=epoch, looks=looks
            )
        if isinstance(event, (ClimbsAgain, GoesBackTo)):
            results = self.kernel.told(event, state.kernel_results, state.weights)
            phi = [tf.convert_to_tensor(value) for value in event.phi]
            return _with_results(state, results)._replace(best_phi=BestRecognition(results.step, phi))
        if isinstance(event, Validated):
            if not self.phi_follows:
                return state
            if event.epoch_steps is not None:
                event = event._replace(epoch_steps=event.epoch_steps * self.kernel_steps)
        told = _with_results(state, self.kernel.told(event, state.kernel_results, state.weights))
        if isinstance(event, Validated) and state.best_phi:
            best_step = self.kernel.best_step(told.kernel_results)
            phi = self.beside if beside is None else beside
            kept = best_recognition.kept(state.best_phi, best_step, told.kernel_results.step, phi)
            told = told._replace(best_phi=kept)
        return told

    @property
    def most_climbs(self) -> int:
        climbs = self.kernel_steps and self.kernel.climbs_first and self.learning is not None and self.phi_follows
        return self.kernel.most_climbs if climbs else 1

    def climb_of(self, state: Nest) -> tuple[int, int, float]:
        return self.kernel.climb_of(state.kernel_results)

    def skipped(self, state: Nest) -> tuple[tf.Tensor, tf.Tensor] | None:
        results = state.kernel_results
        return (results.step, results.skipped_steps) if self.kernel_steps else None

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        theta = fresh_weights(self.network, seed)
        if not self.beside:
            return theta
        return [*theta, *fresh_weights(self.estimator.recognition, random.stream(seed, "recognition network"))]

    def _updated(self, state, batch, seed):
        """(state, metrics) after the updates of θ and φ; the scales of the prior move after them in either phase."""
        carry, before = self._carry_of(state, batch.index), state.kernel_results
        state, carry, metrics = self._updates.of(state, batch.rows.plain, batch.num_rows, carry, seed)
        if state.best_phi:
            goes_back = self.kernel.goes_back(before, state.kernel_results)
            best_recognition.go_back(state.best_phi, self.beside, goes_back)
        return self._with_carry(state, batch.index, carry), metrics

    def _carry_of(self, state, index):
        if self.estimator.carries == "row":
            return row_parts.of_rows(state.carried, index)
        return state.carried if self.estimator.carries == "run" else None

    def _with_carry(self, state, index, carry):
        if self.estimator.carries == "row":
            return state._replace(carried=row_parts.with_rows(state.carried, index, carry))
        return state._replace(carried=carry) if self.estimator.carries == "run" else state


def _with_results(state, results):
    """The state with other kernel results; itself where they are the same."""
    return state if results is state.kernel_results else state._replace(kernel_results=results)
