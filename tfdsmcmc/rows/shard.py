"""Some rows of a source, which know where they stand in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Index, Seed
    from tfdsmcmc.rows.rows import Rows


class Shard(RandomAccessSource):
    """Rows first, …, last − 1 of a source. Estimates of them are, number by number, those of the whole source.

    Batches have the seeds that they have there: `first_row` is a multiple of the batch size.

    Args:
      source: of all rows, with random access.
      first: the number of the first row.
      last: the number of the row after the last.
    """

    def __init__(self, source: RandomAccessSource, first: int, last: int):
        self.source: RandomAccessSource = source.part(slice(first, last))
        self.first_row: int = first
        self.units: int = source.units
        self.on_device: bool = source.on_device

    @property
    def context(self) -> object:
        """What the rows are given, if anything."""
        return getattr(self.source, "context", None)

    @property
    def num_rows(self) -> int:
        return self.source.num_rows

    @property
    def complete(self) -> bool:
        return self.source.complete

    def take(self, index: Index) -> Rows:
        return self.source.take(index)

    def part(self, rows: slice) -> RandomAccessSource:
        return self.source.part(rows)

    def of_epoch(self, seed: Seed) -> RandomAccessSource:
        return self.source.of_epoch(seed)
