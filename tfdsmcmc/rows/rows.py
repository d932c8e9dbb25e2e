"""Rows of data as a value.

Missing entries are parted from the others once, where data come in, see `rows.from_users`. From there on rows are a
pair of values, all of them finite, and of what is observed. Where the data layer's units are independent given its
parents, missing entries drop out:

    p(x_observed, z; θ) = p(z; θ) Π_{d observed} p(x_d given z_1; θ)

A recognition network sees the values as they are, with a constant in place of what is missing. It remains a proposal
like any other: the weights p(x_observed, z)/q(z given the filled row) are right whatever the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Array, Index, TensorLike


class Rows(NamedTuple):
    """Values, and which of them are observed: NumPy arrays outside of a program, tensors inside.

    Where nothing is missing `observed` is None, which is part of a nest's structure: a program traced for complete rows
    is another one than that for rows with gaps.

    Attributes:
      values: (…, D), finite. A missing entry has the value that a recognition network sees in its place: the
        filling of the support, of binary data ½.
      observed: (…, D) booleans; None if all entries are.
      context: (…, C), what the rows are given; None for a model of the rows alone.
      weight: (…, 1), how often a row counts among those of its minibatch, 1 in the mean over all rows (see
        `weighted_source`); None where each counts once.
    """

    values: Array
    observed: Array | None = None
    context: Array | None = None
    weight: Array | None = None

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.observed is None

    @property
    def with_gaps(self) -> np.ndarray:
        """The places of the rows of arrays (n, D) in which entries are missing, in order."""
        return np.zeros(0, np.int64) if self.observed is None else np.flatnonzero(~self.observed.all(-1))

    @property
    def plain(self) -> Array | Rows:
        """The values alone where there is nothing beside them, else these rows: what networks take."""
        return self.values if self.observed is None and self.context is None and self.weight is None else self

    def map(self, function: Callable[[Any], Any]) -> Rows:
        """The rows with a function applied to the values and, where they are, to what stands beside them."""
        return Rows(*(None if part is None else function(part) for part in self))

    def take(self, index: Index | tf.Tensor) -> Rows:
        """Some of the rows, chosen along the first axis by a slice or an array of indices."""
        if tf.is_tensor(self.values):
            return self.map(lambda part: tf.gather(part, index))
        return self.map(lambda part: part[index])

    def floats(self) -> Rows:
        """The rows with float32 values."""
        return self._replace(values=tf.cast(self.values, tf.float32))

    def with_nan(self) -> np.ndarray:
        """The values as a float32 array in which NaN is missing."""
        values = np.asarray(self.values, np.float32)
        return values if self.observed is None else np.where(self.observed, values, np.float32(np.nan))

    def padded(self, size: int) -> Rows:
        """n arrays' rows with the last one repeated up to `size`."""
        missing = size - len(self.values)
        return self if missing <= 0 else self.map(lambda part: np.pad(part, ((0, missing), (0, 0)), mode="edge"))


def as_rows(x: TensorLike | Rows) -> Rows:
    """`Rows` as they are; anything else as the values of complete rows."""
    return x if isinstance(x, Rows) else Rows(x)


def mean_over_rows(values: tf.Tensor, x: TensorLike | Rows) -> tf.Tensor:
    """(1/B) Σ_b v_b values_b over the last axis and the plain mean over those before, v the weights of the rows.

    Args:
      values: (…, B).
      x: the rows (B, D), a tensor or `Rows`.
    """
    weight = x.weight if isinstance(x, Rows) else None
    return tf.reduce_mean(values if weight is None else values * weight[..., 0])


def concatenate(parts: Iterable[Rows]) -> Rows:
    """Rows of arrays, one after the other; complete if all parts are."""
    parts = list(parts)
    values = np.concatenate([part.values for part in parts])
    context = None if parts[0].context is None else np.concatenate([part.context for part in parts])
    weight = None if parts[0].weight is None else np.concatenate([part.weight for part in parts])
    if all(part.complete for part in parts):
        return Rows(values, context=context, weight=weight)
    known = [np.ones(part.values.shape, bool) if part.complete else part.observed for part in parts]
    return Rows(values, np.concatenate(known), context, weight)
