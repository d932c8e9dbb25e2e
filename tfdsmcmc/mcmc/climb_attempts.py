"""Attempts of a climb: one that turns within a few looks at validation rows begins anew at a quarter of its rate.

Validation looks once an epoch, of u steps. Let an attempt find its best after b steps, and w steps have passed since.

    it has turned    w ≥ max(b, 5u), and the look has fallen from the best by ½ nat and by a tenth of the rise before it
    it was coarse    b < 20u: the rate was so high that the best lies between two looks

An attempt that has turned and was coarse is given up. Where it was better than those before it, and 2b steps of the
plan are left, θ goes back to where the climb started, the optimizer is new, and the rate is a quarter: the same path in
smaller steps, but for a warm-up of the draws (`latents.NAIS`), which begins anew too. Else sampling begins, at the best
θ of all attempts. The noise of a look ends no attempt: a fall of ½ nat in the mean over hundreds of rows is more than
that. The recognition network learns on from where it is: it knows what the units of these rows may explain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import KernelResults
    from tfdsmcmc.mcmc.map import MAP

SLOWER = 0.25
_EPOCHS, _COARSE = 5, 20
_FALL, _SHARE = 0.5, 0.1  # nats, of the rise
_ROOM = 2  # the next attempt, of a rate that rises and falls as this one, needs two to four times its steps


class Attempt(NamedTuple):
    """The present attempt; of several chains each part has their axis.

    Attributes:
      begun: int32 scalar, the step at which it began.
      first: float32 scalar, its first look, or the lowest number before it.
      best: float32 scalar, its best look.
      best_step: int32 scalar, the step of that; 0 before it.
      before: float32 scalar, the best look of the attempts before.
      ends: int32 scalar, the step that goes to the start; 0 where none is to.
      start: list of parts, θ at the start of the climb.
    """

    begun: tf.Tensor
    first: tf.Tensor
    best: tf.Tensor
    best_step: tf.Tensor
    before: tf.Tensor
    ends: tf.Tensor
    start: list[tf.Tensor]


def first_attempt(start: Sequence[tf.Tensor]) -> Attempt:
    """The first attempt, before any look."""
    zero, lowest = tf.zeros([], tf.int32), tf.constant(tf.float32.min)
    return Attempt(zero, lowest, lowest, zero, lowest, zero, [tf.identity(part) for part in start])


def looked_at(attempt: Attempt, value: tf.Tensor, step: tf.Tensor, surely: bool = False) -> Attempt:
    """The attempt after a look.

    Args:
      attempt: before it.
      value: the mean log-likelihood of the validation rows, in nats.
      step: the present step.
      surely: whether this is the best look whatever its value.
    """
    finite = tf.math.is_finite(value)
    better = finite & (surely | (value > attempt.best))
    return attempt._replace(
        first=tf.where(finite & (attempt.best_step == 0), value, attempt.first),
        best=tf.where(better, value, attempt.best),
        best_step=tf.where(better, step, attempt.best_step),
    )


def turning(attempt: Attempt, value: tf.Tensor, step: tf.Tensor, epoch_steps: int) -> tuple[tf.Tensor, tf.Tensor]:
    """(whether a coarse attempt falls, whether it has turned for good), boolean scalars: then it is given up.

    While it falls no patience ends the climb. Arguments are those of `looked_at`, after it.

    Args:
      attempt: after the look.
      value: of the look.
      step: the present step.
      epoch_steps: u.
    """
    taken, since = attempt.best_step - attempt.begun, step - attempt.best_step
    fallen = attempt.best - value >= tf.maximum(_FALL, _SHARE * (attempt.best - attempt.first))
    falls = (attempt.best_step > 0) & fallen & (taken < _COARSE * epoch_steps)
    return falls, falls & (since >= tf.maximum(taken, _EPOCHS * epoch_steps))


def goes_on(attempt: Attempt, step: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """Whether a slower attempt follows one that was given up, a boolean scalar.

    Args:
      attempt: the one that was given up.
      step: the present step.
      end: the step at which sampling begins at the latest.
    """
    return (attempt.best > attempt.before) & (end - step >= _ROOM * (attempt.best_step - attempt.begun))


def next_attempt(attempt: Attempt, again: tf.Tensor, step: tf.Tensor) -> Attempt:
    """The attempt after this one where `again` holds, which the next step goes back for; else this one."""
    lowest = tf.fill(tf.shape(attempt.best), tf.float32.min)
    following = {
        "begun": step + 1, "first": lowest, "best": lowest, "best_step": tf.zeros_like(attempt.best_step),
        "before": attempt.best, "ends": step + 1,
    }  # fmt: skip
    return attempt._replace(**{name: tf.where(again, new, getattr(attempt, name)) for name, new in following.items()})


def first_of_climb(start: Sequence[tf.Tensor], step: tf.Tensor) -> Attempt:
    """The first attempt of a climb from other weights, which the next step goes to.

    Args:
      start: list of parts, θ there.
      step: the present step.
    """
    return first_attempt(start)._replace(begun=step + 1, ends=step + 1)


def begins_climb(before: KernelResults, after: KernelResults) -> tf.Tensor:
    """Whether a climb from other weights began with a step between these `WarmStartResults`, a boolean scalar."""
    attempt = after.attempt
    first = (attempt.ends > 0) & (attempt.before == tf.float32.min)  # a slower one follows another
    return first & (before.step < attempt.ends) & (after.step >= attempt.ends) & (attempt.ends < after.begins)


def begun_anew(
    climber: MAP, parts: Sequence[tf.Tensor], results: KernelResults
) -> tuple[list[tf.Tensor], KernelResults]:  # fmt: skip
    """θ at the start of the climb and a new optimizer, at the step where an attempt, or the climb before, has ended.

    Args:
      climber: the optimizer as a kernel.
      parts: θ.
      results: `WarmStartResults` after a step of the climb.

    Returns:
      (parts, results); as they were at any other step.
    """
    again, climb = (results.step == results.attempt.ends) & (results.step < results.begins), results.climb
    zero = tf.zeros_like(climb.step)
    new = climber._bootstrap(parts, parts, None, None, step=zero, skipped_steps=climb.skipped_steps)
    start = list(results.attempt.start)
    parts, climb = tf.cond(again, lambda: (start, new), lambda: (list(parts), climb))
    return parts, results._replace(climb=climb)
