"""Orders of the integrators in h = √ℓ at a fixed friction γ = a/h per unit of time; nothing here is random."""

import numpy as np
import pytest
import scipy.integrate
import tensorflow as tf

from tests.mcmc import quadrature
from tfdsmcmc import mcmc


def slope(hs, errors):
    """The slope of log |error| in log h by least squares."""
    return np.polyfit(np.log(hs), np.log(np.abs(errors)), 1)[0]


def quartic_gradient(theta, seed=None):
    """Of log target −θ²/2 − θ⁴/4."""
    return -theta - theta**3


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
@pytest.mark.parametrize("cls", [mcmc.SGHMC, mcmc.SGNHT])
def test_trajectory(cls, integrator):
    """At T = 0 the error of θ at time 2 is of second order for the splitting, of first for Euler.

    With p = v/h and ζ = ξ/h the kernels integrate θ' = p, p' = g − ζp and, for SGNHT with mass μ, ζ' = p²/μ. The
    splitting starts half a kick back, v₀ = h p₀ − ℓ g(θ₀)/2. Catches a half step that is a whole one, or one taken
    in another place.
    """
    time, friction, mass = 2.0, 0.5, 1.5
    theta = np.array([1.5, -0.7, 0.2])
    momentum = np.array([0.5, 1.0, -1.2])
    thermostat_rate = 1 / mass if cls is mcmc.SGNHT else 0.0

    def flow(_, y):
        t, p, z = y.reshape(3, -1)
        return np.concatenate([p, quartic_gradient(t) - z * p, thermostat_rate * p**2])

    start = np.concatenate([theta, momentum, np.full(3, friction)])
    path = scipy.integrate.solve_ivp(flow, (0, time), start, "DOP853", rtol=1e-12, atol=1e-12)
    exact = path.y[:3, -1]

    @tf.function(jit_compile=True, autograph=False)
    def end_point(h, steps):
        extra = {"thermostat_mass": mass} if cls is mcmc.SGNHT else {}
        kernel = cls(quartic_gradient, h * h, friction * h, temperature=0.0, integrator=integrator, **extra)
        state = tf.constant(theta)
        kick = h * h / 2 * quartic_gradient(state) if integrator == "splitting" else 0.0
        results = kernel.bootstrap_results(state)._replace(momentum=h * momentum - kick)
        loop = (tf.constant(0), state, results)
        _, state, _ = tf.while_loop(
            lambda i, *_: i < steps, lambda i, s, r: (i + 1, *kernel.one_step(s, r, seed=0)), loop
        )
        return state

    counts = np.array([40, 80, 160, 320])
    errors = [
        np.linalg.norm(end_point(tf.constant(time / n, tf.float64), tf.constant(int(n))) - exact) for n in counts
    ]
    lowest, highest = (1.9, 2.1) if integrator == "splitting" else (0.85, 1.15)
    assert lowest < slope(time / counts, errors) < highest, errors


STEPS = np.array([0.1, 0.2, 0.4])


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_stationary_bias_of_sghmc(monkeypatch, integrator):
    """On an anharmonic target E θ² is off by the second order for both, and 10 times less for the splitting.

    Euler's θ alone is a Langevin leapfrog with another step, so it is of second order too. Its kinetic temperature
    is off by the first order, 1/(1 − a/2) − 1; the splitting's by the fourth.
    """
    laws = [quadrature.Stationary(monkeypatch, mcmc.SGHMC, integrator, h) for h in STEPS]
    biases = np.array([law.variance / quadrature.EXACT_VARIANCE - 1 for law in laws])
    heats = np.array([law.kinetic_temperature - 1 for law in laws])
    assert 1.85 < slope(STEPS, biases) < 2.25, biases
    if integrator == "splitting":
        assert np.all(np.abs(biases) < 0.05 * STEPS**2), biases
        assert slope(STEPS, heats) > 3.5 and np.all(np.abs(heats) < 0.02 * STEPS**3), heats
    else:
        assert np.all(biases > 0.5 * STEPS**2), biases
        assert 0.9 < slope(STEPS, heats) < 1.4 and np.all(heats > 0.5 * STEPS), heats


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_stationary_bias_of_sgnht_under_gradient_noise(monkeypatch, integrator):
    """With noise (ℓs)² = 2hη, as much as is injected, E θ² is off by the second order for the splitting.

    For Euler, whose thermostat holds E v² = η, by the first. The thermostat is held in balance, as a heavy one is.
    """
    steps = np.array([0.025, 0.05, 0.1])
    laws = [quadrature.balanced(monkeypatch, integrator, h, np.sqrt(2 / h)) for h in steps]
    biases = np.array([law.variance / quadrature.EXACT_VARIANCE - 1 for law in laws])
    if integrator == "splitting":
        assert 1.9 < slope(steps, biases) < 2.1 and np.all(np.abs(biases) < steps**2), biases
    else:
        assert 0.95 < slope(steps, biases) < 1.25 and np.all(biases < -steps), biases
