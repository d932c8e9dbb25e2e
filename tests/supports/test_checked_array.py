"""Arrays that users pass."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.supports import Binary, Real, checked_array


@pytest.mark.parametrize(
    "x",
    [
        [[0, 1], [1, 1]],
        [[False, True], [True, True]],
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        np.array([[0, 1], [1, 1]], np.int8),
        np.array([[0, 1], [1, 1]], object),
        tf.constant([[0.0, 1.0], [1.0, 1.0]]),
    ],
)
def test_binary_rows(x):
    rows = checked_array("x", x, 2, Binary())
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows, [[0, 1], [1, 1]])
    assert checked_array("x", x, 2, Real()).dtype == np.float32


def test_real_rows():
    rows = checked_array("x", [[0.25, -3.0]], 2, Real())
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, [[0.25, -3.0]])


@pytest.mark.parametrize(
    ("x", "why"),
    [
        ([[0.0, 0.5]], "binary"),
        ([[0, 2]], "binary"),
        ([[-1, 0]], "binary"),
        ([[0.0, np.nan]], "finite"),
        ([[0.0, np.inf]], "finite"),
        (np.zeros((3, 5)), "shape"),
        (np.zeros(2), "shape"),
        (np.zeros((3, 2, 1)), "shape"),
        (0.0, "shape"),
        (None, "numbers|shape"),
        (np.zeros((0, 2)), "at least one row"),
        ([["0", "1"]], "numbers"),
        ([[0, 1], [1]], "numbers"),
        ([[0j, 1j]], "real numbers"),
        (object(), "numbers"),
    ],
)
def test_bad_rows(x, why):
    with pytest.raises(ValueError, match=rf"^data must .*({why}).*Received: "):
        checked_array("data", x, 2, Binary())


def test_an_error_counts_the_bad_entries():
    with pytest.raises(ValueError, match=r"Received: 2 other entries, the first .*0\.5"):
        checked_array("x", [[0.5, 1.0], [0.0, 7.0]], 2, Binary())
    with pytest.raises(ValueError, match=r"Received: 3 entries that are NaN"):
        checked_array("x", [[np.nan, 1.0], [np.nan, np.inf]], 2, Real())


def test_what_is_infinite_in_single_precision_is_refused():
    """Under binary data it is refused for being neither 0 nor 1."""
    for x in ([[1e300, 0.0]], [[10**400, 0]], np.array([[0.0, -1e39]])):
        for missing in (False, True):
            with pytest.raises(ValueError, match="x .*Received: "):
                checked_array("x", x, 2, Real(), missing=missing)
    assert checked_array("x", [[1e38, np.nan]], 2, Real(), missing=True).dtype == np.float32
    with pytest.raises(ValueError, match="binary.*Received: 1 other entries"):
        checked_array("x", [[1 + 1e-12, 0.0]], 2, Binary())


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.float32, object])
def test_masked_arrays_are_incomplete_rows(dtype):
    x = np.ma.array(np.array([[1, 0], [1, 1]], dtype), mask=[[0, 0], [1, 0]])
    np.testing.assert_array_equal(checked_array("x", x, 2, Binary(), missing=True), [[1, 0], [np.nan, 1]])
    with pytest.raises(ValueError, match="Received: 1 entries that are NaN"):
        checked_array("x", x, 2, Binary())
    whole = checked_array("x", np.ma.array(x.data), 2, Binary())
    assert whole.dtype == np.uint8 and type(whole) is np.ndarray
    with pytest.raises(ValueError, match="real numbers. Received: dtype=complex"):
        checked_array("x", np.ma.array([[1j, 0]], mask=[[0, 1]]), 2, Binary(), missing=True)
