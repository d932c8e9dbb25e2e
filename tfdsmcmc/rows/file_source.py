"""Rows in a file that the operating system maps into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.datasets import MappedRows
from tfdsmcmc.rows.rows import Rows
from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Index


class FileSource(RandomAccessSource):
    """A source of rows that stay in their file: the rows that are asked for are read, and no others.

    Args:
      mapped: `datasets.MappedRows`.
      bits: whether the model's data are zeros and ones: rows are uint8 then, else float32, as those of an array are.
    """

    mapped: MappedRows
    units: int
    complete = True

    def __init__(self, mapped: MappedRows, bits: bool = True):
        self.mapped, self.units = mapped, mapped.units
        self._bits = bits

    @property
    def num_rows(self) -> int:
        return len(self.mapped)

    def take(self, index: Index) -> Rows:
        return Rows(self.mapped.take(index).astype(np.uint8 if self._bits else np.float32, copy=False))

    def part(self, rows: slice) -> FileSource:
        return FileSource(self.mapped[rows], self._bits)


def mapped_rows(x: object) -> MappedRows | None:
    """x as mapped rows where it is such, or an array of bytes or booleans in a file (`np.memmap`); else None."""
    if isinstance(x, np.memmap) and x.ndim == 2 and x.dtype in (np.uint8, bool):
        return MappedRows(x)
    return x if isinstance(x, MappedRows) else None
