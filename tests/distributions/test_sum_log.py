"""Sums of logarithms against NumPy in float64, from the least to the largest factors."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.distributions.sum_log import sum_log, sum_log_of_mantissas

WIDTHS = [1, 7, 16, 17, 200]


def factors(units, low, high, seed=0):
    """Rows of float32 factors whose logarithms are uniform."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(np.log(low), np.log(high), (5, units))).astype(np.float32)


def assert_sums(got, x):
    """Up to the rounding of float32: of the exponents' sum, and of a product of 16 for each of the others."""
    logs = np.log(x.astype(np.float64))
    error = np.abs(got - logs.sum(-1))
    assert got.shape == x.shape[:-1] and (error <= 1e-6 * (np.abs(logs).sum(-1) + x.shape[-1])).all(), error


@pytest.mark.parametrize("units", WIDTHS)
@pytest.mark.parametrize(("low", "high"), [(1e-30, 1e30), (1e-30, 1e-28), (1e28, 1e30), (0.5, 2.0), (1.0, 1.001)])
def test_sum_log(low, high, units):
    x = factors(units, low, high)
    assert_sums(sum_log(tf.constant(x)).numpy(), x)


@pytest.mark.parametrize("units", WIDTHS)
def test_sum_log_of_mantissas(units):
    x = factors(units, 1.0, 2.0)
    assert_sums(sum_log_of_mantissas(tf.constant(x)).numpy(), x)
    np.testing.assert_allclose(sum_log_of_mantissas(tf.fill([units], 2.0)), units * np.log(2), rtol=1e-6)


def test_the_ends_of_the_normal_numbers():
    information = np.finfo(np.float32)
    for value in (information.tiny, information.max, 1.0, np.nextafter(np.float32(1), np.float32(0)), 2.0):
        x = np.full([3, 16], value, np.float32)
        assert_sums(sum_log(tf.constant(x)).numpy(), x)
    np.testing.assert_array_equal(sum_log(tf.ones([4, 33])), np.zeros(4))


@pytest.mark.parametrize("function", [sum_log, sum_log_of_mantissas])
def test_no_factors_sum_to_nothing(function):
    np.testing.assert_array_equal(function(tf.zeros([3, 0])), np.zeros(3))
    assert function(tf.ones([0, 5])).shape == (0,)


def test_leading_axes_stay():
    x = factors(6 * 7, 1e-3, 1e3).reshape(5, 6, 7)
    assert_sums(sum_log(tf.constant(x)).numpy(), x)
    assert_sums(sum_log(tf.constant(x[0, 0])).numpy(), x[0, 0])


def test_shapes_known_at_run_time_only():
    late = tf.function(sum_log, input_signature=[tf.TensorSpec([None, None])])
    for units in (1, 48):
        x = factors(units, 1e-30, 1e30)
        assert_sums(late(tf.constant(x)).numpy(), x)


def test_jit_changes_nothing():
    x = factors(200, 1e-30, 1e30)
    assert_sums(tf.function(sum_log, jit_compile=True)(tf.constant(x)).numpy(), x)
