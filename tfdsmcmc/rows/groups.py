"""Zeros and ones that are codes of categories, found in the rows: which columns are a one among zeros.

An interval of columns [i, j) is a group where each row has one 1 in it. With c_i the sums over the columns before i,
one for each row, that is c_j = c_i + 1 in every row. Where a value is missing a group may have no 1 at all: the row has
at most one in [i, j) then, and "none" is a further state.

Intervals of the first kind, whose first and last column have a 1 somewhere, are hardly there by chance. Those that do
not overlap and cover the most columns are taken, and among equals the most intervals. Between them, runs of columns of
which no row has two 1s are taken from left to right. That may be chance where ones are rare: of independent columns
with shares p and p' of ones n p p' rows of n are expected to have both, and none of them does with probability
e^(−n p p'). The ends of a run are cut off as long as that is above 10⁻⁶ for an end and the others of the run. Columns
within a run are taken on trust: a rare bit among the states of a code is taken for one of them.

All rows of such a table are of that form, and the others have no probability: log-likelihoods of the columns and of
their groups are of the same rows, and compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.columns import Binary, Categorical
from tfdsmcmc.supports import Binary as BinarySupport
from tfdsmcmc.supports import checked_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.columns import Kind

_SURE = -np.log(1e-6)


def groups(x: ArrayLike) -> list[Kind]:
    """The columns of rows of zeros and ones, one-hot codes as one each: what a `layers.Mixed` takes.

    Args:
      x: (n, D), complete.

    Returns:
      List of `columns.Categorical`, with `none` where a row may have no 1, and `columns.Binary`, side by side in the
      order of x.

    Raises:
      ValueError: for other data than zeros and ones.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> ds.rows.groups(np.concatenate([np.eye(3)[[0, 1, 2, 1]], [[1], [0], [1], [0]]], 1))
    [Categorical(states=3, none=False), Binary()]
    """
    try:
        array = np.asarray(x)
    except ValueError as error:
        raise ValueError(f"x must be rows of zeros and ones. Received: {error}") from None
    x = checked_array("x", x, array.shape[-1] if array.ndim else 0, BinarySupport())
    sums = np.concatenate([np.zeros((len(x), 1), np.int32), np.cumsum(x, 1, dtype=np.int32)], 1)
    ones, kinds, place = x.sum(0, dtype=np.int64), [], 0
    for first, end in _exact(sums, ones > 0):
        kinds += [*_between(sums, ones, place, first), Categorical(end - first)]
        place = end
    return [*kinds, *_between(sums, ones, place, x.shape[1])]


def _exact(sums, some):
    """Intervals (i, j) with one 1 in each row that cover the most columns, and of such the most intervals."""
    columns = sums.shape[1] - 1
    starts = [[] for _ in range(columns + 1)]  # of the intervals that end at j
    for i in range(columns):
        for j in range(i + 2, columns + 1):
            found = sums[:, j] - sums[:, i]
            if found.max() > 1:
                break
            if found.min() == 1 and some[i] and some[j - 1]:
                starts[j].append(i)
    best = [(0, 0, None)]  # (columns covered, intervals, start of the last one) among the first j columns
    for j in range(1, columns + 1):
        choices = [(*best[j - 1][:2], None), *((best[i][0] + j - i, best[i][1] + 1, i) for i in starts[j])]
        best.append(max(choices, key=lambda choice: choice[:2]))
    intervals, j = [], columns
    while j:
        start = best[j][2]
        if start is not None:
            intervals.append((start, j))
        j = j - 1 if start is None else start
    return intervals[::-1]


def _between(sums, ones, place, end):
    """The kinds of the columns between two groups: runs of at most one 1 in each row, and bits."""
    kinds, rows = [], len(sums)
    while place < end:
        j = place + 1
        while j < end and (sums[:, j + 1] - sums[:, place]).max() <= 1:
            j += 1
        first = place
        while j - first > 1 and not _sure(rows, ones, first, j, first):
            first += 1
        while j - first > 1 and not _sure(rows, ones, first, j, j - 1):
            j -= 1
        kinds += [Binary()] * (first - place)
        kinds += [Binary()] if j - first == 1 else [Categorical(j - first, none=True)]
        place = j
    return kinds


def _sure(rows, ones, first, end, column):
    """Whether it is no chance that one column has no 1 where the others of a run have one."""
    return ones[column] * (ones[first:end].sum() - ones[column]) / rows >= _SURE
