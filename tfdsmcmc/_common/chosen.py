"""One of two lists of tensors."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def chosen(condition: tf.Tensor, parts: Sequence[tf.Tensor], others: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Each part where the condition holds, else the other.

    Args:
      condition: boolean tensor, a scalar, or of the first axes of all parts: (C,) of several chains.
      parts: list of tensors.
      others: list of tensors of the same shapes.
    """
    shapes = [[*condition.shape, *[1] * (part.shape.rank - condition.shape.rank)] for part in parts]
    return [tf.where(tf.reshape(condition, shape), *pair) for shape, *pair in zip(shapes, parts, others, strict=True)]
