"""Sums of logarithms against NumPy in float64."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.distributions.sum_log import sum_log_of_mantissas


def factors(*shape):
    """Float32 factors in [1, 2] whose logarithms are uniform."""
    return np.exp(np.random.default_rng(0).uniform(0, np.log(2), shape)).astype(np.float32)


def assert_sums(got, x):
    """Up to the rounding of float32: of a product of 16 for each of the others."""
    logs = np.log(x.astype(np.float64))
    error = np.abs(got - logs.sum(-1))
    assert got.shape == x.shape[:-1] and (error <= 1e-6 * (logs.sum(-1) + x.shape[-1])).all(), error


@pytest.mark.parametrize("units", [1, 7, 16, 17, 200])
def test_sum_log_of_mantissas(units):
    x = factors(5, units)
    assert_sums(sum_log_of_mantissas(tf.constant(x)).numpy(), x)
    np.testing.assert_allclose(sum_log_of_mantissas(tf.fill([units], 2.0)), units * np.log(2), rtol=1e-6)
    np.testing.assert_array_equal(sum_log_of_mantissas(tf.ones([4, units])), np.zeros(4))


@pytest.mark.parametrize("units", [8, 15, 16, 32, 48])
def test_halves(units):
    """2¹⁶ is beyond float16."""
    found = sum_log_of_mantissas(tf.fill([units], tf.constant(2.0, tf.float16)))
    assert found.dtype == tf.float16
    np.testing.assert_allclose(found, units * np.log(2), rtol=2e-3)


def test_no_factors_sum_to_nothing():
    np.testing.assert_array_equal(sum_log_of_mantissas(tf.zeros([3, 0])), np.zeros(3))
    assert sum_log_of_mantissas(tf.ones([0, 5])).shape == (0,)


def test_leading_axes_stay():
    x = factors(5, 6, 7)
    assert_sums(sum_log_of_mantissas(tf.constant(x)).numpy(), x)
    assert_sums(sum_log_of_mantissas(tf.constant(x[0, 0])).numpy(), x[0, 0])


def test_shapes_known_at_run_time_only():
    late = tf.function(sum_log_of_mantissas, input_signature=[tf.TensorSpec([None, None])])
    for units in (1, 48):
        x = factors(5, units)
        assert_sums(late(tf.constant(x)).numpy(), x)


def test_jit_changes_nothing():
    x = factors(5, 200)
    assert_sums(tf.function(sum_log_of_mantissas, jit_compile=True)(tf.constant(x)).numpy(), x)
