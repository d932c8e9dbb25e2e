"""What the checks let through, and what they refuse."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common import checks


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


def test_masks_of_what_is_observed():
    want = [[True, False], [True, True]]
    for mask in (want, np.array(want, np.int8), np.array(want, object), np.array(want, np.float32)):
        np.testing.assert_array_equal(checks.observed("mask", mask, (2, 2)), want)
    hiding = np.ma.array(want, mask=want)
    for mask in ([[1, 0], [1]], [[1, 2], [0, 1]], np.array([[None, True]] * 2), np.ones(3), hiding):
        with pytest.raises(ValueError, match="^mask .*Received: "):
            checks.observed("mask", mask, (2, 2))
