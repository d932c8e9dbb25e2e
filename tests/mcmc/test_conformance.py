"""Every kernel, with each of its integrators and thermostats, honours the contract of kernels."""

import math

import keras
import pytest

from tests.conformance.kernels import run_kernel_test
from tfdsmcmc import mcmc

FRICTION = 0.15


def heavy_ball_euler(rate):
    """v ← (1 − a) v + ℓ g; θ ← θ + v."""
    return rate, 1.0 - FRICTION


def heavy_ball_splitting(rate):
    """With w the kicked momentum, θ moves by (1 + e⁻ᵃ)/2 · w and w ← e⁻ᵃ w + ℓ g."""
    return rate * (1.0 + math.exp(-FRICTION)) / 2.0, math.exp(-FRICTION)


HEAVY_BALL = {"euler": heavy_ball_euler, "splitting": heavy_ball_splitting}


def test_sgld():
    run_kernel_test(mcmc.SGLD, heavy_ball=lambda rate: (rate, 0.0))


@pytest.mark.parametrize("integrator", ["splitting", pytest.param("euler", marks=pytest.mark.slow)])
def test_sghmc(integrator):
    run_kernel_test(mcmc.SGHMC, {"friction": FRICTION, "integrator": integrator}, HEAVY_BALL[integrator])


@pytest.mark.slow
def test_sghmc_that_estimates_its_gradient_noise():
    run_kernel_test(mcmc.SGHMC, {"friction": FRICTION, "gradient_noise": "estimate"}, HEAVY_BALL["splitting"])


def test_preconditioned_sgld():
    run_kernel_test(mcmc.PreconditionedSGLD)


@pytest.mark.parametrize(
    "optimizer, heavy_ball",
    [
        (keras.optimizers.Adam, None),
        (keras.optimizers.RMSprop, None),
        (lambda rate: keras.optimizers.SGD(rate, momentum=0.8), lambda rate: (rate, 0.8)),
    ],
    ids=["adam", "rmsprop", "sgd"],
)
def test_map(optimizer, heavy_ball):
    run_kernel_test(mcmc.MAP, None, heavy_ball, lambda rate: {"optimizer": optimizer(rate)}, draws=False)


@pytest.mark.parametrize(
    "integrator, thermostat, mass",
    [
        ("splitting", "elementwise", "auto"),
        pytest.param("splitting", "scalar", "auto", marks=pytest.mark.slow),
        pytest.param("euler", "elementwise", "auto", marks=pytest.mark.slow),
        pytest.param("euler", "scalar", "auto", marks=pytest.mark.slow),
        pytest.param("euler", "elementwise", 1.0, marks=pytest.mark.slow),
    ],
)
def test_sgnht(integrator, thermostat, mass):
    """At T = 0 the automatic mass is 0 and the thermostat rests at ξ = a; with a mass it brakes, by ξ ← ξ + v²/μ."""
    kwargs = {"friction": FRICTION, "integrator": integrator, "thermostat": thermostat, "thermostat_mass": mass}
    run_kernel_test(mcmc.SGNHT, kwargs, HEAVY_BALL[integrator] if mass == "auto" else None)
