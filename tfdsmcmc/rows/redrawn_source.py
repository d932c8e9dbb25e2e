"""Rows whose entries are drawn anew each epoch from the probabilities that the data are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc.datasets import GreyRows
from tfdsmcmc.rows.rows import Rows
from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Index, Seed

_LARGEST = 2**31  # counters of a draw's words


class RedrawnSource(RandomAccessSource):
    """Draws x_nd ~ Bernoulli(value_nd/255), each from the epoch's seed and its own place alone.

    Args:
      grey: `datasets.GreyRows`.
      seed: int32 of shape (2,), the epoch's.

    Raises:
      ValueError: for 2³¹ entries or more.
    """

    grey: GreyRows
    units: int
    complete = True

    def __init__(self, grey: GreyRows, seed: Seed = 0):
        self.grey, self.units = grey, grey.units
        # a part of the rows keeps their numbers, and with them their draws
        self._seed, self._numbers = seed, np.arange(len(grey))
        if len(grey) * grey.units >= _LARGEST:
            raise ValueError(f"Rows that are drawn anew have less than 2^31 entries. Received: {grey!r}")

    @property
    def num_rows(self) -> int:
        return len(self.grey)

    @property
    def checksum(self) -> int:
        """Of the first draws, which tell the data from others."""
        return RandomAccessSource.checksum.fget(self.of_epoch(0))

    def take(self, index: Index) -> Rows:
        numbers = self._numbers[index]
        places = numbers[:, np.newaxis] * self.units + np.arange(self.units)
        uniform = random.uniform_at(places.reshape(-1), self._seed).numpy().reshape(places.shape)
        # an intensity of 255 is always a 1, of 0 never
        return Rows((uniform * 255.0 < self.grey.values[index]).astype(np.uint8))

    def part(self, rows: slice) -> RedrawnSource:
        found = object.__new__(RedrawnSource)
        found.__dict__.update(self.__dict__, grey=self.grey[rows], _numbers=self._numbers[rows])
        return found

    def of_epoch(self, seed: Seed) -> RedrawnSource:
        found = object.__new__(RedrawnSource)
        found.__dict__.update(self.__dict__, _seed=seed)
        return found
