"""What the checks let through, and what they refuse."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import methods
from tfdsmcmc._common import checks


@pytest.mark.parametrize(("check", "least"), [(checks.positive_integer, 1), (checks.nonnegative_integer, 0)])
def test_integers(check, least):
    for value in (least, 7, np.int64(7), np.uint8(7)):
        assert check("n", value) == value and type(check("n", value)) is int
    for value in (least - 1, 2.0, True, np.True_, "3", None, [1], np.array([3]), tf.constant(2.0)):
        with pytest.raises(ValueError, match=r"^n must be .* Received: n="):
            check("n", value)


@pytest.mark.parametrize("check", [checks.positive_number, checks.nonnegative_number])
def test_numbers(check):
    tensor, half = tf.constant([0.5, 2.0]), tf.constant(0.5, tf.bfloat16)
    for value in (1e-30, 2, np.float32(0.5), tensor, half, tf.constant(3), tf.Variable(-1.0), keras.Variable(-1.0)):
        assert check("rate", value) is value
    bad = (-1e-30, np.nan, np.inf, True, np.True_, "0.1", b"1", None, [1.0, 2.0], 1j)
    tensors = map(tf.constant, (-1.0, np.nan, np.inf, -1, [1.0, -1.0], "0.1", True, 1j))
    for value in (*bad, *tensors):
        with pytest.raises(ValueError, match=r"^rate must be .* Received: rate="):
            check("rate", value)


def test_a_tensor_whose_value_is_not_known_is_taken_as_it_is():
    found = tf.function(lambda value: checks.positive_number("rate", value))(tf.constant(-1.0))
    assert float(found) == -1.0


def test_what_is_no_optimizer():
    for value in ({}, "nothing", 3):
        with pytest.raises(ValueError, match=r"^optimizer must be .* Received: optimizer="):
            checks.optimizer(value)


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
    with pytest.raises(ValueError, match=r"above 0\. Received: rate="):
        checks.positive_number("rate", tf.constant([1.0, 0.0]))


def test_masks_of_what_is_observed():
    want = [[True, False], [True, True]]
    for mask in (want, np.array(want, np.int8), np.array(want, object), np.array(want, np.float32)):
        np.testing.assert_array_equal(checks.observed("mask", mask, (2, 2)), want)
    hiding = np.ma.array(want, mask=want)
    for mask in ([[1, 0], [1]], [[1, 2], [0, 1]], np.array([[None, True]] * 2), np.ones(3), hiding):
        with pytest.raises(ValueError, match="^mask .*Received: "):
            checks.observed("mask", mask, (2, 2))


@pytest.mark.parametrize("value", ["c", ["a"], np.array(["a", "b"]), None, 1, ("a", "b")])
def test_one_of_some_words(value):
    assert checks.one_of("letter", "a", ("a", "b")) == "a"
    with pytest.raises(ValueError, match=r"^letter is one of \['a', 'b'\]. Received: letter="):
        checks.one_of("letter", value, ("a", "b"))


def test_whole_learning_rates_are_floats():
    """Keras and TensorFlow tell 1 from 1.0: a temperature below 1 would be cast to 0."""
    for value in (1, np.int64(1)):
        assert checks.learning_rate(value) == 1.0 and type(checks.learning_rate(value)) is float
    for make in (methods.rws, methods.wake_sleep, methods.vae, methods.dsgnht_nais):
        make(learning_rate=1)
