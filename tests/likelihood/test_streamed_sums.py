"""The sums of importance sampling, chunk by chunk, against NumPy in one piece."""

import numpy as np
import pytest
import scipy.special
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.likelihood.expectations import expectations


class _Weights:
    """Both networks at once: draws whose log-weights are given by a function of a normal draw; notes them."""

    def __init__(self, log_weight):
        self.log_weight, self.drawn = log_weight, []

    def sample_and_log_prob(self, x, num_samples, seed):
        z = ds.random.normal([num_samples, tf.shape(x)[0], 1], seed)
        if tf.executing_eagerly():
            self.drawn.append(z[..., 0].numpy())
        return [z], tf.zeros(tf.shape(z)[:-1])

    def log_joint(self, x, z):
        return self.log_weight(z[0][..., 0])


def streamed(log_weight, num_samples, chunk, rows=4):
    """(the estimate, the log-weights behind it)."""
    weights = _Weights(log_weight)
    arguments = tf.zeros([rows, 1]), tf.constant(num_samples), tf.constant([1, 2])
    estimate, _ = expectations(weights, weights, *arguments, chunk)
    drawn = np.concatenate(weights.drawn)
    assert len(np.unique(drawn, axis=0)) == len(drawn), "draws are repeated"
    return [part.numpy() for part in estimate], np.asarray(log_weight(drawn[:num_samples]), np.float64)


def direct(log_weights):
    """The same three numbers in one piece: the delta method is the relative standard error of the mean weight."""
    num_samples = len(log_weights)
    w = np.exp(log_weights - log_weights.max(0))
    value = scipy.special.logsumexp(log_weights, 0) - np.log(num_samples)
    error = w.std(0, ddof=1) / np.sqrt(num_samples) / w.mean(0)
    return value, error, w.sum(0) ** 2 / (w**2).sum(0)


@pytest.mark.parametrize(("num_samples", "chunk"), [(2, 1), (10, 1), (10, 3), (10, 10), (21, 7), (21, 64)])
def test_streams_match_the_direct_sums(num_samples, chunk):
    estimate, log_weights = streamed(lambda z: 2.0 * z - 300.0, num_samples, chunk)
    for a, b in zip(estimate, direct(log_weights)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 4, 50])
@pytest.mark.parametrize("scale", [300.0, 1e6])
def test_huge_ranges_neither_overflow_nor_vanish(scale, chunk):
    estimate, log_weights = streamed(lambda z: scale * z, 50, chunk)
    for a, b in zip(estimate, direct(log_weights)):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 4, 30])
def test_weights_of_zero(chunk):
    """log w = −∞ in half of the draws: also where the first chunks hold nothing else."""
    estimate, log_weights = streamed(lambda z: tf.where(z > 0, z, -np.inf), 30, chunk, rows=64)
    assert np.isinf(log_weights).any(0).all() and np.isinf(log_weights[0]).any()
    for a, b in zip(estimate, direct(log_weights)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("chunk", [1, 4])
def test_nothing_but_weights_of_zero(chunk):
    value, error, size = streamed(lambda z: z * 0.0 - np.inf, 6, chunk)[0]
    np.testing.assert_array_equal(value, np.full(4, -np.inf))
    assert np.isnan(error).all() and np.isnan(size).all()


def test_compiled_streams_are_the_same():
    def log_weight(z):
        return tf.where(z > -0.5, 30.0 * z, -np.inf)

    @tf.function(jit_compile=True)
    def jitted(num_samples):
        weights = _Weights(log_weight)
        return expectations(weights, weights, tf.zeros([4, 1]), num_samples, tf.constant([1, 2]), 7)[0]

    for num_samples in (10, 30):
        for a, b in zip(jitted(tf.constant(num_samples)), streamed(log_weight, num_samples, 7)[0]):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


def test_equal_weights_have_no_error():
    (value, error, size), _ = streamed(lambda z: 0.0 * z - 3.0, 100, 7)
    np.testing.assert_allclose(value, np.full(4, -3.0), rtol=1e-6)
    np.testing.assert_allclose(error, np.zeros(4), atol=1e-4)
    np.testing.assert_allclose(size, np.full(4, 100.0), rtol=1e-5)
