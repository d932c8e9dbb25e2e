"""φ as it was where a climb was best, which goes back to it together with θ.

A climb of a warm start ends at the θ that was best on validation rows, many epochs back where they turned early. φ has
followed θ since. Importance samples that it proposes are of another posterior of z: the estimate of log p(x) at the
best θ is nats too low with it, and the first gradients of the chain are biased.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc._common.chosen import chosen

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import TensorLike


class BestRecognition(NamedTuple):
    """φ at the best step of a climb.

    Attributes:
      step: int32 scalar, the step of the kernel after which φ was kept; 0 before one was.
      values: list of tensors.
    """

    step: tf.Tensor
    values: list[tf.Tensor]


def nothing_kept(phi: Sequence[TensorLike]) -> BestRecognition:
    """What is kept before a climb has been looked at."""
    return BestRecognition(tf.zeros([], tf.int32), [tf.convert_to_tensor(value) for value in phi])


def kept(before: BestRecognition, best_step: tf.Tensor, step: tf.Tensor, phi: Sequence[TensorLike]) -> BestRecognition:
    """What is kept after a look at validation rows.

    Args:
      before: what was kept; of several chains each part has their axis, here and below.
      best_step: the best step of the kernel so far.
      step: its present one; φ of another step is not here to be kept.
      phi: φ at present.
    """
    found = (best_step > before.step) & (best_step == step)
    values = chosen(found, [tf.convert_to_tensor(value) for value in phi], before.values)
    return BestRecognition(tf.where(found, best_step, before.step), values)


def go_back(best: BestRecognition, variables: Sequence[keras.Variable], goes_back: tf.Tensor) -> None:
    """Sets φ to what was kept, where θ goes back to its best and something was; in a graph.

    Args:
      best: what was kept.
      variables: of φ.
      goes_back: boolean scalar, whether θ has just gone back.
    """

    def assign():
        for variable, value in zip(variables, best.values, strict=True):
            variable.assign(value)
        return 0

    tf.cond(goes_back & (best.step > 0), assign, lambda: 0)
