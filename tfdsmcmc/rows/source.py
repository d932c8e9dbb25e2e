"""The contract of a source of rows.

A source yields its rows in order, batch after batch (`batches`), which is all that estimates need. One with random
access also gives any of its rows (`take`), which is what learning in a random order, persistent chains over the latent
variables and an exact resume need. Nobody asks a source what it is made of.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.rows.rows import Rows, concatenate

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Index, Seed
    from tfdsmcmc.supports import Support


class Source:
    """Base class: a subclass defines `num_rows`, `complete` and `batches`.

    Attributes:
      units: D.
      random_access: whether there is `take`.
      on_device: whether all rows are to be kept as one tensor, in the memory of the device.
      first_row: the number of the first row in the source that these are a part of.
      checked_for: the support whose values all rows were seen to have, or are seen to have when they are read.
    """

    units: int
    random_access = False
    on_device = False
    first_row = 0
    checked_for: Support | None = None

    @property
    def num_rows(self) -> int:
        """N, the number of rows; to know it a stream may have to be read once."""
        raise NotImplementedError(f"{type(self).__name__} must define num_rows.")

    @property
    def total_weight(self) -> float:
        """What the rows count for in a posterior: N, or the sum of their weights."""
        return self.num_rows

    @property
    def complete(self) -> bool:
        """Whether nothing is missing in any row; to know it a stream may have to be read once."""
        raise NotImplementedError(f"{type(self).__name__} must define complete.")

    def batches(self, size: int) -> Iterator[Rows]:
        """Yields `Rows` of arrays, `size` rows at a time, in order; the last ones may be fewer."""
        raise NotImplementedError(f"{type(self).__name__} must define batches(size).")

    def check(self) -> None:
        """Raises a ValueError for rows that do not fit, as far as that is not known already."""

    def all(self) -> Rows:
        """All rows in memory."""
        return concatenate(self.batches(10_000))

    def evenly_spaced(self, count: int) -> Rows:
        """`count` rows spread evenly over all of them, each repeated where there are fewer."""
        wanted, first, found = spread(self.num_rows, count), 0, []
        for batch in self.batches(10_000):
            size = len(batch.values)
            here = wanted[(wanted >= first) & (wanted < first + size)]
            if len(here):
                found.append(batch.take(here - first))
            first += size
            if first > wanted[-1]:  # a stream may go on for ever
                break
        return concatenate(found)


class RandomAccessSource(Source):
    """Base class: a subclass defines `num_rows`, `complete`, `take` and `part`."""

    random_access = True

    def take(self, index: Index) -> Rows:
        """The rows of a slice, or of an array of indices in any order: `Rows` of arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define take(index).")

    def of_epoch(self, seed: Seed) -> RandomAccessSource:
        """The source that an epoch reads: itself, unless its rows are drawn anew under the seed of the epoch."""
        return self

    def part(self, rows: slice) -> RandomAccessSource:
        """A source of some of the rows, kept where these are."""
        raise NotImplementedError(f"{type(self).__name__} must define part(rows).")

    def batches(self, size: int) -> Iterator[Rows]:
        for first in range(0, self.num_rows, size):
            yield self.take(slice(first, min(first + size, self.num_rows)))

    def evenly_spaced(self, count: int) -> Rows:
        return self.take(spread(self.num_rows, count))

    @property
    def checksum(self) -> int:
        """A number that tells these rows, in this order, from others."""
        total = 0
        for batch in self.batches(100_000):
            for part in batch:
                total = total if part is None else zlib.crc32(np.ascontiguousarray(part), total)
        return total + (self.num_rows << 32)


def spread(rows: int, count: int) -> np.ndarray:
    """The numbers of `count` of the rows, evenly spaced."""
    return np.linspace(0, rows - 1, count).round().astype(np.int64)
