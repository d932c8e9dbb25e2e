"""Preconditioned SGLD against its equations and its laws. False failures: see tests.chance, 10⁻⁶ an assertion."""

import numpy as np
import scipy.integrate
import tensorflow as tf

from tests.chance import assert_means
from tests.mcmc.chains import assert_variance, gaussian, inject_noise, run
from tfdsmcmc import mcmc


def test_steps_by_hand(monkeypatch):
    """Four steps in NumPy. The first gradient is not finite: V begins with the second, and as its square.

    Catches the V of before the step, V without its root, the noise of 2ηG² or 2η, λ inside the root.
    """
    rate, decay, epsilon, temperature = 0.3125, 0.75, 0.1875, 1.75
    random = np.random.default_rng(1)
    gradients, draws = random.normal(size=(2, 4, 2, 3))
    gradients[0, 1, 2] = np.inf
    kernel = mcmc.PreconditionedSGLD(None, rate, decay, epsilon, temperature)
    theta, average = random.normal(size=(2, 3)), None
    state = [tf.constant(theta[0]), tf.constant(theta[1])]
    results = kernel.bootstrap_results(state)
    for g, n in zip(gradients, draws):
        inject_noise(monkeypatch, mcmc.PreconditionedSGLD, *n)
        state, results, _ = kernel.integrate(lambda *parts, seed, g=g: (list(g), ()), state, results, 0)
        if np.isfinite(g).all():
            average = g**2 if average is None else decay * average + (1 - decay) * g**2
            scale = 1 / (epsilon + np.sqrt(average))
            theta = theta + rate * scale * g + np.sqrt(2 * rate * temperature * scale) * n
        np.testing.assert_allclose(np.array(state), theta, rtol=1e-6)
        np.testing.assert_allclose(np.array(results.square_average), 0 if average is None else average, rtol=1e-6)


def test_law_without_decay():
    """At α = 1 V stays the first g⊙g = (λθ₀)², and the chain is SGLD with the step ℓG in each entry.

    So after n steps the mean is (1 − k)ⁿ θ₀ and the variance follows V' = (1 − k)² V + 2ℓTG, k = ℓGλ, at four
    curvatures and starts.
    """
    curvature, start = np.array([0.5, 1.0, 2.0, 5.0]), np.array([2.0, -1.0, 0.5, 1.5])
    rate, epsilon, temperature, steps = 0.3, 0.5, 1.5, 40
    scale = 1 / (epsilon + curvature * np.abs(start))
    kernel = mcmc.PreconditionedSGLD(gaussian(curvature), rate, 1.0, epsilon, temperature)
    theta, results = run(kernel, tf.constant(start, tf.float32) * tf.ones([16384, 1]), steps, seed=2)
    np.testing.assert_allclose(results.square_average[7], (curvature * start) ** 2, rtol=1e-5)

    contraction = 1 - rate * scale * curvature
    variance = np.zeros(4)
    for _ in range(steps):
        variance = contraction**2 * variance + 2 * rate * temperature * scale
    mean = contraction**steps * start
    assert_means(theta, mean, np.sqrt(variance))
    assert_variance(theta - mean, variance)


def test_what_the_left_out_term_does():
    """At α = 0 and a small ℓ, where V is g² at the present θ, the density is exp(log target / T)/G.

    For log target −θ²/2, T = 1, λ = 1 that is (1 + |θ|) exp(−θ²/2), with E θ² = 1.44 against the target's 1. 3 % are
    allowed for ℓ and for the 1,000 steps, and the chance of the mean of 16,384 draws.
    """
    kernel = mcmc.PreconditionedSGLD(gaussian(1.0), 0.02, 0.0, 1.0)
    theta, _ = run(kernel, tf.ones([16384]), 1000, seed=4)
    moments = [scipy.integrate.quad(lambda x, p=p: x**p * (1 + x) * np.exp(-x * x / 2), 0, 12)[0] for p in (0, 2)]
    expected = moments[1] / moments[0]
    np.testing.assert_allclose(expected, 1.4438, atol=1e-4)
    squares = np.square(theta, dtype=np.float64)
    error = squares.std() / np.sqrt(squares.size)
    assert abs(squares.mean() - expected) < 0.03 * expected + 6 * error
