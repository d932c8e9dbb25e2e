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
