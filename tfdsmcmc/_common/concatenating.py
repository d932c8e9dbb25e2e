"""Columns of several kinds, put side by side in the order of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

_MOST_RUNS = 64  # whose slices XLA compiles in about a second


def in_order(parts: Sequence[tf.Tensor], order: np.ndarray) -> tf.Tensor:
    """Entry `order[i]` of the concatenated parts at each place i of the last axis.

    For draws. A gather of what is concatenated would do, but XLA fuses it with all that draws the parts, and compiling
    that of four kinds takes more than ten minutes on a CPU. So runs of entries are sliced and concatenated. Where they
    are many, which takes long to compile too, each part is gathered by itself, and drawn for places of others in vain.

    Args:
      parts: tensors (…, width), whose widths are known.
      order: permutation of the entries of all of them, integers (D,).
    """
    widths = [part.shape[-1] for part in parts]
    owners = np.repeat(np.arange(len(parts)), widths)[order]
    places = order - (np.cumsum(widths) - widths)[owners]
    runs = np.split(np.arange(len(order)), np.flatnonzero((np.diff(order) != 1) | (np.diff(owners) != 0)) + 1)
    if len(runs) == 1:
        return parts[0]
    if len(runs) <= _MOST_RUNS:
        return tf.concat([parts[owners[run[0]]][..., places[run[0]] : places[run[-1]] + 1] for run in runs], -1)
    return _gathered(parts, owners, places)


def _gathered(parts, owners, places):
    spread = [tf.gather(part, np.where(owners == i, places, 0), axis=-1) for i, part in enumerate(parts)]
    found = spread[0]
    for i, part in enumerate(spread[1:], 1):
        found = tf.where(owners == i, part, found)
    return found
