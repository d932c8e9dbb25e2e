"""The climb of a warm start by its plan: H steps, of which an epoch has u, and |θ| weights that learn from N rows.

    rate at step t        0.03 ε min(1, (t + 1)/w) (1 − t/H)/(1 + t/2000),  w = min(2000, H/5),
                          ε = min(1, max(10N/|θ|, √(60u/H)))
    patience, in steps    the median of 5u, 1000 and 50u
    β of latent draws     min(1, t/max(1, min(w, H/10))),  w = their `warm_up` (`latents.NAIS`)

While most of a gradient is noise, which Adam scales up, the rate is low; then it is fast, and fine when the climb ends
as planned. At 0.03 a climb of far more weights than rows passes its best weights within some sixty epochs, nats below
those of a slower one: where more epochs are planned, and more than ten weights a row, it is slower. A thousand steps of
4 an epoch are 250 epochs in which nothing is learnt: fifty are enough to tell. Two epochs of 500 are too few.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.mcmc.schedules import RiseAndFall

if TYPE_CHECKING:
    from tfdsmcmc.mcmc.map import MAP

_WEIGHTS_A_ROW, _FULL_SPEED = 10.0, 60.0  # a row; epochs
NEVER = 2**31 - 1  # the step at which a climb without an end ends
_WARMING = 0.1  # of a climb, at most
_PATIENCE, _FEWEST_EPOCHS, _MOST_EPOCHS = 1000, 5, 50


def default_optimizer() -> keras.optimizers.Optimizer:
    """Adam at the rate above, new."""
    return keras.optimizers.Adam(RiseAndFall(0.03, offset=2000.0, rise=2000, rising=0.2))


def check_steps(updates: int | None, patience: int | Literal["auto"]) -> None:
    """Raises a ValueError for numbers that are none of steps, or that the int32 of a step does not reach."""
    if updates is not None:
        checks.nonnegative_integer("updates", updates)
    checks.positive_or_auto("patience", patience)
    for name, value, most in (("updates", updates, NEVER - 1), ("patience", patience, NEVER)):
        if value not in (None, "auto") and value > most:
            raise ValueError(f"{name} must be at most {most}. Received: {name}={value}")


def warn_of_no_end() -> None:
    """Warns of a warm start without a `fit`, which never samples."""
    warnings.warn(
        "A WarmStart without updates climbs until a plan tells how long, as that of fit does: its optimizer's steps "
        "are no draws. Say updates=… where it runs by itself.",
        UserWarning,
        stacklevel=4,
    )


def patience_of(epoch_steps: int | None) -> int:
    """How many steps without a new best look of its attempt end a climb.

    Args:
      epoch_steps: u, an integer, or None where that is not known.
    """
    if epoch_steps is None:
        return _PATIENCE
    return min(max(_PATIENCE, _FEWEST_EPOCHS * epoch_steps), _MOST_EPOCHS * epoch_steps)


def gentleness(num_weights: int, num_rows: int | None, planned: int, epoch_steps: int | None) -> float:
    """ε, a number; 1 where N or u are not known.

    Args:
      num_weights: |θ|.
      num_rows: N, or None.
      planned: H.
      epoch_steps: u, or None.
    """
    if not (num_weights and num_rows and planned and epoch_steps):
        return 1.0
    return min(1.0, max(_WEIGHTS_A_ROW * num_rows / num_weights, math.sqrt(_FULL_SPEED * epoch_steps / planned)))


def latent_power(step: tf.Tensor, warm_up: int, planned: tf.Tensor | None = None) -> tf.Tensor:
    """β before step t, a float32 scalar.

    Args:
      step: t, an integer scalar.
      warm_up: w, at least 1.
      planned: H, an integer scalar, or None where that is not known.
    """
    lasts = tf.cast(warm_up, tf.float32)
    if planned is not None:
        lasts = tf.clip_by_value(_WARMING * tf.cast(planned, tf.float32), 1.0, lasts)
    return tf.minimum(tf.cast(step, tf.float32) / lasts, 1.0)


def planned_rate(climber: MAP) -> RiseAndFall | None:
    """The rate of an optimizer that goes by the plan of a climb; None of one that has its own."""
    with tf.init_scope():  # Keras looks up a plain rate
        rate = climber.learning_rate
    return rate if isinstance(rate, RiseAndFall) else None


def shortened(
    climber: MAP,
    parts: Sequence[tf.Tensor],
    moved: Sequence[tf.Tensor],
    step: tf.Tensor,
    planned: tf.Tensor,
    gentle: tf.Tensor,
) -> Sequence[tf.Tensor]:
    """Where an optimizer's step leads at the rate of a climb that is planned to last so long.

    Args:
      climber: `MAP`, whose optimizer has made the step; one whose rate knows no plan is left as it is.
      parts: list of tensors, θ before the step.
      moved: list of tensors, θ after it.
      step: t, an integer scalar.
      planned: H, an integer scalar.
      gentle: ε, a scalar.
    """
    rate = planned_rate(climber)
    if rate is None:
        return moved
    share = gentle * rate.share(step, planned)
    return [part + tf.cast(share, part.dtype) * (end - part) for part, end in zip(parts, moved)]
