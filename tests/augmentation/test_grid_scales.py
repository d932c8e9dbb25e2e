"""Scales on a grid against SciPy's quadrature over ln ζ and sums over finer grids of ln τ, in groups of many sizes."""

import itertools

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
import tensorflow as tf

from tests.slow_cases import mostly_slow
from tfdsmcmc.augmentation.variational.grid_scales import GridScales
from tfdsmcmc.priors import ThreeParameterBetaNormal
from tfdsmcmc.priors.scales_given_weights import log_step

SIZES = [1, 20, 200, 2000, 20_000]
A, B, TAU, FLOOR = 0.8, 0.6, 0.3, 0.05


def mean_precision(size, total):
    """⟨1/(ζ + m²)⟩ under p(ζ given τ) (ζ + m²)^(−n/2) exp(−S/(2(ζ + m²)))."""

    def log_integrand(t):
        variance = np.exp(t) + FLOOR**2
        prior = scipy.stats.betaprime.logpdf(np.exp(t) / TAU**2, A, B) + t
        return prior - 0.5 * (size * np.log(variance) + total / variance)

    fine = np.linspace(-50, 40, 300_001)
    logs = log_integrand(fine)
    where = fine[logs > logs.max() - 45]
    ends = np.linspace(where[0], where[-1], 60)

    def integral(power):
        def integrand(t):
            return np.exp(log_integrand(t) - logs.max()) * (np.exp(t) + FLOOR**2) ** -power

        return sum(scipy.integrate.quad(integrand, *pair)[0] for pair in zip(ends[:-1], ends[1:]))

    return integral(1) / integral(0)


@pytest.mark.parametrize(
    ("group", "size"), mostly_slow([("parent", 20), ("unit", 2000)], itertools.product(["parent", "unit"], SIZES))
)
def test_the_mean_precision_of_groups(size, group):
    """Groups of mean squares below the floor's, about it, and above, at places between the steps. Steps of ¼
    are off by 1 to 6 in a hundred from n = 200 on."""
    squares = np.array([0.0004, 0.0023, 0.0031, 0.0171, 0.47, 3.1])
    shares = np.random.default_rng(size).uniform(0.2, 1.8, (size, 1))
    second = squares * shares / shares.mean()
    second = second if group == "parent" else second.T
    prior = ThreeParameterBetaNormal(A, B, TAU, FLOOR, group=group)
    scales = GridScales(prior, group, np.ones(second.shape))
    exact = [mean_precision(size, size * square) for square in squares]
    for dtype, tolerance in ((tf.float64, 1e-6), (tf.float32, 1e-6 + 2e-8 * size)):
        moments = tf.constant(second, dtype)
        found = scales.precision(scales.initial(moments), dtype).numpy()
        np.testing.assert_allclose(found[0] if group == "parent" else found[:, 0], exact, rtol=tolerance)


@pytest.mark.parametrize("size", SIZES[1:])
def test_the_bound_on_the_error_of_a_sum(size):
    """Without a floor and in a tail of the prior: the worst of many places of the grid, at the step that is used and at
    twice that, keeps to 2 Σ |Γ(k + 2πij/h)/Γ(k)| and comes near; at the step used it is 10⁻⁶ at most."""
    step = min(0.25, log_step(size, A, B))
    for k in (size / 2 - A, size / 2 + B + 1):
        for h in (step, 2 * step):
            t = np.arange(-12 / np.sqrt(k), 60 / np.sqrt(k) + 12, h)
            log_terms = [-k * s - k * np.exp(-s) for s in (t + h * shift for shift in np.linspace(0, 1, 16))]
            exact = scipy.special.gammaln(k) - k * np.log(k)
            worst = max(abs(np.expm1(scipy.special.logsumexp(part) + np.log(h) - exact)) for part in log_terms)
            waves = 2j * np.pi * np.arange(1, 5) / h
            bound = 2 * np.exp((scipy.special.loggamma(k + waves) - scipy.special.loggamma(k)).real).sum()
            assert worst < bound + 1e-9
            assert worst > bound / 2 - 1e-9
            assert h > step or bound < 1e-6


@pytest.mark.parametrize("count", [3, 400, 4000])
def test_the_law_of_a_common_scale(count):
    """The mean and the deviation of ln τ for many groups, against sums in steps of a thirtieth; steps of ¼ are wider
    than the law of 4,000 groups."""
    prior = ThreeParameterBetaNormal(A, B, TAU, FLOOR, learn_global_scale=True)
    second = tf.constant(0.2 * np.random.default_rng(1).gamma(0.3, size=(count, 1)))
    scales = GridScales(prior, "entry", np.ones((count, 1)))
    state = scales.initial(second)
    log_zeta = np.log(scales._variance - FLOOR**2)
    points = (scales._given_tau.shape[0] - 1) * 30 + 1
    fine = np.log(TAU) + np.linspace(-7, 7, points)
    ratio = 2 * (fine - np.log(TAU))
    logs, shares = ratio / 2 - np.logaddexp(0, ratio), np.exp(state.zeta.numpy()).sum(0)
    for zeta, share in zip(log_zeta, shares):
        logs += share * (A * (zeta - 2 * fine) - (A + B) * np.logaddexp(0, zeta - 2 * fine))
    laws = []
    for at, law in ((fine, logs), (np.log(TAU) + np.linspace(-7, 7, state.tau.shape[1]), state.tau[0].numpy())):
        share = scipy.special.softmax(law)
        laws.append([share @ at, np.sqrt(share @ (at - share @ at) ** 2)])
    np.testing.assert_allclose(laws[1][0], laws[0][0], atol=1e-3 * laws[0][1] + 1e-5)
    np.testing.assert_allclose(laws[1][1], laws[0][1], rtol=2e-3)


@pytest.mark.parametrize("unit", ["parent", "unit"])
def test_a_scale_of_each_unit_is_that_of_a_matrix_of_its_own(unit):
    """Columns, or rows, of which some weights do not count: as many matrices, each with a τ."""
    rng = np.random.default_rng(2)
    second, mask = rng.gamma(0.3, size=(4, 3)), np.ones((4, 3))
    mask[rng.integers(0, 4, 3), np.arange(3)] = 0
    if unit == "unit":
        second, mask = second.T, mask.T
    prior = ThreeParameterBetaNormal(A, B, TAU, FLOOR, True, "entry", unit)
    alone = ThreeParameterBetaNormal(A, B, TAU, FLOOR, True)

    def end(scales, moments):
        state, moments = scales.initial(tf.constant(moments)), tf.constant(moments)
        for _ in range(3):
            state = scales.update(state, moments)
        return scales.precision(state, tf.float64).numpy(), state.tau.numpy(), float(scales.bound(state, moments))

    precision, tau, bound = end(GridScales(prior, "entry", mask, unit), second)
    parts = []
    for k in range(3):
        own = (slice(None), [k]) if unit == "parent" else ([k], slice(None))
        parts.append(end(GridScales(alone, "entry", mask[own]), second[own]))
        np.testing.assert_allclose(precision[own], parts[-1][0], rtol=1e-10)
        np.testing.assert_allclose(tau[k], parts[-1][1][0], rtol=1e-10)
    assert bound == pytest.approx(sum(part[2] for part in parts), rel=1e-10)
