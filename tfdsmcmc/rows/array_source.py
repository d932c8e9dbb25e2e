"""Rows in memory, kept as one tensor on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.rows.rows import Rows
from tfdsmcmc.rows.source import RandomAccessSource, Source

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Index


class ArraySource(RandomAccessSource):
    """A source of rows that are in memory.

    Args:
      rows: `Rows` of arrays.
    """

    on_device = True

    def __init__(self, rows: Rows):
        self.rows = rows
        self.units: int = rows.values.shape[1]

    @property
    def context(self) -> np.ndarray | None:
        """What the rows are given, (N, C), if anything."""
        return self.rows.context

    @property
    def num_rows(self) -> int:
        return len(self.rows.values)

    @property
    def complete(self) -> bool:
        return self.rows.complete

    def take(self, index: Index) -> Rows:
        return self.rows.take(index)

    def part(self, rows: slice) -> ArraySource:
        return ArraySource(self.rows.take(rows))

    def all(self) -> Rows:
        return self.rows


def kept(source: Source) -> Source:
    """A source of the same rows that gives them in the same order whenever it is read.

    A stream is read into memory: its order may be another one each time.
    """
    return source if source.random_access else ArraySource(source.all())
