"""SGHMC that makes up for the noise of the gradient, known or estimated.

False failures: see tests.chance, 10⁻⁶ an assertion.
"""

import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf

from tests.chance import assert_means
from tests.mcmc import laws
from tests.mcmc.chains import assert_variance, gaussian, inject_noise, measured_map, run
from tfdsmcmc import mcmc, random

CURVATURE = np.array([0.5, 1.0, 2.0, 5.0])
RATE, FRICTION, TEMPERATURE = 0.125, 0.1875, 1.5  # exact in float32
ETA = RATE * TEMPERATURE
NOISE = np.sqrt(0.5 * FRICTION * TEMPERATURE / RATE)  # a quarter of the noise that is injected, (ℓs)² = aη/2
INTEGRATORS = ["splitting", "euler"]


def make(gradient_noise, integrator="splitting", gradient_fn=None, **kwargs):
    return mcmc.SGHMC(gradient_fn, RATE, FRICTION, TEMPERATURE, integrator, gradient_noise, **kwargs)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("curvature", CURVATURE)
def test_known_noise(monkeypatch, curvature, integrator):
    """The kernel's own map has the law of the docstring; nothing here is random.

    Euler's is that without gradient noise. The splitting's, with D = (ℓs)²/(η(1 − k/4)), is derived from the balance of
    θ' = θ + (w + v)/2: E w² − E v² = Dη, E v² (1 − e⁻²ᵃ) = e⁻²ᵃ Dη + injected, and
    k E θ² = (E v² + E w²)/2 − tanh(a/2) Dη/4 with w the kicked momentum. Catches another factor, ℓ for ℓ², s for s².
    """
    matrix, columns = measured_map(monkeypatch, make(NOISE**2, integrator), curvature, NOISE)
    law = (integrator, RATE, curvature, TEMPERATURE, FRICTION)
    expected = laws.one_step_map(*law, NOISE, removed=NOISE**2)
    np.testing.assert_allclose(matrix, expected[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(columns, expected[1], rtol=1e-6, atol=1e-9)

    covariance = scipy.linalg.solve_discrete_lyapunov(matrix, columns @ columns.T)
    if integrator == "euler":
        np.testing.assert_allclose(covariance, laws.stationary_covariance(*law), rtol=1e-6)
        return
    k, c = RATE * curvature, np.exp(-FRICTION)
    heat = (RATE * NOISE) ** 2 / (ETA * (1 - k / 4))
    variance = 1 + heat * k / (16 * np.tanh(FRICTION / 2))
    kinetic = variance - heat * (1 + 3 * c) / (4 + 4 * c)
    np.testing.assert_allclose(np.diag(covariance), [variance * TEMPERATURE / curvature, kinetic * ETA], rtol=1e-6)
    # what the documentation says of it, against the excess without the correction
    without = laws.stationary_covariance(*law, NOISE)
    assert 0 < variance - 1 < 0.35 * k * (without[0, 0] * curvature / TEMPERATURE - 1)
    assert abs(kinetic - 1 + heat / 2) < 0.35 * (k + FRICTION / 2) * heat / FRICTION


def test_noise_that_is_too_large_is_all_there_is(monkeypatch):
    """Where gradient noise outweighs the friction nothing is injected; without it all is."""
    for integrator in INTEGRATORS:
        _, columns = measured_map(monkeypatch, make(1e4, integrator), 1.0, NOISE)
        np.testing.assert_array_equal(columns[:, 1], 0)
        for nothing in (None, 0.0):
            _, columns = measured_map(monkeypatch, make(nothing, integrator), 1.0, NOISE)
            _, expected = laws.one_step_map(integrator, RATE, 1.0, TEMPERATURE, FRICTION, NOISE)
            np.testing.assert_allclose(columns, expected, rtol=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_estimate_by_hand(monkeypatch, integrator):
    """Five steps in NumPy, the third with a gradient that is not finite: it counts neither as one nor as the last."""
    random = np.random.default_rng(3)
    gradients, draws = random.normal(size=(2, 5, 2, 3))
    gradients[2, 1, 1] = np.nan
    decay = 0.625  # exact in float32, below the weight 1/m of the first two differences
    kernel = make("estimate", integrator, noise_decay=decay)
    state = [tf.constant([0.5, -0.2, 1.5], tf.float64), tf.constant([1.0, 2.0, 0.1], tf.float64)]
    results = kernel.bootstrap_results(state)
    theta, momentum = np.array(state), np.array(results.momentum)
    estimate, last, differences = np.zeros((2, 3)), None, 0
    for g, n in zip(gradients, draws):
        inject_noise(monkeypatch, mcmc.SGHMC, *n)
        state, results, _ = kernel.integrate(lambda *parts, seed, g=g: (list(g), ()), state, results, 0)
        if np.isfinite(g).all():
            if last is not None:
                differences += 1
                estimate = estimate + max(1 - decay, 1 / differences) * (0.5 * (g - last) ** 2 - estimate)
            last = g
            heat = RATE**2 * estimate
            c = np.exp(-FRICTION)
            if integrator == "euler":
                momentum = (1 - FRICTION) * momentum + RATE * g
                momentum = momentum + np.sqrt(np.maximum(2 * FRICTION * ETA - heat, 0)) * n
                theta = theta + momentum
            else:
                momentum = momentum + RATE * g
                theta = theta + momentum / 2
                momentum = c * momentum + np.sqrt(np.maximum(ETA * (1 - c**2) - ((1 + c) / 2) ** 2 * heat, 0)) * n
                theta = theta + momentum / 2
        np.testing.assert_allclose(np.array(results.noise_variance), estimate, rtol=1e-6)
        np.testing.assert_allclose(np.array(results.previous_gradient), last, rtol=1e-6)
        np.testing.assert_allclose(np.array(state), theta, rtol=1e-6)
        np.testing.assert_allclose(np.array(results.momentum), momentum, rtol=1e-6)
    assert differences == 3


@pytest.mark.parametrize("steps", [31, 150])
def test_estimate_converges(steps):
    """With a constant mean of the gradient E ŝ² = s², whatever the mean; ŝ² scatters as the weights say.

    Its n-th difference has Var = 2s⁴ and a covariance s⁴/2 with the next, so ŝ² has the variance s⁴ (3/m − 1/m²) as
    the plain mean of m, and s⁴ (2 + β)(1 − β)/(1 + β) in the long run. Catches a missing ½, a mean that is not taken
    off, another weight.
    """
    deviation = np.array([0.5, 1.0, 3.0])

    def gradient_fn(x, seed):
        return gaussian(0.0, deviation)(x, seed) + [40.0, 0.0, -7.0]

    decay = 0.9 if steps > 100 else 0.99
    kernel = make("estimate", gradient_fn=gradient_fn, noise_decay=decay)
    _, results = run(kernel, tf.zeros([32768, 3]), steps, seed=2)
    m = steps - 1
    scatter = 3 / m - 1 / m**2 if steps < 100 else (2 + decay) * (1 - decay) / (1 + decay)
    relative = np.asarray(results.noise_variance, np.float64) / deviation**2
    assert_means(relative, np.ones(3), np.sqrt(scatter))
    assert_means((relative - 1) ** 2 / scatter, np.ones(3))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("given", ["known", "estimate"])
def test_covariance(given, integrator):
    """The covariance of (θ, v) in the long run at four curvatures is that of the law; E ŝ² too where it is estimated.

    Without the correction it is larger by about a quarter, with its sign wrong by a half: 6 % shows.
    """
    kernel = make(NOISE**2 if given == "known" else "estimate", integrator, gaussian(CURVATURE, NOISE))
    steps = 150 if given == "known" else 300
    theta, results = run(kernel, tf.zeros([16384, 4]), steps, seed=5)
    kinetic = 0.0
    for i, curvature in enumerate(CURVATURE):
        law = (integrator, RATE, curvature, TEMPERATURE, FRICTION, NOISE)
        if given == "known":
            covariance = laws.stationary_covariance(*law, removed=NOISE**2)
        else:
            estimate, covariance = laws.estimated_noise(steps, 0.99, *law)
            assert_means(results.noise_variance[:, i], estimate)
        kinetic += covariance[1, 1] / ETA / 4
        state = np.stack([theta[:, i], results.momentum[:, i]])
        white = np.linalg.solve(np.linalg.cholesky(covariance), state)
        assert_variance(np.stack([*white, np.sqrt(0.5) * white.sum(0)], -1), np.ones(3))
    # the metric of all 65,536 entries, 6 standard errors of at most 1.5 · √(2/65,536)
    assert abs(results.kinetic_temperature / kinetic - 1) < 0.05


def test_the_law_of_the_estimate():
    """E ŝ² in the long run is s²(1 + ℓλr) + λ² E(θ' − θ)²/2, as the documentation says."""
    for integrator in INTEGRATORS:
        law = (integrator, RATE, 2.0, TEMPERATURE, FRICTION, NOISE)
        estimate, covariance = laws.estimated_noise(5000, 0.99, *law)
        matrix, columns = laws.one_step_map(*law, removed=estimate)
        change = matrix[0] - np.array([1, 0])
        squared = change @ covariance @ change + columns[0] @ columns[0]
        r = 1.0 if integrator == "euler" else (1 + np.exp(-FRICTION)) / 2
        np.testing.assert_allclose(estimate, NOISE**2 * (1 + RATE * 2 * r) + 2 * squared, rtol=1e-6)


@pytest.mark.parametrize(("integrator", "percent"), [("euler", 10), ("splitting", 9)])
def test_what_an_estimate_takes_where_there_is_no_noise(integrator, percent):
    """Var θ is too small by as much as the documentation says, and by about (ℓλ)²/4a."""
    for rate, friction in [(0.2, 0.1), (0.05, 0.1), (0.05, 0.2)]:
        law = (integrator, rate, 1.0, 1.0, friction, 0.0)
        _, covariance = laws.estimated_noise(5000, 0.99, *law)
        less = 1 - covariance[0, 0] / laws.stationary_covariance(*law)[0, 0]
        np.testing.assert_allclose(less, rate**2 / (4 * friction), rtol=0.2)
        if (rate, friction) == (0.2, 0.1):
            assert round(100 * less) == percent


def test_noise_that_ten_steps_share_is_not_seen():
    """SGNHT on N(0, 1) with noise of variance 1 in g, drawn for ten steps at a time: the variance is far too large, and
    so is −θ·∇ log p; the kinetic temperature and −θ·g of the chain's own g are near 1. Drawn for each step, all are."""
    kernel, found = mcmc.SGNHT(learning_rate=0.1), {}
    for shared in (10, 1):

        @tf.function(jit_compile=True)
        def run(shared=shared):
            def body(i, x, results, sums):
                noise = random.normal(tf.shape(x), random.fold(random.as_seed(5), i // shared))
                g = -x + noise
                after, results, _ = kernel.integrate(lambda _, seed: ([g], ()), [x], results, tf.stack([7, i]))
                late = tf.cast(i >= 400, tf.float32) / 200
                parts = [tf.square(x), kernel.kinetic_temperature(results), -x * g]
                sums = [total + late * tf.reduce_mean(part) for total, part in zip(sums, parts)]
                return i + 1, after[0], results, sums

            x = tf.zeros([20_000])
            start = (0, x, kernel.bootstrap_results([x], seed=1), [tf.zeros([])] * 3)
            return tf.while_loop(lambda i, *_: i < 600, body, start)[-1]

        found[shared] = np.array(run())
    variance, kinetic, own = found[10]
    assert variance > 1.3 and abs(kinetic - 1) < 0.1 and abs(own - 1) < 0.1
    np.testing.assert_allclose(found[1], 1, atol=0.1)


def test_results_hold_no_more_than_needed():
    """A chain that was saved before the estimate was known has five numbers besides the momentum's."""
    state = [tf.zeros([2]), tf.zeros([3])]
    plain = make(None).bootstrap_results(state)
    assert len(tf.nest.flatten(plain)) == 6 and plain.noise_variance == ()
    assert len(tf.nest.flatten(make(0.5).bootstrap_results(state))) == 6
    assert len(tf.nest.flatten(make("estimate").bootstrap_results(state))) == 10
