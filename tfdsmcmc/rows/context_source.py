"""Rows of any source, each with a context of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Index, Seed
    from tfdsmcmc.rows.rows import Rows


class ContextSource(RandomAccessSource):
    """A source of rows and their context, which is kept in memory.

    Args:
      source: of the rows, with random access.
      context: (N, C) float32.
    """

    def __init__(self, source: RandomAccessSource, context: np.ndarray):
        self.source: RandomAccessSource = source
        self.context: np.ndarray = context
        self.units: int = source.units
        self.on_device: bool = source.on_device

    @property
    def num_rows(self) -> int:
        return self.source.num_rows

    @property
    def complete(self) -> bool:
        return self.source.complete

    def take(self, index: Index) -> Rows:
        return self.source.take(index)._replace(context=self.context[index])

    def part(self, rows: slice) -> ContextSource:
        return ContextSource(self.source.part(rows), self.context[rows])

    def of_epoch(self, seed: Seed) -> ContextSource:
        return ContextSource(self.source.of_epoch(seed), self.context)
