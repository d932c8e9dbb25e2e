"""PolyaGamma against its Laplace transform, its moments, and its distribution function by inversion."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import LEVEL, assert_means, assert_near
from tfdsmcmc import random
from tfdsmcmc.distributions import polya_gamma_draws

PolyaGamma = ds.distributions.PolyaGamma
# on both sides of c = 4.2, where the envelope changes
TILTS = np.array([0.0, 0.5, 2.0, 4.1, -4.3, 5.0, 20.0])


def laplace(t, shape, tilt):
    """E e^{−tγ}, for complex t too."""
    return (np.cosh(tilt / 2) / np.cosh(np.sqrt(tilt**2 / 4 + np.asarray(t) / 2))) ** shape


def moments(shape, tilt):
    """(mean, variance) of γ = (1/2π²) Σ_k g_k/((k − ½)² + c²/4π²), g_k independent gammas; the last terms as integrals.
    """
    k, last = np.arange(1, 200_001), 200_000.0
    d = (k - 0.5) ** 2 + (tilt / 2 / np.pi) ** 2
    return shape * ((1 / d).sum() + 1 / last) / (2 * np.pi**2), shape * (1 / d**2).sum() / (4 * np.pi**4)


def distribution_function(shape, tilt):
    """F(x) = ½ − (1/π) ∫ Im(e^{−isx} φ(s))/s ds (Gil-Pelaez), interpolated, φ(s) = E e^{isγ}; s = u²."""
    mean, variance = moments(shape, tilt)
    u = (np.arange(5000) + 0.5) * 0.006 * (1 + abs(tilt)) ** 0.5
    s = u**2
    x = np.linspace(max(mean - 9 * variance**0.5, 0.0), mean + 14 * variance**0.5, 300)
    kernel = (np.exp(-1j * s * x[:, None]) * laplace(-1j * s, shape, tilt)).imag
    values = 0.5 - (kernel * 2 / u).sum(1) * (u[1] - u[0]) / np.pi
    return lambda at: np.interp(at, x, values)


def test_the_oracle_itself():
    """Where the law is known otherwise: the mean as the integral of 1 − F."""
    for tilt in TILTS[[0, -1]]:
        mean, variance = moments(1, tilt)
        x = np.linspace(0, mean + 14 * variance**0.5, 4001)
        tail = 1 - distribution_function(1, tilt)(x)
        np.testing.assert_allclose(scipy.integrate.trapezoid(tail, x), mean, rtol=2e-3)


def test_moments_and_transforms():
    shape = np.array([[1.0], [3.0]])
    tilt = np.array([0.0, 1e-4, 0.03, 0.06, -0.4, 0.6, 2.0, 20.0, 300.0])
    for dtype, rtol in ((np.float32, 3e-5), (np.float64, 1e-5)):
        law = PolyaGamma(shape.astype(dtype), tilt.astype(dtype))
        assert law.dtype == dtype and law.batch_shape == (2, 9) and law.event_shape == ()
        want = np.array([[moments(b, c) for c in tilt] for b in shape[:, 0]])
        np.testing.assert_allclose(law.mean(), want[..., 0], rtol=rtol)
        np.testing.assert_allclose(law.variance(), want[..., 1], rtol=rtol)
        for t in (0.1, 2.0):
            small = np.abs(tilt) < 100
            np.testing.assert_allclose(
                np.asarray(law.log_laplace(t))[:, small],
                np.log(laplace(t, shape, tilt[small])),
                rtol=1e-4,
                atol=3e-7 if dtype == np.float64 else 1e-5,
            )
        # of a large tilt cosh(c/2) is e^{c/2}/2
        large = 2 * PolyaGamma(dtype(1.0), dtype(1e4)).log_laplace([1.0, 10.0]).numpy()
        np.testing.assert_allclose(large, 1e4 - np.sqrt(1e8 + 2 * np.array([1.0, 10.0])), rtol=3e-5)
        assert (PolyaGamma(dtype(1.0), tilt.astype(dtype)).log_laplace(np.inf) == -np.inf).numpy().all()
        # E_{PG(b, c)} of log (density ratio) = b log cosh(c/2) − c²/2 E γ
        exact = shape * (np.abs(tilt) / 2 + np.log1p(np.exp(-np.abs(tilt))) - np.log(2)) - tilt**2 / 2 * want[..., 0]
        large = np.abs(tilt) > 0.5
        np.testing.assert_allclose(np.asarray(law.divergence_from_untilted())[:, large], exact[:, large], rtol=1e-4)
        small = np.abs(tilt) < 0.1  # (c/2)⁴/12 and the next term
        series = shape * ((tilt / 2) ** 4 / 12 - 2 * (tilt / 2) ** 6 / 45)
        np.testing.assert_allclose(np.asarray(law.divergence_from_untilted())[:, small], series[:, small], rtol=1e-4)
    # the same divergence between the two rules, from both sides of where they meet
    sides = PolyaGamma(1.0, tf.constant([0.5999, 0.6001])).divergence_from_untilted().numpy()
    np.testing.assert_allclose(sides[1] / sides[0], (0.6001 / 0.5999) ** 4, rtol=1e-3)


@pytest.fixture(scope="module")
def draws():
    """(tilts, 20,000): several blocks, whose ends are not those of a tilt."""
    tilt = tf.repeat(tf.constant(TILTS, tf.float32)[:, tf.newaxis], 20_000, 1)
    return PolyaGamma(1.0, tilt).sample(seed=tf.constant([3, 4])).numpy().astype(np.float64)


def test_draws_of_shape_one(draws):
    """Kolmogorov and Smirnov's test, E γ, and E e^{−tγ} at the t where it is about ½: an error of the distribution
    function of 0.02 is found."""
    for tilt, drawn in zip(TILTS, draws):
        assert scipy.stats.kstest(drawn, distribution_function(1, tilt)).pvalue > LEVEL / len(TILTS), tilt
    mean, variance = np.array([moments(1, tilt) for tilt in TILTS]).T
    assert_means(draws.T, mean, np.sqrt(variance))
    t = 0.7 / mean
    wanted = [laplace(t, 1, tilt) for t, tilt in zip(t, TILTS)]
    squared = [laplace(2 * t, 1, tilt) for t, tilt in zip(t, TILTS)]
    assert_means(np.exp(-t * draws.T), wanted, np.sqrt(np.subtract(squared, np.square(wanted))))


def test_each_draw_has_its_own_randomness(draws):
    """Neighbours, and entries a block apart, are uncorrelated: z-tests of their correlation."""
    flat = np.concatenate([(drawn - drawn.mean()) / drawn.std() for drawn in draws])
    for lag in (1, 16, polya_gamma_draws._BLOCK):
        product = flat[lag:] * flat[:-lag]
        assert_near(product.mean(), 0.0, product.std() / np.sqrt(len(product)))


@pytest.mark.parametrize("shape", [3, 40])
def test_draws_of_integer_shapes(shape):
    drawn = PolyaGamma(shape, tf.fill([2000], 1.5)).sample(seed=tf.constant([1, shape])).numpy()
    assert scipy.stats.kstest(drawn, distribution_function(shape, 1.5)).pvalue > LEVEL


def test_large_and_mixed_shapes():
    """Sums, and above 170 a normal law: mean and variance."""
    shape = tf.constant([2.0, 170.0, 171.0, 1000.5, 0.0])
    drawn = _drawn_at(shape, tf.fill([1000, 5], -1.0)).numpy()
    assert (drawn[:, 4] == 0).all()
    for j in range(4):
        mean, variance = moments(float(shape[j]), -1.0)
        assert_means(drawn[:, j], mean, variance**0.5)
        # the variance of a sample variance, with the law's kurtosis below 3 + 4/b
        assert_near(drawn[:, j].var(), variance, variance * np.sqrt((2 + 4 / float(shape[j])) / 1000))


@tf.function(input_signature=[tf.TensorSpec([5]), tf.TensorSpec([1000, 5])], autograph=False)
def _drawn_at(shape, tilt):
    return PolyaGamma(shape, tilt).sample(seed=tf.constant([5, 6]))


@pytest.mark.compiled
@pytest.mark.parametrize("right", [False, True])
def test_the_share_that_is_accepted(right):
    """Where each form is used, by its terms: an error near a tangent's end hardly shows in draws."""
    x, n = np.linspace(*((0.5, 4.0) if right else (0.05, 1.2)), 50), np.arange(8)[:, None]
    if right:
        terms = np.pi * (n + 0.5) * np.exp(-((n + 0.5) ** 2) * np.pi**2 * x / 2)
    else:
        terms = np.pi * (n + 0.5) * (2 / (np.pi * x)) ** 1.5 * np.exp(-2 * (n + 0.5) ** 2 / x)
    exact = ((-1.0) ** n * terms).sum(0) / terms[0]
    found = polya_gamma_draws._series(tf.constant(x, tf.float32), tf.fill([50], right))
    np.testing.assert_allclose(found, exact, rtol=3e-7)


def test_draws_are_the_same_jitted():
    tilt = tf.constant(np.random.default_rng(0).normal(0, 4, 9000).astype(np.float32))
    draw = lambda tilt: polya_gamma_draws.draws_of_one(tilt, random.as_seed(8))  # noqa: E731
    one, other = (tf.function(draw, jit_compile=jit, autograph=False)(tilt).numpy() for jit in (False, True))
    # a proposal at the very edge may be taken by one and not by the other
    assert (np.abs(one - other) > 1e-4 * one).sum() <= 2


def test_shapes_of_samples_and_what_is_not_finite():
    law = PolyaGamma([1, 2], [[0.3], [np.nan], [1e30]])
    assert law.sample(seed=[1, 2]).shape == (3, 2) and law.sample([4, 5], seed=[1, 2]).shape == (4, 5, 3, 2)
    drawn = law.sample(100, seed=[1, 2]).numpy()
    assert np.isnan(drawn[:, 1]).all() and (drawn[:, 0] > 0).all() and np.isfinite(drawn[:, 2]).all()
    assert PolyaGamma(1.0, tf.zeros([0])).sample(seed=[1, 2]).shape == (0,)
    np.testing.assert_array_equal(law.sample(5, seed=[1, 2]), law.sample(5, seed=[1, 2]))
    assert (law.sample(5, seed=[1, 2])[:, 0] != law.sample(5, seed=[1, 3])[:, 0]).numpy().all()


@pytest.mark.parametrize("shape", [0, -1.0, [1.0, np.nan]])
def test_shapes_out_of_range(shape):
    with pytest.raises(ValueError, match="shape must be above 0. Received: shape="):
        PolyaGamma(shape, 1.0)


def test_draws_need_integers():
    with pytest.raises(ValueError, match="an integer, or above 170. Received: shape=.*1.5"):
        PolyaGamma(1.5, 1.0).sample(seed=[1, 2])
    assert PolyaGamma(1.5, 1.0).mean() > 0
    drawn = _drawn_at(tf.constant([1.5, 0.3, -1.0, np.nan, 2.0]), tf.zeros([1000, 5])).numpy()
    assert np.isnan(drawn[:, :4]).all() and (drawn[:, 4] > 0).all()


def test_a_mass_that_is_off_is_found(monkeypatch):
    """What Kolmogorov and Smirnov's test is worth: with a normal density where its distribution function belongs, in
    the share of the left part, as was once published, it fails."""
    exact, at = polya_gamma_draws._left_over_right, 2**0.5
    off = scipy.stats.norm.pdf(at) / scipy.stats.norm.sf(at)
    monkeypatch.setattr(polya_gamma_draws, "_left_over_right", lambda c, tail: off * exact(c, tail))
    drawn = PolyaGamma(1.0, tf.zeros([20_000])).sample(seed=tf.constant([3, 4])).numpy()
    assert scipy.stats.kstest(drawn, distribution_function(1, 0.0)).pvalue < LEVEL
