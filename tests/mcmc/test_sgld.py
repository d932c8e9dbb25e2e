"""SGLD in the long run on a Gaussian. False failures: see tests.chance, 10⁻⁶ an assertion."""

import numpy as np
import pytest
import tensorflow as tf

from tests.mcmc.chains import assert_variance, gaussian, run
from tfdsmcmc import mcmc

CURVATURE = np.array([0.5, 1.0, 2.0, 5.0])
RATE, TEMPERATURE = 0.2, 1.5


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_variance(noise):
    """θ' = (1 − ℓλ) θ + ℓsε + √(2η) ε' has in the long run the variance T/(λ(1 − ℓλ/2)) + ℓ²s²/(1 − (1 − ℓλ)²).

    From θ = 0 the variance is short of it by (1 − ℓλ)²ⁿ, here after n = 100 steps less than 10⁻⁹ of it. Catches a
    missing 2 or T in the noise, the wrong sign of the gradient, the law without the finite step (λ = 5: a factor 2).
    """
    kernel = mcmc.SGLD(gaussian(CURVATURE, noise), RATE, TEMPERATURE)
    theta, _ = run(kernel, tf.zeros([16384, 4]), 100, seed=1)
    k = RATE * CURVATURE
    assert_variance(theta, TEMPERATURE / CURVATURE / (1 - k / 2) + (RATE * noise) ** 2 / (1 - (1 - k) ** 2))


def test_decaying_rate_removes_the_bias():
    """With ℓ_t = 0.2 (1 + t/10)^(−0.9) the variance follows V' = (1 − ℓλ)² V + 2ℓT, and ends within 4 % of T/λ.

    A fixed ℓ leaves a factor 2 at λ = 5.
    """
    schedule = mcmc.PolynomialDecay(RATE, offset=10.0, power=0.9)
    theta, _ = run(mcmc.SGLD(gaussian(CURVATURE), schedule, TEMPERATURE), tf.zeros([16384, 4]), 400, seed=2)
    variance = np.zeros(4)
    for t in range(400):
        rate = RATE * (1 + t / 10) ** -0.9
        variance = (1 - rate * CURVATURE) ** 2 * variance + 2 * rate * TEMPERATURE
    np.testing.assert_allclose(variance, TEMPERATURE / CURVATURE, rtol=0.04)
    assert_variance(theta, variance)
