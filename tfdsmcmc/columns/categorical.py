"""A column of q states without order, one of q entries 1 and the others 0.

    p(y = k) = exp(l_k) / Σ_j exp(l_j)

With `none` all entries may be 0 too, which is a state with a logit of its own, the last one.

The q logits have one degree of freedom more than the law, which a prior settles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random, supports
from tfdsmcmc._common import checks
from tfdsmcmc.columns.base import Kind

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Categorical(Kind):
    """States without order: an entry and a logit for each.

    Args:
      states: q, at least 2.
      none: whether all entries may be 0.

    Raises:
      ValueError: for another number.
    """

    word = "categorical"

    def __init__(self, states: int, none: bool = False):
        self.states: int = at_least_two(states)
        self.none: bool = checks.boolean("none", none)
        self.entries, self.parameters = self.states, self.states + self.none

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.OneHot([kind.states for kind in kinds], kinds[0].none)

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        log_p = tf.nn.log_softmax(parameters)
        if not self.none:
            return tf.reduce_sum(value * log_p, -1)
        rest = 1.0 - tf.reduce_sum(value, -1)
        return tf.reduce_sum(value * log_p[..., :-1], -1) + rest * log_p[..., -1]

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        return one_of(parameters, seed)[..., : self.states]

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        return tf.nn.softmax(parameters)[..., : self.states]

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logarithms of the shares, half a value added to each state, with mean 0."""
        counts = values.sum(0)
        logits = np.log(np.append(counts, len(values) - counts.sum())[: self.parameters] + 0.5)
        return (logits - logits.mean()).astype(np.float32), np.zeros(0, np.float32)

    def get_config(self) -> Config:
        return {"states": self.states, "none": self.none}


def at_least_two(states: int) -> int:
    """A number of states, checked."""
    if checks.positive_integer("states", states) < 2:
        raise ValueError(f"states must be at least 2. Received: states={states!r}")
    return int(states)


def one_of(logits: tf.Tensor, seed: Seed) -> tf.Tensor:
    """A one at a state drawn with probabilities softmax(logits), zeros elsewhere, (…, q).

    The state is that of the largest logit + Gumbel noise. Source: Yellott, "The relationship between Luce's choice
    axiom, Thurstone's theory of comparative judgment, and the double exponential distribution", Journal of Mathematical
    Psychology 15 (1977).
    """
    noise = -tf.math.log(-tf.math.log(random.open_uniform(tf.shape(logits), seed)))
    return tf.one_hot(tf.argmax(logits + noise, -1), logits.shape[-1])
