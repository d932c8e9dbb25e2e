"""SGHMC in the long run on a Gaussian. False failures: see tests.chance, 10⁻⁶ an assertion.

That a step is the linear map of laws.py is shown in test_one_step.py.
"""

import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf

from tests.mcmc import laws
from tests.mcmc.chains import assert_variance, gaussian, measured_map, run
from tfdsmcmc import mcmc

CURVATURE = np.array([0.5, 1.0, 2.0, 5.0])
RATE, FRICTION, TEMPERATURE = 0.4, 0.2, 1.5
ETA = RATE * TEMPERATURE


@pytest.mark.parametrize("noise", [0.0, np.sqrt(2 * FRICTION * TEMPERATURE / RATE)])
@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_covariance(integrator, noise):
    """The covariance of (θ, v) is that of the Lyapunov recursion in the long run.

    Start: θ = 0, v ~ N(0, η); 150 steps, when the recursion has reached the solution of the Lyapunov equation. The
    gradient noise has the size of the injected noise, (ℓs)² = 2aη, and doubles the variance. Catches a missing 2 or T
    in the noise, a wrong half step, the old v in θ ← θ + v.
    """
    kernel = mcmc.SGHMC(gaussian(CURVATURE, noise), RATE, FRICTION, TEMPERATURE, integrator)
    theta, results = run(kernel, tf.zeros([16384, 4]), 150, seed=1)
    heat = 0.0
    for i, curvature in enumerate(CURVATURE):
        law = (integrator, RATE, curvature, TEMPERATURE, FRICTION, noise)
        covariance = laws.covariance_after(150, np.diag([0.0, ETA]), *law)
        np.testing.assert_allclose(covariance, laws.stationary_covariance(*law), rtol=1e-5, atol=1e-6)
        # whitened θ, v and a mixture of both
        state = np.stack([theta[:, i], results.momentum[:, i]])
        white = np.linalg.solve(np.linalg.cholesky(covariance), state)
        assert_variance(np.stack([*white, np.sqrt(0.5) * white.sum(0)], -1), np.ones(3))
        heat += covariance[1, 1] / ETA / 4
    # the metric of all 65,536 entries, 6 standard errors of at most 1.5 · √(2/65,536)
    assert abs(results.kinetic_temperature / heat - 1) < 0.05


@pytest.mark.parametrize("rate", [1 / 64, 5 / 16, 25 / 32])  # exact in float32
@pytest.mark.parametrize("friction", [1 / 64, 1 / 2, 3.0])
def test_splitting_is_exact_on_a_gaussian(monkeypatch, rate, friction):
    """Var θ = T/λ, Var v = η and Cov(θ, v) = η/2 at every stable rate, ℓλ < 4: no Monte Carlo, the kernel's own map."""
    kernel = mcmc.SGHMC(None, rate, friction, TEMPERATURE)
    eta = rate * TEMPERATURE
    for curvature in CURVATURE:
        covariance = fixed_point(*measured_map(monkeypatch, kernel, curvature))
        expected = [[TEMPERATURE / curvature, eta / 2], [eta / 2, eta]]
        np.testing.assert_allclose(covariance, expected, rtol=1e-10)


@pytest.mark.parametrize("rate", [1 / 64, 5 / 16, 5 / 8])
@pytest.mark.parametrize("friction", [1 / 64, 1 / 2])
def test_euler_is_not_exact_on_a_gaussian(monkeypatch, rate, friction):
    """Euler is an autoregression of order 2: θ″ = (2 − a − ℓλ) θ′ − (1 − a) θ + N(0, 2aη).

    Hence Var θ = T/λ / (1 − ℓλ/(2(2 − a))), right as ℓ → 0, and Var v = η / (1 − a/2 − ℓλ/4), which is not.
    """
    kernel = mcmc.SGHMC(None, rate, friction, TEMPERATURE, "euler")
    for curvature in CURVATURE:
        k = rate * curvature
        covariance = fixed_point(*measured_map(monkeypatch, kernel, curvature))
        variance = TEMPERATURE / curvature / (1 - k / (2 * (2 - friction)))
        expected = [variance, rate * TEMPERATURE / (1 - friction / 2 - k / 4)]
        np.testing.assert_allclose(np.diag(covariance), expected, rtol=1e-10)


@pytest.mark.parametrize("kernel", [mcmc.SGHMC, mcmc.SGNHT])
def test_a_friction_that_eulers_step_cannot_take(kernel):
    for friction in (2.0, 3, tf.constant(2.0), tf.constant([0.1, 2.5])):
        with pytest.raises(ValueError, match=r"friction below 2\. Received: friction="):
            kernel(friction=friction, integrator="euler")
        assert kernel(friction=friction, integrator="splitting").parameters["friction"] is friction
    assert kernel(friction=1.99, integrator="euler").parameters["friction"] == 1.99


def fixed_point(matrix, columns):
    return scipy.linalg.solve_discrete_lyapunov(matrix, columns @ columns.T)
