"""Rows of zeros and ones that stay in a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.datasets.labels import label_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Index

BLOCK = 1 << 24  # bytes that are looked at, or written, at a time


class MappedRows:
    """Rows of zeros and ones in a file that the operating system maps into memory, page by page as they are read.

    `rows[first:last:step]` is a part of the rows, still in the file; `np.asarray` makes an array of them, in memory.

    Args:
      stored: uint8 or boolean array in a file (`np.memmap`), (n, D); with `packed` the bits, (n, ⌈D/8⌉).
      shape: of a row; (D,) by default.
      packed: whether a byte holds eight units.
      labels: (n,) or None.

    Attributes:
      units: D.
      num_rows: n, as `len` gives it.
      shape: of a row, such as (28, 28).
      packed: whether a byte holds eight units.
      labels: array (n,), or None where the data have none.
      reopen: function that maps the whole file again; None where nobody knows it. With it rows are pickled as their
        file and their places in it, which must be there where they are unpickled, else as an array.

    Raises:
      ValueError: for another shape, entries other than 0 and 1, or bits beyond the last unit; all rows are looked at
        once, a block at a time, where there can be such.
    """

    shape: tuple[int, ...]
    packed: bool
    labels: np.ndarray | None
    reopen: Callable[[], MappedRows] | None

    def __init__(
        self,
        stored: np.ndarray,
        shape: Sequence[int] | None = None,
        packed: bool = False,
        labels: ArrayLike | None = None,
    ):
        if not isinstance(stored, np.ndarray):
            raise ValueError(f"Mapped rows are an array in a file. Received: {type(stored).__name__}")
        if stored.ndim != 2 or stored.dtype not in (np.uint8, bool) or 0 in stored.shape:
            raise ValueError(
                "Mapped rows are uint8 (rows, features), a row or more. "
                f"Received: {stored.dtype.name} of shape {stored.shape}"
            )
        if packed and shape is None:
            raise ValueError("Rows of packed bits need the shape of a row. Received: shape=None")
        lengths = np.atleast_1d(np.asarray(stored.shape[1:] if shape is None else shape, object))
        shape = tuple(checks.positive_integer("shape", n) for n in lengths)
        if stored.shape[1] != bytes_of_row(math.prod(shape), packed):
            kind = "bytes of packed bits" if packed else "features"
            raise ValueError(f"A row has {stored.shape[1]} {kind}. Received: shape={shape}")
        labels = None if labels is None else label_array("labels", labels)
        if labels is not None and labels.shape != stored.shape[:1]:
            raise ValueError(f"labels must be one for each of {len(stored)} rows. Received: shape={labels.shape}")
        self.shape, self.packed, self.labels = shape, packed, labels
        self.units: int = math.prod(shape)
        self._stored = np.asarray(stored).view(np.uint8)
        self.reopen, self._places = None, range(len(stored))
        self._check()

    @property
    def num_rows(self) -> int:
        return len(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def take(self, index: Index) -> np.ndarray:
        """The rows of a slice, or of an array of indices in any order: uint8 (n, D) in memory."""
        rows = self._stored[index]
        return np.unpackbits(rows, axis=1, count=self.units) if self.packed else np.array(rows)

    def __getitem__(self, part: slice) -> MappedRows:
        if not isinstance(part, slice):
            raise ValueError(f"Some of the rows are chosen by a slice, or read with take. Received: [{part!r}]")
        found = object.__new__(MappedRows)
        found.__dict__.update(self.__dict__, _stored=self._stored[part], _places=self._places[part])
        found.labels = None if self.labels is None else self.labels[part]
        if not len(found):
            raise ValueError(f"At least one row must be left of {len(self)}. Received: [{part!r}]")
        return found

    def __reduce__(self) -> Any:
        return super().__reduce__() if self.reopen is None else (_reopened, (self.reopen, self._places, len(self)))

    def __array__(self, dtype: np.dtype[Any] | type[np.generic] | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("Mapped rows become an array by a copy. Received: copy=False")
        return self.take(slice(None)).astype(dtype or np.uint8, copy=False)

    def __repr__(self) -> str:
        return f"MappedRows(num_rows={len(self)}, shape={self.shape}, packed={self.packed})"

    def _check(self):
        """Raises a ValueError unless all units are 0 or 1, and the bits beyond the last unit are 0."""
        beyond = np.uint8((1 << -self.units % 8) - 1) if self.packed else np.uint8(0xFE)
        suspects = self._stored[:, -1:] if self.packed else self._stored
        if not beyond:
            return
        size = max(1, BLOCK // self._stored.shape[1])
        for first in range(0, len(self), size):
            wrong = (suspects[first : first + size] & beyond).any(axis=1)
            if wrong.any():
                what = f"bits beyond the {self.units} units" if self.packed else "entries other than 0 and 1"
                raise ValueError(f"Mapped rows are zeros and ones. Received: {what} in row {first + wrong.argmax()}")


def _reopened(reopen, places, count=None):
    """The rows at some places of a file, which must still be so many; pickles from before do not tell how many."""
    rows = reopen()[places.start : places.stop if places.stop >= 0 else None : places.step]
    if count is not None and len(rows) != count:
        raise ValueError(f"The file has changed since the rows were pickled: {count} of them. Received: {len(rows)}")
    return rows


def bytes_of_row(units: int, packed: bool) -> int:
    """The bytes that a row takes."""
    return -(-units // 8) if packed else units
