"""A sweep over units whose targets' logits are linear in them, for TensorFlow that runs operation after operation.

A unit costs some twenty small operations there, and each of them counts. With s = 1 where the unit is 0 and −1 where it
is 1, u a uniform number, λ the logits of the targets, A_j the unit's weights and l_j its own logit, the unit turns over
if

    s (l_j − log (u/(1 − u))) − Σ_d [log (1 + exp(λ_d + s A_jd)) − log (1 + exp λ_d)] > 0

whose first term is known before the sweep begins. What is kept is exp λ, and a unit that turns over multiplies it by
exp(s A_j): sums of softplus would take longer. exp λ is a number of float32 for |λ| up to 87 alone. Where that was not
enough the sweep is made again from the same u, by λ itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import compiling, loops
from tfdsmcmc.sweeps.targets import NEVER, Targets, merged

_PART = 128  # targets, of which eight sums are kept apart: differences of one sum of many lose digits
_FARTHEST = 87.0  # |λ| of which exp λ is a normal number of float32
_NOTHING = -20.0  # λ of which log (1 + exp λ) is 2 · 10⁻⁹, and may be taken for 0


class _Form(NamedTuple):
    """How logits are kept: as kept(logits), moved by turned(kept, s · weights), each with a term of the sum."""

    kept: Callable[[tf.Tensor], tf.Tensor]
    turned: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
    term: Callable[[tf.Tensor], tf.Tensor]


_EXPONENTIALS = _Form(tf.exp, lambda kept, move: kept * tf.exp(move), lambda kept: tf.math.log(1.0 + kept))
_LOGITS = _Form(tf.identity, tf.add, tf.nn.softplus)


class _Padded(NamedTuple):
    """Targets that count in some row, and behind them some that do not, so that there are equal `parts`."""

    weights: Any
    logits: Any
    power: Any
    parts: int

    def sums(self, terms):
        """Of each part, (n, parts)."""
        return tf.reduce_sum(tf.reshape(terms, [tf.shape(terms)[0], self.parts, -1]), 2)


def draw_units(
    current: tf.Tensor,
    uniform: tf.Tensor,
    linear: tf.Tensor,
    within: tf.Tensor | None,
    targets: Sequence[Targets],
    update: tf.Tensor | None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """(new values, log-odds that they were drawn with), both (n, H).

    Args:
      current: (n, H), the units.
      uniform: (H, n), numbers in (0, 1).
      linear: (n, H), l.
      within: (H, H), what a unit that turns from 0 to 1 adds to l of the later ones; or None.
      targets: list of `Targets`.
      update: (n, H), True where a unit is drawn; None to draw all.
    """
    with compiling.apart():  # how many targets count is known when it runs
        padded = [_padded(target) for target in merged(targets)]
    signs = tf.transpose(1.0 - 2.0 * current)
    threshold = tf.math.log(uniform) - tf.math.log1p(-uniform)
    update = None if update is None else tf.transpose(update)
    given = signs, signs * (tf.transpose(linear) - threshold), within, update
    excess, ends = _turned(_EXPONENTIALS, padded, *given)
    fits = _fits(padded, ends, excess, _over(excess, update), signs)
    excess = tf.cond(fits, lambda: excess, lambda: _turned(_LOGITS, padded, *given)[0])
    excess = tf.ensure_shape(excess, signs.shape)
    drawn = tf.where(tf.transpose(_over(excess, update)), 1.0 - current, current)
    return drawn, tf.transpose(signs * excess + threshold)


def _padded(target):
    some = tf.where(tf.reduce_any(_counts(target.logits), 0))[:, 0]
    weights, logits = (tf.gather(part, some, axis=1) for part in (target.weights, target.logits))
    parts = 8 * -(-target.weights.shape[-1] // _PART)
    more = [[0, 0], [0, -tf.size(some) % parts]]
    return _Padded(tf.pad(weights, more), tf.pad(logits, more, constant_values=NEVER), target.power, parts)


def _counts(logits):
    """Which do: NaN as well, which is not to be lost."""
    return tf.logical_not(logits <= 0.5 * NEVER)


def _turned(form, targets, signs, excess, within, update):
    """(by how much each unit is above what turns it over (H, n), logits at the end as the form keeps them)."""
    units = signs.shape[0]

    def draw_unit(j, kept, sums, linear, found):
        sign, above, turned = tf.gather(signs, j), tf.gather(excess, j), []
        if within is not None:
            above += sign * tf.gather(linear, j, axis=1)
        column = sign[:, tf.newaxis]
        for target, here, total in zip(targets, kept, sums, strict=True):
            there = form.turned(here, column * tf.gather(target.weights, j))
            turned.append((there, target.sums(form.term(there))))
            above -= target.power * tf.reduce_sum(turned[-1][1] - total, 1)
        turns = _over(above, None if update is None else tf.gather(update, j))
        kept = [_rows(turns, there, here) for (there, _), here in zip(turned, kept, strict=True)]
        sums = [_rows(turns, there, here) for (_, there), here in zip(turned, sums, strict=True)]
        if within is not None:
            linear += tf.where(turns, sign, 0.0)[:, tf.newaxis] * tf.gather(within, j)
        return j + 1, kept, sums, linear, found.write(j, above)

    kept = [form.kept(target.logits) for target in targets]
    sums = [target.sums(form.term(part)) for target, part in zip(targets, kept, strict=True)]
    linear = tf.zeros_like(tf.transpose(signs)) if within is not None else 0.0
    start = (0, kept, sums, linear, tf.TensorArray(excess.dtype, units))
    _, kept, _, _, found = loops.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)
    return found.stack(), kept


def _over(excess, update):
    """Which units turn over."""
    return excess > 0 if update is None else tf.logical_and(excess > 0, update)


def _rows(condition, ones, others):
    """Rows of the one or the other: several times as fast as `tf.where`, which broadcasts."""
    return tf.raw_ops.Select(condition=condition, x=ones, y=others)


def _fits(targets, ends, excess, turns, signs):
    """Whether exp λ stayed within float32 along a sweep, or was too small to count.

    One that is too large makes log-odds infinite. One that is too small, and stays so, is below the least normal number
    in the end. No such λ was above what it is at first, the weights of units that turned over and raise it, and those
    of a unit that might have.
    """
    found = [tf.reduce_all(tf.math.is_finite(excess))]
    turned = tf.transpose(tf.where(turns, signs, 0.0))
    for end, target in zip(ends, targets, strict=True):
        size = tf.reduce_max(tf.abs(target.weights), 0)
        small = tf.logical_and(end < np.finfo(np.float32).tiny, _counts(target.logits))

        def stayed_small(target=target, size=size, small=small):  # which is dear, and asked for seldom
            rises = tf.matmul(tf.nn.relu(turned), tf.nn.relu(target.weights))
            rises += tf.matmul(tf.nn.relu(-turned), tf.nn.relu(-target.weights))
            highest = target.logits + rises + size
            return tf.reduce_all(tf.logical_or(highest < _NOTHING, tf.logical_not(small)))

        found.append(tf.reduce_all(size < _FARTHEST))
        found.append(tf.cond(tf.reduce_any(small), stayed_small, lambda: True))
    return tf.reduce_all(tf.stack(found))
