"""Columns of several kinds, put side by side in the order of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf


def in_order(parts: Sequence[tf.Tensor], order: np.ndarray) -> tf.Tensor:
    """Entry `order[i]` of the concatenated parts at each place i of the last axis; each part is gathered by itself.

    For draws. A gather of what is concatenated is fused by XLA with all that draws the parts, and compiling that of
    four kinds takes more than ten minutes on a CPU.

    Args:
      parts: tensors (…, width), whose widths are known.
      order: permutation of the entries of all of them, integers (D,).
    """
    if len(parts) == 1 and np.array_equal(order, np.arange(len(order))):
        return parts[0]
    widths = [part.shape[-1] for part in parts]
    owners = np.repeat(np.arange(len(parts)), widths)[order]
    places = order - (np.cumsum(widths) - widths)[owners]
    spread = [tf.gather(part, np.where(owners == i, places, 0), axis=-1) for i, part in enumerate(parts)]
    found = spread[0]
    for i, part in enumerate(spread[1:], 1):
        found = tf.where(owners == i, part, found)
    return found
