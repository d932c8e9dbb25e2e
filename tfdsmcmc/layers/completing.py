"""Units drawn one by one around those that are observed.

With the units in the layer's order, each that is not observed is drawn given all before it, and each that is observed
keeps its value:

    y ~ Π_{d missing} p(y_d given y_<d, parents),      log w = Σ_{d observed} log p(y_d given y_<d, parents)

The product of that law and the weight is p(y given parents), so that E[w] = p(y_observed given parents), and weighted
draws follow p(y_missing given y_observed, parents).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.distributions.ordering import in_order, in_place

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed


class InOrder(NamedTuple):
    """What the log-odds of binary units are made of, which are drawn one by one; n rows.

    A leading axis of the state and the constants, of M sets of weights, makes one of the log-odds.

    Attributes:
      state: what the units so far leave to the next ones, a tensor (…, n, width).
      constants: list of tensors that stay as they are.
      logit: function of the place j in the order, the state and the constants: the log-odds of that unit, (…, n).
      follow: function of j, the unit's values (n,), the state and the constants: the next state.
    """

    state: tf.Tensor
    constants: list[tf.Tensor]
    logit: Callable[..., tf.Tensor]
    follow: Callable[..., tf.Tensor]


def complete_in_order(
    value: tf.Tensor,
    observed: tf.Tensor,
    ordering: Sequence[int] | None,
    seed: Seed,
    units: InOrder,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Draws binary units that are not observed, in order.

    Args:
      value: (n, D); what is not observed counts for nothing, and may be NaN.
      observed: (n, D), booleans.
      ordering: of the units; None for 0, 1, ….
      seed: int32 of shape (2,).
      units: what they are drawn by.

    Returns:
      (y, log w), (n, D) and (n,).
    """
    count = int(value.shape[-1])
    values, known = (tf.transpose(in_order(part, ordering)) for part in (value, observed))
    uniform = random.open_uniform(tf.shape(values), seed)

    def take_unit(j, state, total, taken):
        log_odds = units.logit(j, state, units.constants)
        y = tf.where(known[j], values[j], tf.cast(uniform[j] < tf.sigmoid(log_odds), values.dtype))
        total += tf.where(known[j], y * log_odds - tf.nn.softplus(log_odds), 0.0)
        return j + 1, units.follow(j, y, state, units.constants), total, taken.write(j, y)

    start = (0, units.state, tf.zeros_like(values[0]), tf.TensorArray(values.dtype, count))
    _, _, total, taken = loops.while_loop(lambda j, *_: j < count, take_unit, start, maximum_iterations=count)
    return in_place(tf.transpose(taken.stack()), ordering), total
