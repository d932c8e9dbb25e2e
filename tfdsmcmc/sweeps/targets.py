"""What a sweep's units decide on: Bernoulli variables whose logits are linear in them, and sums over these.

    Σ_d log (1 + exp λ_d),    λ = logits + s · (the weights of a unit)

Under XLA a logarithm in it is taken as, with h = λ/2,

    log (1 + exp 2h) = 2 max(h, 0) − log (1 + tanh |h|) + log 2,

of which log 2 cancels in differences. It is exact to rounding for logits of any size, needs one function, and
1 + tanh |h| lies in [1, 2], so that one logarithm is taken of the product of up to 16 of them. One by one these would
be ten times as many operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

NEVER = -1e30  # logits of what does not count: 1 + exp of them is 1, and weights of any size leave them as they are
_PARTS = 16  # targets whose factors are multiplied before a logarithm is taken
_VECTOR = 8  # numbers that a processor works on at once


class Targets(NamedTuple):
    """Bernoulli variables whose logits are linear in the units that are drawn: weights (H, D), logits (n, D)."""

    weights: Any
    logits: Any
    power: Any


def summed(targets: Sequence[Targets]) -> tuple[list[Targets], Callable[..., tf.Tensor]]:
    """(targets, function): where λ = logits + s · weights of these, function(logits, s, weights) sums.

    The sums are in one or several parts, (n, ·), each up to a constant. Logits may be moved along weights in between.

    Args:
      targets: list of `Targets`; those of power 1 are put together, so that their logarithms are.
    """
    return [_halved(target) for target in merged(targets)], _sums_of_halves


def merged(targets: Sequence[Targets]) -> list[Targets]:
    """The targets; those of power 1 as one."""
    plain = [t for t in targets if isinstance(t.power, float) and t.power == 1.0]
    if len(plain) < 2:
        return list(targets)
    others = [t for t in targets if not any(t is p for p in plain)]
    weights, logits = (tf.concat(parts, 1) for parts in list(zip(*plain))[:2])
    return [Targets(weights, logits, 1.0), *others]


def _halved(targets):
    """Halves of weights and logits, and targets that do not count beside them, so that there are equal parts."""
    units = targets.weights.shape[-1]
    lanes = _lanes(units)
    more = [[0, 0], [0, -units % lanes]]
    logits = tf.pad(0.5 * targets.logits, more, constant_values=NEVER)
    return Targets(tf.pad(0.5 * targets.weights, more), logits, targets.power)


def _lanes(units):
    """Into how many sums the targets go: a multiple of what a processor works on at once."""
    return _VECTOR * -(-units // (_VECTOR * _PARTS))


def _sums_of_halves(here, sign, row):
    """Σ_d log (1 + exp 2h_d) − log 2 with h = here + sign · row, (n, lanes): each lane sums a target of each part.

    The targets are split before anything is computed, so that XLA makes one loop of all and writes down nothing but
    the sums."""
    parts = here.shape[-1] // _lanes(here.shape[-1])
    positive, product = 0.0, 1.0
    for part, weights in zip(tf.split(here, parts, 1), tf.split(row, parts)):
        half = part + sign * weights
        positive += tf.nn.relu(half)
        product *= 1.0 + tf.tanh(tf.abs(half))
    return 2.0 * positive - tf.math.log(product)
