"""One step of each kernel against its equations, written out in NumPy with the same normal draws.

Exact up to rounding, so any factor, sign, order of the parts of a step, or old value for new shows.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.mcmc import laws
from tests.mcmc.chains import gaussian, inject_noise, measured_map, run
from tfdsmcmc import mcmc

RATE, TEMPERATURE, FRICTION, MASS = 0.3125, 1.75, 0.1875, 0.4375  # exact in float32
ETA = RATE * TEMPERATURE
CURVATURE = np.array([0.5, 2.0, 5.0])

THETA = [np.array([[0.3, -1.2, 2.0], [0.1, 0.9, -0.4]]), np.array([1.5, -0.2, 0.6])]
MOMENTUM = [np.array([[0.2, 0.5, -0.3], [-0.8, 0.1, 1.1]]), np.array([0.4, -0.6, 0.9])]
THERMOSTAT = [np.array([[0.15, -0.3, 0.004], [2.0, 0.0, -0.004]]), np.array([0.7, 0.0101, 0.0099])]
NOISE = [np.array([[0.9, -0.1, 0.4], [1.3, -0.7, 0.2]]), np.array([-1.0, 0.3, 0.8])]
GRADIENT = [-CURVATURE * theta for theta in THETA]


def step(kernel, **results):
    """One step from the constants above, in float64: (θ', results)."""
    state = [tf.constant(part) for part in THETA]
    start = kernel.bootstrap_results(state)._replace(**results)
    return kernel.one_step(state, start, seed=0)


def make(cls, **kwargs):
    def gradient_fn(*parts, seed):
        return [gaussian(CURVATURE)(part, seed) for part in parts]

    return cls(gradient_fn, RATE, temperature=TEMPERATURE, **kwargs)


def assert_parts(actual, expected):
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_sgld(monkeypatch):
    inject_noise(monkeypatch, mcmc.SGLD, *NOISE)
    theta, _ = step(make(mcmc.SGLD))
    assert_parts(theta, [t + RATE * g + np.sqrt(2 * ETA) * n for t, g, n in zip(THETA, GRADIENT, NOISE)])


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_sghmc(monkeypatch, integrator):
    inject_noise(monkeypatch, mcmc.SGHMC, *NOISE)
    theta, results = step(make(mcmc.SGHMC, friction=FRICTION, integrator=integrator), momentum=MOMENTUM)
    expected_theta, expected_momentum = [], []
    for t, v, g, n in zip(THETA, MOMENTUM, GRADIENT, NOISE):
        if integrator == "euler":
            v = (1 - FRICTION) * v + RATE * g + np.sqrt(2 * FRICTION * ETA) * n
            t = t + v
        else:
            v = v + RATE * g
            t = t + v / 2
            v = np.exp(-FRICTION) * v + np.sqrt(ETA * (1 - np.exp(-2 * FRICTION))) * n
            t = t + v / 2
        expected_theta.append(t)
        expected_momentum.append(v)
    assert_parts(theta, expected_theta)
    assert_parts(results.momentum, expected_momentum)
    squares = np.concatenate([np.ravel(v) for v in expected_momentum]) ** 2
    np.testing.assert_allclose(results.kinetic_temperature, np.mean(squares) / ETA, rtol=1e-6)


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
@pytest.mark.parametrize("thermostat", ["elementwise", "scalar"])
@pytest.mark.parametrize("mass", [MASS, "auto"])
def test_sgnht(monkeypatch, integrator, thermostat, mass):
    """Among the thermostats are 0, negative values and both sides of the switch to the series at 0.01.

    The series leaves out (1 − e⁻²ˣ)/x = 2 − 2x + 4x²/3 − 2x³/3 + …, at most 7·10⁻⁷ of 2.
    """
    inject_noise(monkeypatch, mcmc.SGNHT, *NOISE)
    scalar = thermostat == "scalar"
    kernel = make(
        mcmc.SGNHT, friction=FRICTION, integrator=integrator, thermostat=thermostat, thermostat_mass=mass
    )
    theta, results = step(kernel, momentum=MOMENTUM, thermostat=np.array(0.15) if scalar else THERMOSTAT)

    if mass == "auto":
        mass = 1.0 if integrator == "euler" else 10 * ETA / FRICTION**2
    xs = [np.full(t.shape, 0.15) for t in THETA] if scalar else THERMOSTAT

    def adapted(vs, fraction):
        squares = [v**2 for v in vs]
        if scalar:
            squares = [np.concatenate([np.ravel(s) for s in squares]).mean()] * len(vs)
        return [x + fraction * (s - ETA) / mass for x, s in zip(xs, squares)]

    if integrator == "euler":
        vs = [
            v - x * v + RATE * g + np.sqrt(2 * FRICTION * ETA) * n
            for v, x, g, n in zip(MOMENTUM, xs, GRADIENT, NOISE)
        ]
        ts = [t + v for t, v in zip(THETA, vs)]
        xs = adapted(vs, 1.0)
        felt = [vs]
    else:
        vs = [v + RATE * g for v, g in zip(MOMENTUM, GRADIENT)]
        ts = [t + v / 2 for t, v in zip(THETA, vs)]
        xs = adapted(vs, 0.5)
        felt = [vs]
        with np.errstate(invalid="ignore"):
            spreads = [np.where(x == 0, 2.0, -np.expm1(-2 * x) / np.where(x == 0, 1.0, x)) for x in xs]
        vs = [np.exp(-x) * v + np.sqrt(FRICTION * ETA * s) * n for v, x, s, n in zip(vs, xs, spreads, NOISE)]
        xs = adapted(vs, 0.5)
        felt.append(vs)
        ts = [t + v / 2 for t, v in zip(ts, vs)]

    for x, y in zip([*theta, *results.momentum], [*ts, *vs], strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)
    if scalar:
        np.testing.assert_allclose(results.thermostat, xs[0].flat[0], rtol=1e-6)
    else:
        for x, y in zip(results.thermostat, xs, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6, atol=1e-7)
    # the momentum that the thermostat feels: in the splitting before and after the friction
    squares = np.concatenate([np.ravel(v) for part in felt for v in part]) ** 2
    np.testing.assert_allclose(results.kinetic_temperature, np.mean(squares) / ETA, rtol=1e-6)


@pytest.mark.parametrize("xi", [-0.011, -0.009, -1e-9, 0.0, 1e-9, 0.009, 0.011, 60.0])
def test_ornstein_uhlenbeck_part_at_any_friction(monkeypatch, xi):
    """v → e^(−ξ) v + √(aη (1 − e^(−2ξ))/ξ) n in float32: the quotient cancels near 0, e^(−ξ) vanishes far off."""
    inject_noise(monkeypatch, mcmc.SGNHT, np.array([1.0]))
    kernel = mcmc.SGNHT(gaussian(0.0), RATE, FRICTION, TEMPERATURE, thermostat_mass=1e12)
    state = tf.zeros([1])
    start = kernel.bootstrap_results(state)._replace(momentum=tf.ones([1]), thermostat=tf.fill([1], xi))
    spread = 2.0 if xi == 0 else -np.expm1(-2 * xi) / xi
    expected = np.exp(-xi) + np.sqrt(FRICTION * ETA * spread)
    np.testing.assert_allclose(kernel.one_step(state, start, seed=0)[1].momentum, [expected], rtol=2e-6)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("cls", [mcmc.SGHMC, mcmc.SGNHT])
def test_start(cls, dtype):
    """v ~ N(0, η) and ξ = a: catches ℓ or T for η, and a standard deviation of η.

    The variance of 10⁵ draws has a standard error of 0.45 %; 6 of them are exceeded once in 5·10⁸ runs.
    """
    n = 100_000
    kernel = make(cls, friction=FRICTION)
    results = kernel.bootstrap_results([tf.zeros([n], dtype)], seed=4)
    assert abs(np.var(results.momentum[0]) / ETA - 1) < 6 * np.sqrt(2 / n)
    np.testing.assert_allclose(results.kinetic_temperature, np.mean(np.square(results.momentum[0])) / ETA, rtol=1e-5)
    if cls is mcmc.SGNHT:
        np.testing.assert_allclose(results.thermostat[0], np.full(n, FRICTION), rtol=1e-7)
        scalar = kernel.copy(thermostat="scalar").bootstrap_results([tf.zeros([n], dtype)])
        assert scalar.thermostat.shape == () and scalar.thermostat.dtype == dtype


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
@pytest.mark.parametrize("thermostat", [None, 0.375])
def test_linear_map(monkeypatch, thermostat, integrator):
    """On a Gaussian a step is the linear map of laws.py, which the tests of the long run rely on."""
    if thermostat is None:
        kernel = mcmc.SGHMC(None, RATE, FRICTION, TEMPERATURE, integrator)
    else:
        kernel = mcmc.SGNHT(None, RATE, FRICTION, TEMPERATURE, thermostat_mass=1e15, integrator=integrator)
    matrix, columns = measured_map(monkeypatch, kernel, 2.0, 0.8, thermostat)
    expected = laws.one_step_map(integrator, RATE, 2.0, TEMPERATURE, FRICTION, 0.8, thermostat)
    np.testing.assert_allclose(matrix, expected[0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(columns, expected[1], rtol=1e-6, atol=1e-9)


def test_scalar_thermostat_of_mixed_types_and_empty_parts():
    """The mean of v⊙v runs over all entries of all parts: one ξ for all, of the first part's type."""
    state = [tf.zeros([2, 3]), tf.zeros([0, 4]), tf.zeros([5], tf.float64)]
    kwargs = {"thermostat": "scalar", "thermostat_mass": 1.0, "integrator": "euler"}
    kernel = mcmc.SGNHT(lambda *parts, seed: list(parts), RATE, FRICTION, **kwargs)
    _, results = run(kernel, state, 1)
    squares = np.concatenate([np.ravel(v) for v in results.momentum]) ** 2
    assert results.thermostat.dtype == tf.float32
    np.testing.assert_allclose(results.thermostat, FRICTION + np.mean(squares) - RATE, rtol=1e-5)
