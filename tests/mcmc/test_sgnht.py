"""SGNHT in the long run on a Gaussian. False failures: see tests.chance, 10⁻⁶ an assertion, unless said.

That a step at a given ξ is the linear map of laws.py is shown in test_one_step.py. The gradient noise has the size
of the injected noise, (ℓs)² = 2aη: without a thermostat it doubles the variance.
"""

import warnings

import numpy as np
import pytest
import scipy.linalg
import tensorflow as tf

from tests.chance import assert_means
from tests.mcmc import laws
from tests.mcmc.chains import assert_variance, gaussian, measured_map, run
from tfdsmcmc import mcmc

CURVATURE = np.array([0.5, 1.0, 2.0, 5.0])
RATE, FRICTION, TEMPERATURE = 3 / 64, 3 / 32, 1.5  # exact in float32
ETA = RATE * TEMPERATURE
NOISE = np.sqrt(2 * FRICTION * TEMPERATURE / RATE)
HEAVY = 1e15


def make(noise=NOISE, curvature=CURVATURE, **kwargs):
    return mcmc.SGNHT(gaussian(curvature, noise), RATE, FRICTION, TEMPERATURE, **kwargs)


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("curvature", CURVATURE)
def test_law_of_euler(monkeypatch, curvature, noise):
    """At ξ̄(2 − ξ̄ − ℓλ/2) = 2a + (ℓs)²/η the kernel's own map has E v² = η and Var θ = (1 − ξ̄/2) T/λ.

    Derivation: at a constant ξ, Euler is θ″ = (2 − ξ − k) θ′ − (1 − ξ) θ + N(0, σ²) with k = ℓλ and
    σ² = 2aη + (ℓs)². That autoregression has E v² = 2σ²/(ξ(2(2 − ξ) − k)) and Var θ = (2 − ξ) E v²/(2k).
    """
    middle = 1 - RATE * curvature / 4
    xi = middle - np.sqrt(middle**2 - 2 * FRICTION - (RATE * noise) ** 2 / ETA)
    law = ("euler", RATE, curvature, TEMPERATURE, FRICTION, noise)
    np.testing.assert_allclose(laws.balanced_thermostat(*law), xi, rtol=1e-9)

    matrix, columns = measured_map(monkeypatch, make(thermostat_mass=HEAVY, integrator="euler"), curvature, noise, xi)
    covariance = scipy.linalg.solve_discrete_lyapunov(matrix, columns @ columns.T)
    expected = [(1 - xi / 2) * TEMPERATURE / curvature, ETA]
    np.testing.assert_allclose(np.diag(covariance), expected, rtol=1e-6)


@pytest.mark.parametrize("noise", [0.0, NOISE])
@pytest.mark.parametrize("curvature", CURVATURE)
def test_law_of_the_splitting(monkeypatch, curvature, noise):
    """Where the thermostat is in balance, (E w² + E v²)/2 = η for w before and v after the friction, the map has

    Var θ = T/λ (1 − tanh(ξ̄/2) (E w² − E v²)/(4η)): T/λ without gradient noise and within 1 % of it with, where
    SGHMC's is about 2T/λ.

    Derivation: E θ'² = E θ², as θ' = θ + (w + v)/2 and v = e^(−ξ) w + noise, gives E mw = (E w² − E v²)/(4(1 + e^(−ξ)))
    for the midpoint m = θ + w/2; then E θw = E mw − E w²/2, E θ'v = e^(−ξ) E mw + E v²/2 and E θw = E θv − ℓλ E θ².
    """
    law = ("splitting", RATE, curvature, TEMPERATURE, FRICTION, noise)
    xi = laws.balanced_thermostat(*law)
    matrix, columns = measured_map(monkeypatch, make(thermostat_mass=HEAVY), curvature, noise, xi)
    covariance = scipy.linalg.solve_discrete_lyapunov(matrix, columns @ columns.T)
    kicked = np.array([-RATE * curvature, 1.0])
    before, after = kicked @ covariance @ kicked + (RATE * noise) ** 2, covariance[1, 1]
    np.testing.assert_allclose((before + after) / 2, ETA, rtol=1e-6)
    relative = covariance[0, 0] * curvature / TEMPERATURE
    np.testing.assert_allclose(relative, 1 - np.tanh(xi / 2) * (before - after) / (4 * ETA), rtol=1e-6)
    assert abs(relative - 1) < (0.01 if noise else 1e-6)
    assert laws.stationary_covariance(*law)[0, 0] * curvature / TEMPERATURE > (1.99 if noise else 0.999)


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_heavy_thermostat_stays_in_balance(integrator):
    """Started at exact draws and at ξ̄, (θ, v) keep their covariance, and ξ on average stays, at every curvature.

    The mass of 10⁵ η lets ξ move by 10⁻⁵ (v²/η − 1) a step; its mean drift over 300 steps is known to 0.2 %. Catches
    a wrong target of the thermostat, its sign, and the law without its term ℓλ/2 (9 % off at λ = 5).
    """
    n, steps, mass = 16384, 300, 1e5 * ETA
    generator = np.random.default_rng(0)
    balance, theta, momentum, covariances = np.zeros(4), np.zeros([n, 4]), np.zeros([n, 4]), []
    for i, curvature in enumerate(CURVATURE):
        law = (integrator, RATE, curvature, TEMPERATURE, FRICTION, NOISE)
        balance[i] = laws.balanced_thermostat(*law)
        covariances.append(laws.stationary_covariance(*law, balance[i]))
        theta[:, i], momentum[:, i] = generator.multivariate_normal(np.zeros(2), covariances[i], n).T

    start = tf.constant(np.broadcast_to(balance, [n, 4]), tf.float32)
    theta, results = run(
        make(thermostat_mass=mass, integrator=integrator),
        tf.constant(theta, tf.float32),
        steps,
        seed=1,
        momentum=tf.constant(momentum, tf.float32),
        thermostat=start,
    )
    assert_variance(theta, [covariance[0, 0] for covariance in covariances])
    assert_variance(results.momentum, [covariance[1, 1] for covariance in covariances])
    assert_means((results.thermostat - start) * mass / (steps * ETA), np.zeros(4))


@pytest.mark.parametrize("mass", [pytest.param(30 * ETA, marks=pytest.mark.slow), "auto"])
def test_variance_does_not_depend_on_the_mass(mass):
    """From a cold start the splitting finds Var θ = T/λ under gradient noise, whatever the mass; SGHMC finds 2T/λ.

    Time constants: 10/a = 107 steps for the mass, 2/a = 21 for θ; 900 steps. The finite step is allowed 2 %, chance 6
    empirical standard errors of 1.1 %, exceeded once in 10⁷ runs for the 4 curvatures. Catches Euler's 12 %.
    """
    theta, results = run(make(thermostat_mass=mass), tf.zeros([16384, 4]), 900, seed=2)
    relative, error = relative_variance(theta)
    assert np.all(np.abs(relative - 1) < 0.02 + 6 * error), relative
    # the heat is where the thermostat sees it: ξ̄ is a + (ℓs)²/(2η) to the first order
    mean = np.mean(results.thermostat, 0)
    assert np.all(np.abs(mean / (2 * FRICTION) - 1) < 0.1), mean


def test_sghmc_with_the_same_noise_is_twice_too_hot():
    """What the thermostat repairs: Var θ is more than 1.8 T/λ at every curvature, by 6 standard errors of 2.2 %."""
    kernel = mcmc.SGHMC(gaussian(CURVATURE, NOISE), RATE, FRICTION, TEMPERATURE)
    theta, _ = run(kernel, tf.zeros([16384, 4]), 300, seed=2)
    relative, error = relative_variance(theta)
    assert np.all(relative > 1.8 + 6 * error), relative


def test_euler_with_an_adapting_thermostat():
    """From a cold start with μ = 10η/a² Euler's variance is (1 − ξ̄/2) T/λ, 11 to 12 % too small.

    Allowed are 2 % for the fluctuations of ξ and 6 standard errors of 1 %.
    """
    mass = 10 * RATE * TEMPERATURE / FRICTION**2
    theta, results = run(make(integrator="euler", thermostat_mass=mass), tf.zeros([16384, 4]), 900, seed=3)
    relative, error = relative_variance(theta)
    balance = [laws.balanced_thermostat("euler", RATE, c, TEMPERATURE, FRICTION, NOISE) for c in CURVATURE]
    expected = 1 - np.array(balance) / 2
    assert np.all(np.abs(relative / expected - 1) < 0.02 + 6 * error / expected), relative
    assert abs(results.kinetic_temperature - 1) < 0.02 + 6 * np.sqrt(2 / 65536)


def test_variance_of_the_thermostat():
    """ξ ~ N(a + (ℓs)²/(2η), η/μ) for small steps, here with (ℓs)² = aη and η/μ = 1/50: sd 0.14 around 0.075.

    Mean and variance may be off by 3 % for the step and 6 standard errors of about 1 %. Catches a whole step of the
    thermostat for a half one, and one left out (a factor of 2 in the variance).
    """
    rate, friction, eta = 0.01, 0.05, 0.01 * TEMPERATURE
    kernel = mcmc.SGNHT(
        gaussian(1.0, np.sqrt(friction * eta) / rate), rate, friction, TEMPERATURE, thermostat_mass=50 * eta
    )
    _, results = run(kernel, tf.zeros([32768]), 500, seed=4)
    xi = np.asarray(results.thermostat, np.float64)
    mean_error = xi.std() / np.sqrt(xi.size)
    assert abs(xi.mean() - 0.075) < 0.03 * 0.075 + 6 * mean_error
    squares = (xi - xi.mean()) ** 2 * 50
    assert abs(squares.mean() - 1) < 0.03 + 6 * squares.std() / np.sqrt(xi.size)


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_scalar_thermostat(integrator):
    """With many entries the scalar thermostat follows its exact law for infinitely many, all the way from the start.

    Chance moves ξ by about 0.1/√65536 = 4·10⁻⁴; 5·10⁻³ is allowed. Catches a sum for the mean, a wrong sign or
    fraction of the thermostat's step, the target 1 for η.
    """
    mass = 100 * ETA
    kernel = make(curvature=2.0, thermostat="scalar", thermostat_mass=mass, integrator=integrator)
    theta, _, trace = run(kernel, tf.zeros([65536]), 300, seed=5, trace=lambda results: results.thermostat)
    law = (integrator, RATE, 2.0, TEMPERATURE, FRICTION, NOISE)
    path, covariance = laws.scalar_thermostat(300, mass, *law)
    np.testing.assert_allclose(trace, path, rtol=0, atol=5e-3)
    assert_variance(theta, covariance[0, 0])
    # within a step of the splitting ξ still moves by 0.001 up and down
    assert abs(path[-1] - laws.balanced_thermostat(*law)) < 1e-3, "the law is not yet that of the long run"


@pytest.mark.parametrize("mass", ["auto", 1.0])
def test_automatic_mass_cools_a_hot_chain(mass):
    """At η = 2·10⁻⁷, the size of real problems, momenta 4 times too hot under gradient noise (ℓs)² = 0.4η.

    With the automatic mass v²/η is at its balance after 1,000 steps = 10 · 10/a: 0.8 after the friction, 1.2
    before, and 1 as the thermostat feels it. The papers' mass 1 leaves it at the law of a constant ξ = a, near 3.
    The mean of 16,384 entries is known to 1.1 %: 3 % for the fluctuations of ξ and 6 standard errors are allowed.
    """
    rate, friction, temperature = 0.02, 0.1, 1e-5
    eta = rate * temperature
    noise = np.sqrt(0.4 * eta) / rate
    law = ("splitting", rate, 1.0, temperature, friction, noise)
    thermostat = laws.balanced_thermostat(*law) if mass == "auto" else friction
    expected = laws.stationary_covariance(*law, thermostat)[1, 1] / eta
    assert abs(expected - 0.8) < 0.01 if mass == "auto" else expected > 2.7
    decay = np.exp(-2 * thermostat)  # the friction takes v² to e^(−2ξ) v² + aη (1 − e^(−2ξ))/ξ
    before = (expected - friction * (1 - decay) / thermostat) / decay
    expected = (before + expected) / 2
    assert abs(expected - 1) < 0.01 or mass != "auto"

    kernel = mcmc.SGNHT(gaussian(1.0, noise), rate, friction, temperature, thermostat_mass=mass)
    hot = 2 * kernel.bootstrap_results(tf.zeros([16384]), seed=6).momentum
    _, _, trace = run(kernel, tf.zeros([16384]), 1000, seed=6, trace=lambda r: r.kinetic_temperature, momentum=hot)
    assert trace[0] > 3.5
    assert abs(trace[-1] / expected - 1) < 0.03 + 6 * np.sqrt(2 / 16384), (trace[-1], expected)


def test_automatic_mass_reacts_within_ten_relaxation_times():
    """Without gradient noise ξ − a falls from a/2 like exp(−t/τ), 1/τ = a (1 − √0.8) = a/9.5.

    From the linear equations x' = −2ax − 2(ξ − a), ξ' = a²x/10 for x = v²/η − 1. At t = 10/a between a quarter and a
    half is left, with a scalar thermostat on 65,536 entries whose own fluctuations are 0.001 a.
    """
    kernel = mcmc.SGNHT(gaussian(1.0), 0.01, FRICTION, TEMPERATURE, thermostat="scalar")
    _, results = run(kernel, tf.zeros([65536]), int(10 / FRICTION), seed=7, thermostat=tf.constant(1.5 * FRICTION))
    assert 0.25 < (results.thermostat / FRICTION - 1) / 0.5 < 0.5


@pytest.mark.parametrize("friction", [3.0, 10.0])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_a_friction_that_forgets_the_momentum_within_a_step(friction, noise):
    """With (ℓs)² = 2hη the variance is (1 − ½h tanh(ξ̄/2)) T/λ, here for h = 0 and 0.3, and no ξ runs away.

    ℓλ = 0.05 forgets θ within 80 of 500 steps. 2 % for the finite step, and 6 standard errors of 1.1 %.
    """
    rate, n = 0.05, 16384
    kernel = mcmc.SGNHT(gaussian(1.0, np.sqrt(2 * noise / rate)), rate, friction)
    theta, results = run(kernel, tf.zeros([n]), 500, seed=9)
    balance = friction / (1 - noise)
    assert not results.skipped_steps and abs(np.mean(results.thermostat) / balance - 1) < 0.05
    assert np.std(results.thermostat) < 1.2 * np.sqrt(balance / 10)
    assert abs(np.var(theta) / (1 - 0.5 * noise * np.tanh(friction / 2)) - 1) < 0.02 + 6 * np.sqrt(2 / n)


def test_euler_says_where_it_has_no_balance():
    for friction in (0.5, 1.99, tf.constant([0.1, 0.5])):
        with pytest.warns(UserWarning, match="no balance.*Received: friction="):
            mcmc.SGNHT(friction=friction, integrator="euler")
    rests = {"friction": 0.9, "integrator": "euler", "temperature": 0.0}
    for arguments in ({"friction": 0.49, "integrator": "euler"}, {"friction": 5.0}, rests):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mcmc.SGNHT(**arguments)


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_a_friction_of_another_type_than_the_rate(integrator):
    """As a number of the same value."""
    found = []
    for friction in (0.125, tf.constant(0.125), tf.constant(0.125, tf.float64)):
        kernel = mcmc.SGNHT(gaussian(1.0), np.float64(0.25), friction, integrator=integrator)
        state = [tf.constant([1.0, -2.0])]
        found.append(kernel.one_step(state, kernel.bootstrap_results(state, seed=1), seed=2)[0][0].numpy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def relative_variance(theta):
    """Var θ in units of T/λ, and its standard error from independent chains."""
    squares = np.square(theta, dtype=np.float64) * CURVATURE / TEMPERATURE
    return squares.mean(0), squares.std(0) / np.sqrt(len(squares))
