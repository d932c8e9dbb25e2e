"""Columns of several kinds, put side by side in the order of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf


def in_order(parts: Sequence[tf.Tensor], order: np.ndarray) -> tf.Tensor:
    """Entry `order[i]` of the concatenated parts at each place i of the last axis, by slices.

    For draws. A gather of them is fused by XLA with all that draws the parts, and compiling that of four kinds takes
    more than ten minutes on a CPU.

    Args:
      parts: tensors (…, width), whose widths are known.
      order: permutation of the entries of all of them, integers (D,).
    """
    if len(parts) == 1 and np.array_equal(order, np.arange(len(order))):
        return parts[0]
    widths = [part.shape[-1] for part in parts]
    owners, firsts = np.repeat(np.arange(len(parts)), widths), np.cumsum(widths) - widths
    breaks = np.flatnonzero((np.diff(order) != 1) | (np.diff(owners[order]) != 0)) + 1
    runs = []
    for places in np.split(order, breaks):
        owner = owners[places[0]]
        first = places[0] - firsts[owner]
        runs.append(parts[owner][..., first : first + len(places)])
    return tf.concat(runs, -1)
