"""A `tf.data.Dataset` of batches as a source: read in order, checked batch by batch, never held as a whole."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.rows.rows import concatenate
from tfdsmcmc.rows.source import Source

if TYPE_CHECKING:
    from tfdsmcmc.rows.rows import Rows


_LONG = 60.0  # seconds after which a reader may ask why nothing happens


class DatasetSource(Source):
    """A stream of rows.

    Args:
      name: what to call the data in an error.
      dataset: its elements are arrays (B, D), or tuples of one.
      units: D.
      num_rows: N where it is known; by default the rows are counted, and checked, in one pass when it is asked for.
      rows_of: function from an element to `Rows`, with the checks.
      missing: whether entries may be missing.
      failures: where the elements' maker leaves what was wrong with one, as tf.data raises errors of its own.

    Attributes:
      dataset: elements (B, D).
      failures: see above.

    Raises:
      ValueError: for elements of another kind, or an infinite dataset without `num_rows`.
    """

    dataset: tf.data.Dataset[Any]
    units: int

    def __init__(
        self,
        name: str,
        dataset: tf.data.Dataset[Any],
        units: int,
        num_rows: int | None,
        rows_of: Callable[[Any], Rows],
        missing: bool,
        failures: list[ValueError] | None = None,
    ):
        spec = dataset.element_spec
        if isinstance(spec, tuple) and len(spec) == 1:
            dataset, spec = dataset.map(lambda x: x), spec[0]
        if not isinstance(spec, tf.TensorSpec) or spec.shape.rank != 2:
            raise ValueError(
                f"{name}, a dataset, yields batches of shape (rows, {units}). Received: {dataset.element_spec}"
            )
        if num_rows is None and int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
            raise ValueError(f"{name}, an infinite dataset, must be finite or have num_rows. Received: num_rows=None")
        self.dataset, self.units = dataset, units
        self.rows_of = rows_of
        self._name = name
        self._counted = num_rows is None
        self._num_rows = None if num_rows is None else checks.positive_integer("num_rows", num_rows)
        self.failures: list[ValueError] = [] if failures is None else failures
        self._may_have_gaps = missing and spec.dtype.is_floating

    @property
    def known_rows(self) -> int | None:
        """N as it was given."""
        return self._num_rows

    @property
    def num_rows(self) -> int:
        return self._survey[0] if self._counted else self._num_rows

    @property
    def complete(self) -> bool:
        """Of a dataset that is not read beforehand, whether its type leaves no room for gaps."""
        return self._survey[1] if self._counted else not self._may_have_gaps

    @property
    def batch_sizes(self) -> tuple[int, int] | None:
        """(the rows of its smallest batch, those of its largest); None of a dataset that is not read beforehand."""
        return self._survey[2] if self._counted else None

    def check(self) -> None:
        """Raises a ValueError for rows that do not fit: for all of them, or the first batch where N was given."""
        if self._counted:
            _ = self._survey
        else:
            next(self.batches(1))

    def batches(self, size: int) -> Iterator[Rows]:
        held, count, read = [], 0, False
        for element in self._elements():
            held.append(self.rows_of(element))
            count, read = count + len(held[-1].values), True
            if count >= size:
                rows, whole = concatenate(held), count // size * size
                for first in range(0, whole, size):
                    yield rows.take(slice(first, first + size))
                held, count = [rows.take(slice(whole, None))] if whole < count else [], count - whole
        if not read:
            raise self._nothing()
        if held:
            yield concatenate(held)

    @functools.cached_property
    def _survey(self):
        """(N, whether nothing is missing, `batch_sizes`), from one pass, which checks all rows."""
        unknown = int(self.dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY
        sizes, complete, warn_at = [], True, time.monotonic() + _LONG if unknown else float("inf")
        for element in self._elements():
            rows = self.rows_of(element)
            sizes.append(len(rows.values))
            complete = complete and rows.complete
            if time.monotonic() > warn_at:
                self._warn_of_no_end(sum(sizes))
                warn_at = float("inf")
        if not sum(sizes):
            raise self._nothing()
        return sum(sizes), complete, (min(sizes), max(sizes))

    def _warn_of_no_end(self, count):
        warnings.warn(
            f"{self._name}, a dataset of unknown length, is read once to count its rows, for a minute by now. If "
            f"it has no end give num_rows and steps_per_epoch. Received: {count:,} rows so far",
            UserWarning,
            stacklevel=3,
        )

    def _elements(self):
        try:
            yield from self.dataset
        except tf.errors.OpError:
            self.raise_failure()
            raise

    def raise_failure(self) -> None:
        """Raises what was wrong with an element, if anything was."""
        if self.failures:
            raise self.failures.pop() from None

    def _nothing(self):
        return ValueError(f"{self._name} must have at least one row. Received: an empty dataset")


def is_dataset(x: object) -> bool:
    """Whether x is a `tf.data.Dataset`."""
    return isinstance(x, tf.data.Dataset)
