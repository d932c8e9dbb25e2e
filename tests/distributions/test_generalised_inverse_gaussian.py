"""Draws of the generalised inverse Gaussian law against quadrature over log x."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.chance import LEVEL
from tfdsmcmc import random
from tfdsmcmc.distributions.generalised_inverse_gaussian import generalised_inverse_gaussian

# √(AB) and √(B/A)
PLACES = [(1e-6, 1.0), (1e-3, 1e-4), (0.1, 30.0), (1.0, 1.0), (10.0, 2.0), (100.0, 1.0)]


@pytest.mark.parametrize("p", [0.0, 0.3, 1.5, -0.7, -30.0])
def test_the_law(p):
    """Kolmogorov and Smirnov's test of log x, 20,000 draws at each place: an error of the distribution function of 0.02
    is found."""
    omega, ratio = (np.repeat(np.array(PLACES)[:, i : i + 1], 20_000, 1).astype(np.float32) for i in (0, 1))
    drawn = generalised_inverse_gaussian(p, omega / ratio, omega * ratio, random.as_seed(5)).numpy()
    for (w, scale), x in zip(PLACES, drawn):
        log = np.log(x.astype(np.float64) / scale)
        grid = np.linspace(log.min() - 5, log.max() + 5, 100_001)
        density = p * grid - w * np.cosh(grid)
        cdf = np.cumsum(np.exp(density - density.max()))
        p_value = scipy.stats.kstest(log, lambda y, grid=grid, cdf=cdf: np.interp(y, grid, cdf / cdf[-1])).pvalue
        assert p_value > LEVEL / len(PLACES), (w, scale, p_value)


def test_ends_of_float32():
    """A vanishing B at p = 0 gives draws near 0, and NaN stays NaN; others in the same array are not touched."""
    a, b = tf.constant([1.0, 1.0, np.nan, 1e30, 1e-30]), tf.constant([0.0, 1.0, 1.0, 1e-30, 1e30])
    drawn = generalised_inverse_gaussian(0.0, a, b, random.as_seed(1)).numpy()
    assert 0 <= drawn[0] < 1e-3 and drawn[1] > 0 and np.isnan(drawn[2])
    assert 0 < drawn[3] < 1e-20 and drawn[4] > 1e20
    large = tf.constant([1e17, 2e19, 1e38, 3e38])
    np.testing.assert_allclose(generalised_inverse_gaussian(0.5, large, large, random.as_seed(1)), 1.0, rtol=1e-6)
    assert generalised_inverse_gaussian(0.3, tf.ones([0, 2]), tf.ones([0, 2]), random.as_seed(1)).shape == (0, 2)


@pytest.mark.compiled
def test_draws_are_the_same_jitted():
    b = tf.constant(np.geomspace(1e-8, 1e4, 500).astype(np.float32))
    draw = lambda b: generalised_inverse_gaussian(-0.5, tf.ones_like(b), b, random.as_seed(2))  # noqa: E731
    one, other = (tf.function(draw, jit_compile=jit, autograph=False)(b) for jit in (False, True))
    np.testing.assert_allclose(one, other, rtol=1e-4)
