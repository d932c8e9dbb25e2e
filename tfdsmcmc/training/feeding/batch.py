"""What a step sees: a minibatch, and blocks of them, which one call of the compiled program works off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc.rows import Rows

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Array


class Batch(NamedTuple):
    """A minibatch; of C > 1 chains the parts with an axis B have a leading axis C.

    A pass over the data is an epoch in which each row is read. Its last minibatch is filled up with rows that were
    read before, so that all have B rows; a step that sums over a pass leaves those out.

    Attributes:
      rows: `Rows` of B rows, float32.
      index: (B,) int32, the numbers of the rows in their source; None where they have none, in a stream.
      counted: (B,) booleans, False for a row that fills up the last minibatch of a pass.
      begins_pass: boolean scalar, whether this is the first minibatch of a pass: what was summed before belongs to one
        that is over, or was broken off.
      ends_pass: boolean scalar, whether this is the last minibatch of a pass.
      num_rows: float32 scalar, N, the number of rows that the posterior is given.
    """

    rows: Rows
    index: Array | None
    counted: Array
    begins_pass: Array
    ends_pass: Array
    num_rows: Array


class Block(NamedTuple):
    """Up to S minibatches over some rows; every block of a run has the same shapes, so nothing is compiled twice.

    Attributes:
      rows: `Rows` (n, D), of which minibatch i has the rows at places[i].
      places: (S, B) int32; of C > 1 chains (S, C, B).
      index: of that shape, the numbers of the rows in their source, or None.
      counted: of that shape, see `Batch`.
      begins_pass: (S,) booleans.
      ends_pass: (S,) booleans.
      count: int32 scalar, at most S; what follows is padding.
    """

    rows: Rows
    places: Array
    index: Array | None
    counted: Array
    begins_pass: Array
    ends_pass: Array
    count: Array | np.integer[Any]

    def batch(self, i: int | tf.Tensor, num_rows: tf.Tensor) -> Batch:
        """Minibatch i."""
        index = None if self.index is None else self.index[i]
        rows = self.rows.take(self.places[i]).floats()
        return Batch(rows, index, self.counted[i], self.begins_pass[i], self.ends_pass[i], num_rows)

    def tensors(self) -> Block:
        """The block with all parts as tensors."""
        return tf.nest.map_structure(lambda part: None if part is None else tf.convert_to_tensor(part), self)
