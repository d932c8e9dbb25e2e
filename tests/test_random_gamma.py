"""Gamma draws: their law, their extremes, and that they are the same jitted and not."""

import math

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.chance import LEVEL, assert_means, assert_near
from tfdsmcmc import random

CONCENTRATIONS = [0.3, 0.5, 1, 1.5, 7, 200]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_gamma(dtype):
    """Each concentration as a number, and all of them as a tensor."""
    n, seeds = 2**16, tf.unstack(random.split(20, len(CONCENTRATIONS)))
    columns = random.gamma([n, len(CONCENTRATIONS)], tf.constant(CONCENTRATIONS, dtype), 21, dtype)
    for a, column, seed in zip(CONCENTRATIONS, tf.unstack(columns, axis=1), seeds):
        for x in (column, random.gamma([n], a, seed, dtype)):
            assert x.dtype == dtype
            x = x.numpy().astype(np.float64)
            assert scipy.stats.kstest(x, scipy.stats.gamma(a).cdf).pvalue > LEVEL / 12, a


def test_jitted_gamma_draws_are_the_eager_ones():
    """Up to rounding, which also decides a rare refusal."""

    def draws(seed):
        a, b = tf.unstack(random.split(seed))
        return random.gamma([2**14, len(CONCENTRATIONS)], tf.constant(CONCENTRATIONS), a), random.gamma([2**14], 1, b)

    seed = random.as_seed(22)
    for eager, jitted in zip(draws(seed), tf.function(draws, jit_compile=True)(seed)):
        assert np.mean(np.abs(jitted - eager) > 1e-4 * eager.numpy()) < 1e-3


def test_gamma_of_large_concentrations():
    """Exact means and variances, as for the global variance of a large weight."""
    for a in (1e4, 1e6):
        x = random.gamma([2**18], a, 23).numpy().astype(np.float64)
        assert_means((x - a) / np.sqrt(a), 0.0, 1.0)
        assert_means((x - a) ** 2 / a, 1.0, np.sqrt(2 + 6 / a))


def test_gamma_gives_neither_0_nor_infinity(monkeypatch):
    """At concentrations of ½ and more, with the least and the greatest uniform number too."""
    draws = np.array([random.gamma([2**18], a, 24) for a in (0.5, 1, 1.0001)])
    assert draws.min() > 0 and np.isfinite(draws).all()
    for u, concentrations in ((2.0**-24, (0.5, 1, 1.5)), (1 - 2.0**-24, (1,))):
        monkeypatch.setattr(random, "open_uniform", lambda shape, seed, dtype, u=u: tf.fill(shape, u))
        draws = np.array([random.gamma([4], a, 25) for a in concentrations])
        assert draws.min() > 0 and np.isfinite(draws).all()


def test_gamma_draws_are_independent_of_their_neighbours_and_rounds():
    x = random.gamma([2**18], 0.7, 26).numpy()
    x = (x - 0.7) / np.sqrt(0.7)
    lags = [1, 2, 2**17]
    assert_near([(x[:-lag] * x[lag:]).mean() for lag in lags], 0.0, [1 / np.sqrt(len(x) - lag) for lag in lags])


def test_gamma_of_what_is_no_concentration():
    for a in (0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="Received: concentration="):
            random.gamma([2], a, 1)
    np.testing.assert_array_equal(np.isnan(random.gamma([4], [-1.0, 0.5, 0.0, np.nan], 1)), [True, False, True, True])
    assert random.gamma([2, 0], 0.7, 1).shape == (2, 0) and random.gamma([], tf.constant(3.0), 1).shape == ()
