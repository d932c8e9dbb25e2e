"""What a warm start keeps, and how its climb goes on at a plan, at a look at validation rows and at its end."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.chosen import chosen
from tfdsmcmc.mcmc import climb_attempts, climb_plan
from tfdsmcmc.mcmc.events import ClimbEnds, ClimbsAgain, GoesBackTo, Planned

if TYPE_CHECKING:
    from tfdsmcmc._common.types import KernelResults, Nest
    from tfdsmcmc.mcmc.events import Event, Validated

NEVER = climb_plan.NEVER


class WarmStartResults(NamedTuple):
    """Kernel results.

    Attributes:
      climb: `MAPResults` of the optimizer.
      sampler: results of the kernel that samples; they rest until it does.
      begins: int32 scalar, the step from which on it samples.
      best: float32 scalar, the best validation log-likelihood so far.
      best_step: int32 scalar, the step at which it was found; 0 before one was.
      best_state: list of parts, the state at that step.
      noise_variance: list of parts, ŝ²; empty where the rate is the same for all entries, like the next.
      previous_gradient: list of parts, g of the last step that was not skipped.
      gentle: float32 scalar, ε, times what the present attempt is slower by; 1 before a plan.
      attempt: `climb_attempts.Attempt`; empty where the optimizer knows no plan.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient or new state was not finite.
    """

    climb: KernelResults
    sampler: KernelResults
    begins: tf.Tensor
    best: tf.Tensor
    best_step: tf.Tensor
    best_state: list[tf.Tensor]
    step: tf.Tensor
    skipped_steps: tf.Tensor
    noise_variance: Nest = ()
    previous_gradient: Nest = ()
    gentle: Nest = ()
    attempt: Nest = ()


def told(
    results: WarmStartResults,
    event: Event,
    state: Nest,
    updates: int | None,
    fraction: float,
    patience_of: Callable[[int | None], int],
) -> WarmStartResults:
    """The results after an event of the run; the arguments behind it are those of `WarmStart`."""
    if isinstance(event, Planned):
        return planned(results, event, state, updates, fraction)
    if isinstance(event, ClimbEnds):
        return ended(results)
    if isinstance(event, ClimbsAgain):
        return climbing_again(results, event)
    if isinstance(event, GoesBackTo):
        return going_back_to(results, event)
    if updates is not None or np.all(results.step >= results.begins):
        return results
    return looked_at(results, event, tf.nest.flatten(state), patience_of(event.epoch_steps))


def planned(
    results: WarmStartResults, event: Planned, state: Nest, updates: int | None, fraction: float
) -> WarmStartResults:
    """The results after the plan of a fit: the first decides how long the climb may last, or a later one in which it
    would not end, as after a first fit that was interrupted. Each rounds what is left of it down to its own looks.

    Args:
      results: before it; of several chains, which climb alike, each part has their axis, here and below.
      event: the plan.
      state: the present state.
      updates: steps of the climb, or None for a fraction of the plan.
      fraction: of the plan.

    Raises:
      ValueError: for a run of unknown length, of which there is no fraction.
    """
    step, begins = (int(np.max(part)) for part in (results.step, results.begins))
    if event.steps is None:
        if begins == NEVER:
            raise ValueError(
                "How long a warm start may last needs steps_per_epoch, validation_data or its own updates. "
                "Received: a run of unknown length"
            )
        return results
    anew = step == 0 if updates is not None else begins - step >= event.steps
    if updates is None and begins > step:
        begins = step + _left(event, fraction, None if anew else begins - step, int(np.max(results.best_step)) > 0)
        results = results._replace(begins=tf.fill(results.begins.shape, begins))
    begun = int(np.max(results.attempt.begun)) if results.attempt else 0
    if not anew or begun:  # of a later attempt the rate has the factor of attempts in it
        return results
    chains = max(1, math.prod(results.begins.shape))
    weights = sum(math.prod(part.shape) for part in tf.nest.flatten(state)) // chains
    gentle = climb_plan.gentleness(weights, event.num_rows, begins, event.epoch_steps)
    return results._replace(gentle=tf.fill(results.gentle.shape, gentle))


def _left(event, fraction, known, has_best):
    """The steps from now on until a climb ends: up to the last look at validation rows, and one that goes back to the
    best state. What would follow that look would be lost.

    Args:
      event: the plan.
      fraction: of the plan.
      known: the steps that an earlier plan has left of the climb, or None for those of this plan.
      has_best: whether there is a best state to go back to if there is no look.
    """
    part = min(math.floor(round(fraction * event.steps, 6)), event.steps - 1)  # 0.29 of 100 are 29
    looks = 0
    if event.epoch_steps:
        # an epoch that was broken off begins anew, so that its look comes later than it was planned
        last = part if known is None else -(-(known - 1) // event.epoch_steps) * event.epoch_steps
        looks = bisect.bisect_right(event.looks, min(last, event.steps - 2) // event.epoch_steps)
    if looks:
        return event.looks[looks - 1] * event.epoch_steps + 1
    return 1 if has_best else part if known is None else known


def ended(results: WarmStartResults) -> WarmStartResults:
    """The results of a climb that ends now: with the next step where there is a best state, as that goes back to it."""
    end = results.step + tf.cast(results.best_step > 0, tf.int32)
    return results._replace(begins=tf.minimum(results.begins, end))


def climbing_again(results: WarmStartResults, event: ClimbsAgain) -> WarmStartResults:
    """The results of a climb from other weights, which begins with the next step, of one chain; ε is that of the climb
    before, which has shown that it is slow enough."""
    parts = zip(event.theta, results.best_state, strict=True)
    start = [tf.convert_to_tensor(value, part.dtype) for value, part in parts]
    return results._replace(
        begins=tf.constant(event.until, tf.int32),
        best=tf.constant(tf.float32.min),
        best_step=tf.zeros([], tf.int32),
        attempt=climb_attempts.first_of_climb(start, results.step),
    )


def going_back_to(results: WarmStartResults, event: GoesBackTo) -> WarmStartResults:
    """The results of a climb that ends with the next step, at other weights than its own best."""
    parts = zip(event.theta, results.best_state, strict=True)
    return results._replace(
        begins=results.step + 1,
        best=tf.constant(event.log_likelihood, tf.float32),
        best_step=results.step,
        best_state=[tf.convert_to_tensor(value, part.dtype) for value, part in parts],
    )


def steps_of(results: WarmStartResults) -> tf.Tensor:
    """H of the present attempt, an int32 scalar: as many as are left of the plan when it begins."""
    return results.begins - results.attempt.begun if results.attempt else results.begins


def looked_at(
    results: WarmStartResults, event: Validated, parts: Sequence[tf.Tensor], patience: int
) -> WarmStartResults:
    """The results of a climb after a look at validation rows: its best state, and whether it ends or begins anew.

    Args:
      results: before it.
      event: the look.
      parts: the present state, a list of its parts.
      patience: how many steps without a new best of the present attempt end a climb.
    """
    value, epoch_steps, surely = event
    step, better = results.step, tf.math.is_finite(value) & (surely | (value > results.best))
    results = results._replace(
        best=tf.where(better, value, results.best),
        best_step=tf.where(better, step, results.best_step),
        best_state=chosen(better, parts, results.best_state),
    )
    begun, falls, given_up = tf.zeros_like(step), tf.zeros_like(step, tf.bool), tf.zeros_like(step, tf.bool)
    if results.attempt and epoch_steps is not None:
        results, falls, given_up = _attempted(results, event)
        begun = tf.maximum(results.attempt.begun, results.attempt.best_step)  # a slower one may rise long to a new best
    waited = step - tf.maximum(results.best_step, begun) >= patience
    ends = given_up | (waited & ~falls)
    return results._replace(begins=tf.where(ends, ended(results).begins, results.begins))


def _attempted(results, event):
    """(the results with the next attempt where there is one, whether a coarse one falls, whether the last of all was
    given up)."""
    value, epoch_steps, surely = event
    step, attempt = results.step, climb_attempts.looked_at(results.attempt, value, results.step, surely)
    falls, given_up = climb_attempts.turning(attempt, value, step, epoch_steps)
    again = given_up & climb_attempts.goes_on(attempt, step, results.begins)
    slower = tf.where(again, climb_attempts.SLOWER * results.gentle, results.gentle)
    attempt = climb_attempts.next_attempt(attempt, again, step)
    return results._replace(attempt=attempt, gentle=slower), falls, given_up & ~again
