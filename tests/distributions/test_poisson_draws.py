"""Draws from Poisson laws."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.chance import assert_frequencies, assert_means
from tfdsmcmc.distributions import poisson_draws
from tfdsmcmc.distributions.poisson_draws import LARGEST_RATE, poisson


@pytest.mark.parametrize("rate", [1e-3, 0.7, 3.2, 9.99, 10.0, 25.0, 400.5])
def test_draws_follow_the_law(rate):
    """Chi-square over all counts, of 50,000 draws: false failures at most 1e-6."""
    draws = poisson(tf.fill([50000], rate), 1).numpy().astype(int)
    counts = np.bincount(draws)
    p = scipy.stats.poisson.pmf(np.arange(len(counts)), rate)
    assert_frequencies([*counts, 0], [*p, scipy.stats.poisson.sf(len(counts) - 1, rate)])


@pytest.mark.slow
def test_large_rates():
    """Mean and variance, by z-tests with false failures at most 1e-6, where float32 has every count."""
    for rate in (1e4, 1e6):
        draws = poisson(tf.fill([20000], rate), 2).numpy().astype(np.float64)
        assert_means((draws - rate) / np.sqrt(rate), 0.0, 1.0)
        assert_means((draws - rate) ** 2 / rate, 1.0)


@pytest.mark.slow
def test_ends():
    draws = poisson([0.0, 1e-37, 1e12, LARGEST_RATE], 3).numpy()
    assert abs(poisson(1e7, 4).numpy() - 1e7) < 6 * np.sqrt(1e7)
    assert (draws[:2] == 0).all() and (abs(draws[2:] - LARGEST_RATE) < 6 * np.sqrt(LARGEST_RATE)).all()
    assert np.isfinite(poisson([float("nan"), 1.0], 3).numpy()[1])


def test_a_draw_is_its_own(monkeypatch):
    """Whatever the other rates are, though u be above what the rounded probabilities come to."""
    rates = np.linspace(0.05, 30.0, 3000, dtype=np.float32)

    def largest(shape, seed):
        return tf.fill(shape, np.float32(1 - 2**-24))

    monkeypatch.setattr(poisson_draws.random, "open_uniform", largest)
    beside = poisson([*rates, 1e5], 3).numpy()[:-1]
    np.testing.assert_array_equal(beside, poisson(rates, 3))
    assert (scipy.stats.poisson.sf(beside - 1, rates) > 1e-11).all()


def test_seeds_and_programs():
    """The same op by op, traced and compiled; others with another seed."""
    rates = tf.constant(np.random.default_rng(0).gamma(1.0, 20.0, (30, 4)), tf.float32)
    eager = poisson(rates, 5)
    for jit_compile in (False, True):
        np.testing.assert_array_equal(tf.function(poisson, jit_compile=jit_compile)(rates, tf.constant([5, 0])), eager)
    assert np.any(eager != poisson(rates, 6))
