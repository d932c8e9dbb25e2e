"""Parts of a state with an entry for each row of the data: lists of tensors (N, …)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Array, Nest, Seed
    from tfdsmcmc.rows.source import RandomAccessSource

_ROWS = 1000  # started at a time


def started(
    start: Callable[..., Sequence[tf.Tensor]],
    no_rows: Sequence[np.ndarray],
    rows: RandomAccessSource | None,
    weights: Nest,
    seed: Seed,
) -> list[tf.Tensor]:
    """The entries of all rows, started anew.

    Args:
      start: function of (weights, x, seed) for some rows, a list of tensors (B, …).
      no_rows: the list for no rows, arrays (0, …).
      rows: a source with random access; None for no rows.
      weights: list of tensors.
      seed: stateless seed.
    """
    if rows is None:
        return [tf.convert_to_tensor(part) for part in no_rows]
    total = rows.num_rows
    count = min(_ROWS, total)
    found = [np.zeros((total, *part.shape[1:]), part.dtype) for part in no_rows]
    for begin in [*range(0, total - count, count), total - count]:  # the last ones may be started twice
        x = rows.take(slice(begin, begin + count)).floats().plain
        for part, value in zip(found, start(weights, x, random.fold(seed, begin))):
            part[begin : begin + count] = value
    return [tf.convert_to_tensor(part) for part in found]


def of_rows(parts: Sequence[tf.Tensor], index: Array) -> list[tf.Tensor]:
    """The entries of some rows, list of (B, …) for an index (B,)."""
    return [tf.gather(part, index) for part in parts]


def with_rows(parts: Sequence[tf.Tensor], index: Array, entries: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The parts with the entries of some rows replaced."""
    index = index[:, tf.newaxis]
    return [tf.tensor_scatter_nd_update(part, index, entry) for part, entry in zip(parts, entries)]
