"""The updates of θ and φ from one minibatch.

By default all θ-updates come first; `interleaved`, φ-updates follow each of them, with its draws: rounds of both.

An update whose gradient or result is not finite is left out: θ, its momentum and the like, and the latent variables
that are carried, stay as they were before it; so do φ, its optimizer and what the proposal learns for itself, also
where a θ-update before it was left out. The metric `skipped_steps` is the fraction of updates left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.finite import all_finite
from tfdsmcmc.training.steps.repeated import repeated

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator
    from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning


class Updates:
    """Rounds of θ-updates by a kernel and φ-updates by an optimizer; arguments as those of `DoublyStochasticStep`.

    Args:
      estimator: `GradientEstimator`.
      kernel: transition kernel of θ.
      kernel_steps: θ-updates a minibatch.
      learning: `RecognitionLearning`, or None.
      interleaved: whether φ-updates follow each θ-update.
      sampling: whether the kernel samples at all of these updates, where that is known, or at none; else None.
    """

    estimator: GradientEstimator
    kernel: StochasticGradientKernel
    kernel_steps: int
    learning: RecognitionLearning | None
    interleaved: bool
    sampling: bool | None

    def __init__(
        self, estimator: GradientEstimator, kernel: StochasticGradientKernel, kernel_steps: int,
        learning: RecognitionLearning | None, interleaved: bool, sampling: bool | None = None,
    ):  # fmt: skip
        self.sampling = sampling
        self.estimator, self.kernel, self.kernel_steps = estimator, kernel, kernel_steps
        self.learning, self.interleaved = learning, interleaved

    def of(
        self, state: Nest, x: TensorLike | Rows, num_rows: tf.Tensor, carry: Nest, seed: Seed
    ) -> tuple[Nest, Nest, dict[str, tf.Tensor]]:
        """The state after a minibatch.

        Args:
          state: `doubly_stochastic.StepState`.
          x: (B, D), a tensor or `Rows`.
          num_rows: N.
          carry: what the estimator carries, of these rows.
          seed: int32 of shape (2,).

        Returns:
          (state, carry, metrics); the scales of the prior, and what is carried for other rows, stay.
        """
        seeds = self._seeds(seed)

        def add_round(number, so_far):
            state, carry, skipped, _ = so_far
            state, carry, draws, metrics = self._move(state, x, num_rows, carry, seeds, number)
            here = metrics["skipped_steps"]
            skipped += here + self._learn(state.weights, x, draws, carry, seeds, number, here == 0)
            return state, carry, skipped, metrics

        state, carry, skipped, metrics = repeated(add_round, self._rounds(), (state, carry, tf.zeros([]), None))
        return state, carry, {**metrics, "skipped_steps": skipped / self._count()}

    def _rounds(self):
        """Groups of θ-updates, each followed by φ-updates."""
        return self.kernel_steps if self.interleaved and self.kernel_steps else 1

    def _count(self):
        """Updates of θ and φ from a minibatch, at least 1."""
        return max(1, self.kernel_steps + (self.learning.steps * self._rounds() if self.learning else 0))

    def _seeds(self, seed):
        """The seed of each kernel step, then of each proposal step, then of draws for metrics, (…, 2)."""
        proposal_steps = self.learning.steps * self._rounds() if self.learning else 0
        return random.split(seed, self.kernel_steps + proposal_steps + 1)

    def _move(self, state, x, num_rows, carry, seeds, number):
        """The θ-updates of a round: (state, carry, the last draws, metrics)."""
        weights, results, auxiliary = state.weights, state.kernel_results, state.auxiliary
        kernel, estimator = at_temperature(self.kernel, num_rows), self.estimator
        if self.sampling is not None:  # of the copy, which does not hand it on
            kernel = kernel.known(self.sampling)
        each = self.kernel_steps // self._rounds()
        before = results.skipped_steps

        def update(i, so_far):
            weights, results, carry, *_ = so_far
            known = self.sampling is not None
            prior_weight = float(self.sampling) if known else tf.cast(kernel.samples(results), tf.float32)
            further = {"latent_power": kernel.latent_power(results, estimator.warm_up)} if estimator.warm_up else {}

            def gradient_fn(*weights, seed):
                given = x, num_rows, auxiliary, carry, seed, prior_weight
                gradients, draws, moved = estimator.gradient(weights, *given, **further)
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
        return state._replace(weights=weights, kernel_results=results), carry, draws, metrics

    def _learn(self, weights, x, draws, carry, seeds, number, moved):
        """The φ-updates that follow a round, if all θ-updates of it were made; the number of those left out."""
        skipped = tf.zeros([])
        for i in range(self.learning.steps if self.learning else 0):
            place = self.kernel_steps + number * self.learning.steps + i

            def gradient(place=place):
                return self.learning.gradient(weights, x, draws, carry, seeds[place])

            skipped += 1.0 - tf.cast(self.learning.update(gradient, moved), tf.float32)
        return skipped


def at_temperature(kernel: StochasticGradientKernel, num_rows: Number) -> StochasticGradientKernel:
    """The kernel at the temperature T/N of a gradient that is divided by N."""
    return kernel.copy(temperature=kernel.temperature / num_rows)


def _configurational_temperature(weights, gradients, num_rows):
    """−N θ·g/d over all d entries: 1 in the mean over a chain at temperature 1, however its momentum looks."""
    products = [tf.reduce_sum(weight * tf.cast(g, weight.dtype)) for weight, g in zip(weights, gradients)]
    entries = tf.add_n([tf.size(weight) for weight in weights])
    value = tf.cast(-num_rows * tf.add_n(products) / tf.cast(entries, num_rows.dtype), tf.float32)
    return tf.where(tf.math.is_finite(value), value, 0.0)  # of an update that is left out


def _chosen(condition, new, old):
    """One of two nests of one structure; None stays None."""
    return tf.nest.map_structure(lambda a, b: None if a is None else tf.where(condition, a, b), new, old)
