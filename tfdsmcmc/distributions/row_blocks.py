"""A computation over rows, in blocks of rows that stay in the cache of a CPU.

XLA leaves a loop over small tensors to one thread; one over large ones goes to memory and back at each turn, and its
threads wait for one another at each turn. A GPU works off all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from tfdsmcmc._common import loops


def in_blocks(
    function: Callable[..., Any],
    parts: Sequence[tf.Tensor],
    limit: int,
    count: int,
    sums: Sequence[tf.Tensor] = (),
) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]:
    """`function(*parts)` for blocks of rows one after the other.

    Args:
      function: gives two tuples of tensors: such as have a row for each row of `parts`, and sums over these rows. Rows
        of zeros, which fill the last block, must add nothing to the sums.
      parts: tensors (rows, …), the axes after the first known.
      limit: rows of a block, at most.
      count: length of the first tuple.
      sums: tensors of zeros, like those of the second tuple.

    Returns:
      The two tuples for all rows.
    """
    rows = parts[0].shape[0]
    if rows is not None and rows <= limit or tf.config.get_visible_devices("GPU"):
        return function(*parts)
    rows = tf.shape(parts[0])[0] if rows is None else rows
    blocks = -(-rows // limit) if isinstance(rows, int) else tf.maximum(-(-rows // limit), 1)
    size = -(-rows // blocks)
    blocked = [tf.pad(part, [[0, blocks * size - rows]] + [[0, 0]] * (part.shape.rank - 1)) for part in parts]
    blocked = [tf.reshape(part, [blocks, size, *part.shape[1:]]) for part in blocked]

    def add_block(block, sums, kept):
        of_rows, more = function(*(part[block] for part in blocked))
        sums = tuple(total + part for total, part in zip(sums, more, strict=True))
        return block + 1, sums, tuple(array.write(block, part) for array, part in zip(kept, of_rows, strict=True))

    kept = tuple(tf.TensorArray(parts[0].dtype, blocks) for _ in range(count))
    start = (0, tuple(sums), kept)
    _, sums, kept = loops.while_loop(lambda block, *_: block < blocks, add_block, start, maximum_iterations=blocks)
    of_rows = [array.stack() for array in kept]
    of_rows = [tf.reshape(part, tf.concat([[-1], tf.shape(part)[2:]], 0))[:rows] for part in of_rows]
    return tuple(of_rows), sums
