"""When posterior samples are collected, by what was recorded at the ends of epochs.

A record is [steps, epochs, validation log-likelihood or None, whether the weights were sampled, checksum].

    begins     with the first record after `burn_in` epochs of the chain; or when the validation log-likelihood has
               settled (`posterior.settling`), and at the latest for the second half of the epochs that there are for it
    then       every `every` epochs; or as often as spreads the samples over the rest, 25 minibatches apart at
               least and 1,000 at most
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfdsmcmc.posterior.settling import Trend

# Samples, at least and at most, where nothing else is said. Weights beyond the number of rows move freely within some
# tens of updates: averages unit by unit gain by each draw of them, and a short run has few.
_UPDATES_BETWEEN = 25, 1000


class Timing:
    """What the records so far say; each is looked at once.

    Args:
      num_samples: of each chain.
      patience: minibatches over which the validation has settled.
      burn_in: epochs, or None.
      every: epochs, or None.

    Attributes:
      burn_in: as it was given, or has been set since; like `every` it holds for the records that come.
      every: likewise.
      begun: the epochs that there were before the chain's first.
      first: the first record of the chain, or None.
      last_epoch: at which the fit ends, where that is known.
    """

    begun: int
    first: list[Any] | None
    last_epoch: int | None

    def __init__(self, num_samples: int, patience: int, burn_in: int | None, every: int | None):
        self._num_samples, self._patience, self.burn_in, self.every = num_samples, patience, burn_in, every
        self.begun, self.last_epoch = 0, None
        self.look_anew()

    def look_anew(self) -> None:
        """Forgets what the records so far said of the beginning."""
        self._began, self.first = None, None  # where collecting began, and the first record of the chain
        self._looked, self._trend = 0, Trend(self._patience)

    def is_due(self, records: Sequence[list[Any]]) -> bool:
        """Whether the last record is one at which to collect.

        A sample that falls due where weights are none, as in the hot part of a cycle, waits for the next that are."""
        start, last = self._start(records), len(records) - 1
        if start is None or not sampled(records[last]):
            return False
        if last == start:
            return True
        before = next(place for place in range(last - 1, start - 1, -1) if sampled(records[place]))
        if self.every is not None:
            return (last - start) // self.every > (before - start) // self.every
        first, earlier, now = (records[place][0] for place in (start, before, last))
        spacing = self._updates_between(records, start)
        return (now - first) // spacing > (earlier - first) // spacing

    def epochs_to_go(self, records: Sequence[list[Any]], missing: int) -> int:
        """After about how many more epochs the last of so many samples is due."""
        epoch = records[-1][1]
        apart = self.every or max(1, _UPDATES_BETWEEN[0] / max(1, _updates_an_epoch(records, len(records) - 1)))
        start = self._start(records)
        if start is None:
            return max(self.begun + (self.burn_in or 0) - epoch, 0) + 1 + math.ceil((missing - 1) * apart)
        since = len(records) - 1 - start
        return math.ceil((since // apart + missing) * apart) - since

    def _updates_between(self, records, start):
        """Updates from one sample to the next, where nothing is said."""
        fewest, most = _UPDATES_BETWEEN
        left = max(0, self.last_epoch - records[start][1]) * _updates_an_epoch(records, start)
        return min(max(left / self._num_samples, fewest), most)

    def _start(self, records):
        """The place in the records at which collecting began, or None."""
        while self._began is None and self._looked < len(records):
            record, self._looked = records[self._looked], self._looked + 1
            if sampled(record) and self._begins_with(record):
                self._began = self._looked - 1
        return self._began

    def _begins_with(self, record):
        """Whether collecting begins with this record of the chain, those before having been looked at."""
        self.first = record if self.first is None else self.first
        step, epoch, value = record[:3]
        if self.burn_in is not None:
            return epoch > self.begun + self.burn_in
        self._trend.add(step, value)
        late = self.last_epoch and 2 * epoch >= self.first[1] + self.last_epoch
        return late or self._trend.settled()


def _updates_an_epoch(records, place):
    """Those of the epoch of a record, or of the second where it is the first: the steps before it may be of fits whose
    epochs were longer. A single record knows the mean alone."""
    place = min(max(place, 1), len(records) - 1)
    before = records[place - 1] if place else [0, 0]
    return (records[place][0] - before[0]) / max(1, records[place][1] - before[1])


def sampled(record: list[Any]) -> bool:
    """Whether the weights were sampled at a record; records of older runs are of samplers throughout."""
    return record[3] if len(record) > 3 else True
