"""Scales given weights: p(w given τ) against SciPy's quadrature, and the laws of the draws."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import tensorflow as tf

from tests.chance import LEVEL
from tests.priors.test_shrinkage import density_given, quadrature
from tfdsmcmc import random
from tfdsmcmc.priors import ColumnThreeParameterBetaNormal, Horseshoe, ThreeParameterBetaNormal
from tfdsmcmc.priors.scales_given_weights import ScalesGivenWeights, draw_on, finest

A, B = 0.8, 1.7


def log_marginal(total, size, scale, floor):
    """ln ∫ p(ζ given τ) (ζ + m²)^(−n/2) exp(−S/(2(ζ + m²))) dζ, over ln ζ between the points where it bends."""

    def log_integrand(t):
        variance = np.exp(t) + floor
        prior = scipy.stats.betaprime.logpdf(np.exp(t) / scale**2, A, B) + t - 2 * np.log(scale)
        return prior - 0.5 * (size * np.log(variance) + total / variance)

    # the law of ln ζ is broad under the floor and above, and narrow, if n is large, around the mean square
    fine = np.linspace(-40, 25, 200_001)
    top = log_integrand(fine).max()
    parts = np.unique([-40, 25, *fine[::4000], *fine[log_integrand(fine) > top - 40][[0, -1]]])
    ends = zip(parts[:-1], parts[1:])
    return top + np.log(sum(scipy.integrate.quad(lambda t: np.exp(log_integrand(t) - top), *pair)[0] for pair in ends))


@pytest.mark.parametrize("size", [1, 3, 20, 200, 2000])
@pytest.mark.parametrize("root", [0.001, 0.05, 0.7])
def test_the_density_of_weights_given_a_scale(size, root):
    """Differences between scales τ, at mean squares below, about and above the floor's."""
    total, floor = size * root**2, 0.05**2
    scales = ScalesGivenWeights([[total]], size, A, B, floor, highest=0.0)
    taus = np.array([0.002, 0.03, 0.4, 1.0])
    found = scales.log_density(2 * np.log(taus)[np.newaxis])[0]
    exact = np.array([log_marginal(total, size, tau, floor) for tau in taus])
    np.testing.assert_allclose(found - found[0], exact - exact[0], atol=1e-4)


@pytest.mark.parametrize("weights", [[0.0], [0.04], [-1.5], [0.3, -0.1, 0.5]], ids=str)
def test_variances_given_the_weights(weights):
    """Kolmogorov and Smirnov's test of ln ζ over 20,000 groups, whose steps are narrower than it can tell. ζ counts
    only beside m²: below m²/1,000 it is all one, at the end of the grid."""
    prior = ThreeParameterBetaNormal(A, B, 0.3, 0.05, group="parent")
    (variances,) = prior.draw_auxiliary(np.tile(np.array(weights, np.float32), (20_000, 1)), random.as_seed(1))
    grid, probabilities = quadrature(prior)
    posterior = probabilities * np.prod([density_given(prior, grid, w) for w in weights], 0)
    cdf = (np.cumsum(posterior) - posterior / 2) / posterior.sum()
    draws, end = np.log(variances.numpy().ravel()), np.log(0.05**2 / 1000)
    below = np.interp(end, np.log(grid), cdf)
    assert scipy.stats.binomtest(int(np.sum(draws < end)), len(draws), below).pvalue > LEVEL / 2
    draws = draws[draws >= end]
    law = (np.interp(draws, np.log(grid), cdf) - below) / (1 - below)
    assert scipy.stats.kstest(law, "uniform").pvalue > LEVEL / 2


@pytest.mark.slow
def test_a_common_scale_follows_its_law_again():
    """At weights drawn from the prior, τ drawn given them is half-Cauchy: 600 tensors of 30 entries, by Kolmogorov and
    Smirnov's test, which a tenth of the probability in the wrong place fails."""
    prior, rng, found = Horseshoe(0.5, 0.05, learn_global_scale=True), np.random.default_rng(2), []
    for number, tau in enumerate(0.5 * np.abs(rng.standard_cauchy(600))):
        scales = tau * np.abs(rng.standard_cauchy(30))
        value = np.sqrt(scales**2 + 0.05**2) * rng.normal(size=30)
        found.append(np.sqrt(prior.draw_auxiliary(value, random.as_seed(number))[1]))
    assert scipy.stats.kstest(found, scipy.stats.halfcauchy(scale=0.5).cdf).pvalue > LEVEL


@pytest.mark.parametrize("unit", ["parent", "unit", "unit of a weight with three axes"])
def test_the_scales_of_units_follow_their_law_again(unit):
    """The same of the rows or columns of one matrix, which have a τ each; and of ζ/τ² of an entry of each."""
    unit, *more = unit.split(" ")
    prior = Horseshoe(0.5, 0.05, learn_global_scale=True, global_scale_group=unit)
    rng = np.random.default_rng(4)
    tau = 0.5 * np.abs(rng.standard_cauchy((600, 1)))
    zeta = np.square(tau * rng.standard_cauchy((600, 30)))
    value = np.sqrt(zeta + 0.05**2) * rng.normal(size=zeta.shape)
    if unit == "unit":
        value = value.T
    shape = value.shape
    value = value.reshape(5, 6, -1) if more else value
    variances, squares = (part.numpy() for part in prior.draw_auxiliary(value, random.as_seed(5)))
    if more:
        assert variances.shape == (5, 6, 600) and squares.shape == (1, 1, 600)
        value, variances, squares = value.reshape(shape), variances.reshape(shape), squares.reshape(1, -1)
    assert variances.shape == value.shape and squares.shape == ((600, 1) if unit == "parent" else (1, 600))
    ratios = (variances / squares)[:, 0] if unit == "parent" else (variances / squares)[0]
    assert scipy.stats.kstest(np.sqrt(squares.ravel()), scipy.stats.halfcauchy(scale=0.5).cdf).pvalue > LEVEL / 2
    assert scipy.stats.kstest(ratios, scipy.stats.betaprime(0.5, 0.5).cdf).pvalue > LEVEL / 2
    large = np.argsort(tau.ravel())[-100:]  # drawn for the unit that it is of
    assert np.median(np.log(np.sqrt(squares.ravel()[large]) / tau.ravel()[large])) == pytest.approx(0, abs=0.3)


@pytest.mark.slow
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_scales_of_columns_follow_their_laws_again(floor):
    """At weights drawn from the prior, 300 of three columns of ten: ω is Gamma(½), φω Gamma(½), ξφ Gamma(b) and
    ζξ Gamma(a). An eighth of the probability in the wrong place fails."""
    a, b, rng, found = 0.6, 0.9, np.random.default_rng(3), []
    prior = ColumnThreeParameterBetaNormal(a, b, floor)
    for number in range(300):
        phi = rng.gamma(0.5, size=(3, 1)) / rng.gamma(0.5)
        variance = rng.gamma(a, size=(3, 10)) * phi / rng.gamma(b, size=(3, 10))
        value = (np.sqrt(variance + floor**2) * rng.normal(size=(3, 10))).astype(np.float32)
        zeta, xi, phi, omega = (part.numpy() for part in prior.draw_auxiliary(value, random.as_seed(number)))
        assert zeta.shape == xi.shape == (3, 10) and phi.shape == (3, 1) and omega.shape == ()
        found.append([omega, phi[0, 0] * omega, xi[0, 0] * phi[0, 0], zeta[0, 0] * xi[0, 0]])
    for values, shape in zip(np.transpose(found), (0.5, 0.5, b, a)):
        assert scipy.stats.kstest(values, scipy.stats.gamma(shape).cdf).pvalue > LEVEL / 4, shape


def test_a_grid_finds_a_narrow_density():
    """Normal laws of very different widths: the mean and the deviation of the grid's law are theirs."""
    centre, width = np.array([[3.3], [-20.1], [0.0]]), np.array([[0.002], [0.5], [6.0]])
    grid, logs = finest(lambda x: -0.5 * ((x - centre) / width) ** 2, -36.0, 36.0, 3)
    share = np.exp(logs) / np.exp(logs).sum(1, keepdims=True)
    mean = (share * grid).sum(1, keepdims=True)
    np.testing.assert_allclose(mean, centre, atol=1e-6)
    np.testing.assert_allclose((share * (grid - mean) ** 2).sum(1) ** 0.5, width[:, 0], rtol=1e-4)
    assert np.all(np.abs(draw_on(grid, logs, random.as_seed(1)) - centre[:, 0]) < 6 * width[:, 0])


def test_what_is_empty_or_extreme_has_finite_scales():
    priors = [Horseshoe(0.5, 0.02, True, group) for group in ("entry", "parent", "unit", "tensor")]
    priors += [Horseshoe(0.5, 0.02, True, "entry", unit) for unit in ("parent", "unit")]
    priors += [ThreeParameterBetaNormal(*shape, learn_global_scale=True) for shape in [(0.02, 0.02), (30.0, 20.0)]]
    priors += [ColumnThreeParameterBetaNormal(), ColumnThreeParameterBetaNormal(0.3, 2.0, 0.01)]
    values = [np.zeros((0, 4)), np.zeros((3, 0)), np.zeros((2, 3)), np.array([0.0, 1e-30, 1e-3, 1.0, 1e10, -1e14])]
    for prior in priors:
        for value in values:
            value = tf.constant(value, tf.float32)
            want = prior.initial_auxiliary(value, random.as_seed(1))
            found = prior.draw_auxiliary(value, random.as_seed(1))
            for a, b in zip(found, want, strict=True):
                assert a.shape == b.shape and a.dtype == b.dtype
                assert np.isfinite(a).all() and (a.numpy() > 0).all()
