"""A step of a Keras optimizer along a gradient that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    import keras


def apply(
    optimizer: keras.optimizers.Optimizer, gradients: Sequence[tf.Tensor], variables: Sequence[keras.Variable]
) -> None:
    """Descends along the gradients of a loss; an optimizer that takes them for those of a scaled loss gets these."""
    one = tf.ones([])
    scale = optimizer.scale_loss(one)
    if scale is not one:
        gradients = [gradient * tf.cast(scale, gradient.dtype) for gradient in gradients]
    optimizer.apply(gradients, variables)
