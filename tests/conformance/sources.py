"""What every source of rows must honour: `run_source_test` checks it in one call."""

from __future__ import annotations

import numpy as np

from tfdsmcmc.rows import ArraySource, RandomAccessSource, Rows, Source, rows_of
from tfdsmcmc.rows.rows import concatenate
from tfdsmcmc.supports import Binary, OneHot, Real

NAN = np.nan

# seven rows that differ from each other; where there are gaps, the first three rows are complete and the last is empty
BINARY = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 1, 1], [1, 0, 1]], np.float32)
GAPS = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1]], bool)
REAL = np.arange(21, dtype=np.float32).reshape(7, 3) / 8 - 1

CASES = {
    "binary": (BINARY, Binary()),
    "binary with gaps": (np.where(GAPS, np.float32(NAN), BINARY), Binary()),
    "real": (REAL, Real()),
    "real with gaps": (np.where(GAPS, np.float32(NAN), REAL), Real()),
    "groups": (np.eye(3, dtype=np.float32)[[0, 1, 2, 2, 1, 0, 1]], OneHot([3])),
    "groups with gaps": (
        np.where(GAPS.all(1, keepdims=True), np.float32(NAN), np.eye(3, dtype=np.float32)[[0, 1, 2, 2, 1, 0, 1]]),
        OneHot([3]),
    ),
    "one row": (BINARY[:1], Binary()),
    "one row with a gap": (np.array([[1, NAN, 0]], np.float32), Binary()),
}


def run_source_test(make, cases=tuple(CASES)):
    """Runs every check of the contract.

    Args:
      make: function (x, support) → source of the rows of x, an array (n, 3) of float32 in which NaN is missing. It is
        called several times, and its sources live side by side.
      cases: of `CASES`, those that such a source can hold.
    """
    for x, support in map(CASES.get, cases):
        source = make(x, support)
        assert isinstance(source, Source)
        assert source.units == 3 and source.num_rows == len(x)
        assert source.complete == (not np.isnan(x).any())
        _check_batches(source, x, support)
        _check_evenly_spaced(source, x, support)
        assert source.random_access == isinstance(source, RandomAccessSource) == hasattr(source, "take")
        if source.random_access:
            _check_take(source, x, support)
            _check_part(source, x, support)
            _check_one_kind(source, x, support)
            # whatever a source is made of, the same rows have the same checksum: a run may go on from another one
            assert source.checksum == ArraySource(rows_of("x", x, 3, support)).checksum
    if source.random_access:
        _check_checksum(make, "binary with gaps" in cases)


def assert_rows(rows, x, support):
    """Rows of arrays, finite ones, that say what x says, with the filling in place of what is missing."""
    assert isinstance(rows, Rows)
    assert type(rows.values) is np.ndarray and np.isfinite(rows.values).all()
    if rows.observed is not None:
        assert type(rows.observed) is np.ndarray and rows.observed.dtype == bool
    np.testing.assert_array_equal(rows.with_nan(), x)
    assert (rows.values[np.isnan(x)] == np.broadcast_to(np.float32(support.filling), x.shape)[np.isnan(x)]).all()


def _check_batches(source, x, support):
    """In order, all of one size but the last, and the same again when they are read again."""
    for size in (1, 3, len(x), len(x) + 1):
        for _ in range(2):
            batches = list(source.batches(size))
            sizes = [len(batch.values) for batch in batches]
            assert sizes == [min(size, len(x) - first) for first in range(0, len(x), size)]
            for first, batch in zip(range(0, len(x), size), batches):
                assert_rows(batch, x[first : first + size], support)
        assert_rows(concatenate(batches), x, support)
    whole = source.all()
    assert_rows(whole, x, support)
    assert whole.complete == source.complete
    # half of a pass leaves the next one as it is
    next(iter(source.batches(1)))
    assert_rows(next(iter(source.batches(len(x)))), x, support)


def _check_evenly_spaced(source, x, support):
    last = len(x) - 1
    assert_rows(source.evenly_spaced(1), x[:1], support)
    assert_rows(source.evenly_spaced(2), x[[0, last]], support)
    assert_rows(source.evenly_spaced(3), x[[0, last // 2, last]], support)
    assert_rows(source.evenly_spaced(len(x)), x, support)
    more = source.evenly_spaced(3 * len(x))
    counts = [(more.with_nan() == row)[:, ~np.isnan(row)].all(1).sum() for row in x[:3]]
    assert len(more.values) == 3 * len(x) and min(counts) >= 2, "each row is repeated"


def _check_take(source, x, support):
    rows, n = np.arange(len(x)), len(x)
    slices = [slice(0, n), slice(0, 1), slice(n - 1, n), slice(n // 2, n), slice(None), slice(None, None, 2)]
    orders = [rows[::-1], rows[-1:], np.array([n - 1, 0, n - 1, n // 2]), np.repeat(rows, 2)]
    for index in (*slices, *orders, *(order.astype(np.int32) for order in orders)):
        assert_rows(source.take(index), x[index], support)
    # what is handed out is a copy as far as its owner can tell: another one follows unchanged
    np.copyto(source.take(orders[0]).values, 0)
    assert_rows(source.take(orders[0]), x[orders[0]], support)


def _check_part(source, x, support):
    for rows in (slice(None, -1), slice(-2, None), slice(None)) if len(x) > 1 else (slice(None),):
        part = source.part(rows)
        assert type(part) is type(source) and part.num_rows == len(x[rows])
        assert_rows(part.all(), x[rows], support)


def _check_one_kind(source, x, support):
    """All that is taken is of one kind, or a program traced for some of the rows would not fit the others."""
    kind = np.uint8 if support.bits and source.complete else np.float32
    taken = [source.all(), source.evenly_spaced(1), source.take(slice(0, 1)), source.take(np.array([0]))]
    for rows in (*taken, *source.batches(1), *source.batches(3)):
        assert rows.values.dtype == kind and rows.complete == source.complete


def _check_checksum(make, gaps):
    """Of order, values, number and, where there can be such, gaps."""
    x, support = CASES["binary with gaps" if gaps else "binary"]
    swapped, changed, filled = x.copy(), x.copy(), x.copy()
    swapped[[0, 1]] = x[[1, 0]]
    changed[2, 0] = 1 - x[2, 0]
    filled[3, 0] = 0
    others = [swapped, changed, x[:-1], *([filled, np.nan_to_num(x), BINARY] if gaps else [])]
    numbers = [make(rows, support).checksum for rows in (x, *others)]
    assert len(set(numbers)) == len(numbers)
    assert all(isinstance(number, int) and 0 <= number < 2**63 for number in numbers)
    assert make(x.copy(), support).checksum == numbers[0]
