"""Rows as a value."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.rows.rows import concatenate

NAN = np.nan
X = np.array([[1, NAN, 0], [0, 1, 1], [NAN, NAN, NAN], [0, 0, 1]], np.float32)
OBSERVED = ~np.isnan(X)
GAPPY = Rows(np.where(OBSERVED, X, np.float32(0.5)), OBSERVED)
COMPLETE = Rows(np.array([[1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 1]], np.uint8))


def assert_same(one, other):
    assert isinstance(one, Rows) and (one.observed is None) == (other.observed is None)
    for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_networks_take():
    assert COMPLETE.complete and COMPLETE.plain is COMPLETE.values
    assert not GAPPY.complete and GAPPY.plain is GAPPY
    assert as_rows(GAPPY) is GAPPY
    assert as_rows(X).values is X and as_rows(X).complete


def test_places_with_gaps():
    """Of rows with a mask that hides nothing too, and of none."""
    np.testing.assert_array_equal(GAPPY.with_gaps, [0, 2])
    for rows in (COMPLETE, COMPLETE._replace(observed=np.ones((4, 3), bool)), GAPPY.take(slice(0, 0))):
        assert rows.with_gaps.shape == (0,) and rows.with_gaps.dtype == np.int64


def test_with_nan():
    for rows, x in ((GAPPY, X), (COMPLETE, COMPLETE.values)):
        for form in (rows, rows.map(tf.constant)):
            found = form.with_nan()
            assert found.dtype == np.float32 and isinstance(found, np.ndarray)
            np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("rows", [GAPPY, COMPLETE], ids=["gaps", "complete"])
def test_take(rows):
    """Slices and indices of arrays; indices of tensors, a tensor among them."""
    x, places = rows.with_nan(), np.array([3, 0, 0])
    for index in (slice(1, 3), slice(None), places):
        taken = rows.take(index)
        assert taken.complete == rows.complete and type(taken.values) is np.ndarray
        np.testing.assert_array_equal(taken.with_nan(), x[index])
    for index in (places, tf.constant(places)):
        taken = rows.map(tf.constant).take(index)
        assert tf.is_tensor(taken.values)
        np.testing.assert_array_equal(taken.with_nan(), x[places])


def test_map_leaves_what_is_not_there():
    calls = []

    def reverse(part):
        calls.append(part)
        return part[::-1]

    assert_same(GAPPY.map(reverse), Rows(GAPPY.values[::-1], OBSERVED[::-1]))
    assert len(calls) == 2
    assert_same(COMPLETE.map(reverse), Rows(COMPLETE.values[::-1]))
    assert len(calls) == 3


def test_floats():
    found = COMPLETE.floats()
    assert found.values.dtype == tf.float32 and found.complete
    np.testing.assert_array_equal(found.values, COMPLETE.values)
    assert GAPPY.floats().observed is OBSERVED


def test_padded():
    """With copies of the last row, complete or not; never shorter."""
    for rows in (GAPPY, COMPLETE, GAPPY.take(slice(0, 3))):
        count = len(rows.values)
        padded = rows.padded(count + 2)
        assert_same(padded.take(slice(0, count)), rows)
        assert_same(padded.take(slice(count, None)), rows.take(np.array([count - 1] * 2)))
        for size in (count, 1):
            assert rows.padded(size) is rows


def test_concatenate():
    whole = concatenate([GAPPY.take(slice(0, 1)), COMPLETE, GAPPY.take(slice(1, 4))])
    want = np.concatenate([X[:1], COMPLETE.values, X[1:]])
    np.testing.assert_array_equal(whole.with_nan(), want)
    np.testing.assert_array_equal(whole.observed, ~np.isnan(want))
    assert_same(concatenate(iter([COMPLETE, COMPLETE])), Rows(np.tile(COMPLETE.values, [2, 1])))
    assert concatenate([COMPLETE, COMPLETE]).values.dtype == np.uint8


def test_a_program_is_traced_for_each_kind():
    """Rows with and without gaps are different nests: each has a program of its own, and no third one is made."""
    traces = []

    @tf.function(reduce_retracing=True)
    def total(rows):
        traces.append(rows.complete)
        return tf.reduce_sum(rows.floats().values)

    for _ in range(2):
        for rows in (GAPPY, COMPLETE):
            np.testing.assert_allclose(total(rows.map(tf.constant)), rows.values.sum())
    assert traces == [False, True]
