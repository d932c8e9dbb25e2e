"""What the checks let through, and what they refuse."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import checks


@pytest.mark.parametrize(("check", "least"), [(checks.positive_integer, 1), (checks.nonnegative_integer, 0)])
def test_integers(check, least):
    for value in (least, 7, np.int64(7), np.uint8(7)):
        assert check("n", value) == value and type(check("n", value)) is int
    for value in (least - 1, 2.0, True, np.True_, "3", None, [1], np.array([3])):
        with pytest.raises(ValueError, match=r"^n must be .* Received: n="):
            check("n", value)


@pytest.mark.parametrize("check", [checks.positive_number, checks.nonnegative_number])
def test_numbers(check):
    tensor = tf.constant(-1.0)
    for value in (1e-30, 2, np.float32(0.5), tensor):
        assert check("rate", value) is value
    for value in (-1e-30, np.nan, np.inf, True, np.True_, "0.1", b"1", None, [1.0, 2.0], 1j):
        with pytest.raises(ValueError, match=r"^rate must be .* Received: rate="):
            check("rate", value)


def test_fractions():
    for value in (1e-30, 0.5, np.float32(0.25), tf.constant(0.75)):
        assert checks.fraction("part", value) == float(value)
    for value in (0, 1.0, -0.1, 2, np.nan, np.inf, True, "0.5", None, [0.1], tf.constant([0.1, 0.2])):
        with pytest.raises(ValueError, match=r"^part must be a number between 0 and 1, .* Received: part="):
            checks.fraction("part", value)


def test_zero_is_not_positive():
    assert checks.nonnegative_number("rate", 0.0) == 0.0
    with pytest.raises(ValueError, match=r"above 0\. Received: rate=0"):
        checks.positive_number("rate", 0.0)


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
    rows = checks.rows("x", x, 2, binary=True)
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows, [[0, 1], [1, 1]])
    assert checks.rows("x", x, 2, binary=False).dtype == np.float32


def test_real_rows():
    rows = checks.rows("x", [[0.25, -3.0]], 2, binary=False)
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
        checks.rows("data", x, 2, binary=True)


def test_an_error_counts_the_bad_entries():
    with pytest.raises(ValueError, match=r"Received: 2 other entries, the first .*0\.5"):
        checks.rows("x", [[0.5, 1.0], [0.0, 7.0]], 2, binary=True)
    with pytest.raises(ValueError, match=r"Received: 3 entries that are NaN"):
        checks.rows("x", [[np.nan, 1.0], [np.nan, np.inf]], 2, binary=False)


def test_what_is_infinite_in_single_precision_is_refused():
    """Under binary data it is refused for being neither 0 nor 1."""
    for x in ([[1e300, 0.0]], [[10**400, 0]], np.array([[0.0, -1e39]])):
        for missing in (False, True):
            with pytest.raises(ValueError, match="x .*Received: "):
                checks.rows("x", x, 2, binary=False, missing=missing)
    assert checks.rows("x", [[1e38, np.nan]], 2, binary=False, missing=True).dtype == np.float32
    with pytest.raises(ValueError, match="binary.*Received: 1 other entries"):
        checks.rows("x", [[1 + 1e-12, 0.0]], 2, binary=True)


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.float32, object])
def test_masked_arrays_are_incomplete_rows(dtype):
    x = np.ma.array(np.array([[1, 0], [1, 1]], dtype), mask=[[0, 0], [1, 0]])
    np.testing.assert_array_equal(checks.rows("x", x, 2, True, missing=True), [[1, 0], [np.nan, 1]])
    with pytest.raises(ValueError, match="Received: 1 entries that are NaN"):
        checks.rows("x", x, 2, binary=True)
    whole = checks.rows("x", np.ma.array(x.data), 2, binary=True)
    assert whole.dtype == np.uint8 and type(whole) is np.ndarray
    with pytest.raises(ValueError, match="real numbers. Received: dtype=complex"):
        checks.rows("x", np.ma.array([[1j, 0]], mask=[[0, 1]]), 2, binary=True, missing=True)


def test_masks_of_what_is_observed():
    want = [[True, False], [True, True]]
    for mask in (want, np.array(want, np.int8), np.array(want, object), np.array(want, np.float32)):
        np.testing.assert_array_equal(checks.observed("mask", mask, (2, 2)), want)
    hiding = np.ma.array(want, mask=want)
    for mask in ([[1, 0], [1]], [[1, 2], [0, 1]], np.array([[None, True]] * 2), np.ones(3), hiding):
        with pytest.raises(ValueError, match="^mask .*Received: "):
            checks.observed("mask", mask, (2, 2))
