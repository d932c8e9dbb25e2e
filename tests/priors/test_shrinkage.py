"""Gibbs draws of the variances, and the law of the weights that they imply, against quadrature over log ζ."""

import json

import keras
import numpy as np
import pytest
import scipy.special
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import LEVEL, assert_frequencies
from tfdsmcmc import random
from tfdsmcmc.priors import Horseshoe, ThreeParameterBetaNormal

# asymmetric, and far from one another: a and b, τ and m cannot take each other's place
GENERAL = ThreeParameterBetaNormal(a=0.8, b=1.7, global_scale=0.3, minimum_scale=0.05)
HORSESHOE = Horseshoe(global_scale=0.1, minimum_scale=0.02)
TWO = ThreeParameterBetaNormal(0.5, 1.5, 0.3, 0.05)  # its gamma numbers are sums of two exponential ones, or of three
THREE = ThreeParameterBetaNormal(0.5, 2.5, 0.3, 0.05)
NAMES = ["horseshoe", "general", "sums of two", "sums of three"]
KINDS = pytest.mark.parametrize("prior", [HORSESHOE, GENERAL, TWO, THREE], ids=NAMES)

T = np.linspace(-120, 60, 20_001)  # log(ζ/τ²); the density falls as e^(aT) to the left and e^(−bT) to the right


def quadrature(prior, scale=None):
    """(ζ, its probabilities) on a grid: the trapezoidal rule in log ζ, where the density is smooth."""
    log_density = prior.a * T - (prior.a + prior.b) * np.logaddexp(0.0, T)
    density = np.exp(log_density - log_density.max())
    return (prior.global_scale if scale is None else scale) ** 2 * np.exp(T), density / density.sum()


def density_given(prior, variance, w):
    return scipy.stats.norm.pdf(w, 0, np.sqrt(variance + prior.minimum_scale**2))


def sweeps(prior, value, count, seed, redraw=False):
    """(weights, auxiliary) after Gibbs sweeps from the start ζ = τ²; weights are redrawn from N(0, ζ + m²) if asked."""
    start = [tf.fill(prior._sum(value).shape, prior.global_scale**2), tf.constant(prior.global_scale**2)]
    start = start[: prior.auxiliary_count]

    @tf.function(jit_compile=True)
    def run(value, auxiliary, seed):
        def body(i, value, auxiliary):
            a, b = tf.unstack(random.split(random.fold(seed, i)))
            if redraw:
                value = random.normal(value.shape, a) * tf.sqrt(auxiliary[0] + prior.minimum_scale**2)
            return i + 1, value, prior.update_auxiliary(value, auxiliary, b)

        return tf.while_loop(lambda i, *_: i < count, body, (0, value, auxiliary))[1:]

    return run(value, start, random.as_seed(seed))


@KINDS
def test_the_variances_given_the_weights(prior):
    """10,000 chains of one entry each, for each of four weights: Kolmogorov and Smirnov's test of log ζ."""
    weights = [0.0, 0.04, -0.2, 1.5]
    value = tf.repeat(tf.constant([weights]), 10_000, 0)
    _, (variances,) = sweeps(prior, value, 120, seed=1)
    grid, probabilities = quadrature(prior)
    for w, draws in zip(weights, variances.numpy().T):
        posterior = probabilities * density_given(prior, grid, w)
        cdf = (np.cumsum(posterior) - posterior / 2) / posterior.sum()
        p = scipy.stats.kstest(np.log(draws), lambda t, cdf=cdf: np.interp(t, np.log(grid), cdf)).pvalue
        assert p > LEVEL / len(weights), (w, p)


@KINDS
def test_the_law_of_the_weights(prior):
    """The sweeps in turn with exact draws of w given ζ: w comes to follow the prior with ζ integrated out. One chain
    for each of 60,000 entries; a chi-square test on bins from a quarter of m to where a hundred draws lie beyond."""
    value, _ = sweeps(prior, tf.zeros([60_000]), 120, seed=2, redraw=True)
    grid, probabilities = quadrature(prior)
    edges = np.concatenate([[-np.inf], -np.geomspace(2.0, 0.005, 25), np.geomspace(0.005, 2.0, 25), [np.inf]])
    deviations = np.sqrt(grid + prior.minimum_scale**2)
    cdf = [probabilities @ scipy.stats.norm.cdf(edge / deviations) for edge in edges]
    assert_frequencies(np.histogram(value, edges)[0], np.diff(cdf))


AXES = {"parent": 1, "unit": 0}


@pytest.mark.parametrize("group", AXES)
@pytest.mark.parametrize("general", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_variance_of_a_group_given_its_weights(group, general):
    """5,000 chains of a group of three weights."""
    kind = {"a": 0.8, "b": 1.7} if general else {}
    prior = ThreeParameterBetaNormal(**kind, global_scale=0.3, minimum_scale=0.05, group=group)
    assert_variances_of_groups(prior, [0.3, -0.1, 0.5])


@pytest.mark.parametrize("weights", [[0.3, -0.1, 0.5], [0.6], []])
def test_the_variance_of_a_group_under_a_wide_floor(weights):
    """Here v is far from the weights, and all n degrees of freedom of Σ v² tell."""
    assert_variances_of_groups(ThreeParameterBetaNormal(0.8, 1.7, 0.3, minimum_scale=0.4, group="parent"), weights)


def assert_variances_of_groups(prior, weights):
    """Kolmogorov and Smirnov's test of log ζ, over 5,000 chains of a group of these weights each."""
    rows = np.tile(np.array(weights, np.float32), (5000, 1))
    _, (variances,) = sweeps(prior, tf.constant(rows if prior.group == "parent" else rows.T), 120, seed=1)
    assert variances.shape == ((5000, 1) if prior.group == "parent" else (1, 5000))
    grid, probabilities = quadrature(prior)
    posterior = probabilities * np.prod([density_given(prior, grid, w) for w in weights], 0)
    cdf = (np.cumsum(posterior) - posterior / 2) / posterior.sum()
    draws = np.log(variances.numpy().ravel())
    assert scipy.stats.kstest(draws, lambda t: np.interp(t, np.log(grid), cdf)).pvalue > LEVEL


def test_the_variance_of_a_tensor_and_the_common_scale():
    """In turn with exact draws of w the scales follow their law: ζ/τ² that of a beta prime, τ/τ₀ half-Cauchy's. One
    chain for each of 3,000 tensors, of two groups or of one; the law is that of chains long after the start."""
    for group, groups in (("parent", 2), ("tensor", 1)):
        prior = Horseshoe(0.5, 0.05, learn_global_scale=True, group=group)

        @tf.function(jit_compile=True)
        def run(seeds, prior=prior, groups=groups):
            def chain(seed):
                def body(i, variance, scale2):
                    a, b = tf.unstack(random.split(random.fold(seed, i)))
                    value = random.normal([2, 3], a) * tf.sqrt(variance + prior.minimum_scale**2)
                    return i + 1, *prior.update_auxiliary(value, [variance, scale2], b)

                start = (0, tf.fill([groups, 1], 0.25), tf.constant(0.25))
                return tf.while_loop(lambda i, *_: i < 150, body, start)[1:]

            return tf.map_fn(chain, seeds, fn_output_signature=(tf.float32, tf.float32))

        variances, scales = run(random.split(random.as_seed(3), 3000))
        laws = {"tau": (np.sqrt(scales), scipy.stats.halfcauchy(scale=0.5))}
        for g in range(groups):
            ratio = variances[:, g, 0] / scales
            laws[f"group {g}"] = (ratio, scipy.stats.betaprime(0.5, 0.5))
        for name, (draws, law) in laws.items():
            p = scipy.stats.kstest(np.asarray(draws, np.float64), law.cdf).pvalue
            assert p > LEVEL / 5, (group, name, p)


def test_a_bias_is_one_group_and_an_empty_weight_none():
    prior = Horseshoe(0.5, learn_global_scale=True, group="parent")
    for shape, want in [((5,), (1,)), ((0, 4), (0, 1)), ((3, 4), (3, 1))]:
        variance, scale = prior.initial_auxiliary(tf.ones(shape), random.as_seed(1))
        assert variance.shape == want and scale.shape == ()
        again = prior.update_auxiliary(tf.ones(shape), [variance, scale], random.as_seed(2))
        assert again[0].shape == want and np.isfinite(again[0]).all() and np.isfinite(again[1])
    value = tf.constant([[0.2, -0.5], [1.0, 0.0]])
    auxiliary = [tf.constant([[0.3], [0.02]]), tf.constant(0.1)]
    want = scipy.stats.norm.logpdf(value, scale=np.sqrt([[0.3 + 1e-4], [0.02 + 1e-4]])).sum()
    np.testing.assert_allclose(prior.log_prob(value, auxiliary), want, rtol=1e-5)


@pytest.mark.parametrize("group", ["row", None, 1, ["parent"]])
def test_other_groups_are_refused(group):
    with pytest.raises(ValueError, match="group is one of .*Received: group="):
        Horseshoe(group=group)


def test_the_quadrature_is_the_known_horseshoe():
    """Half-Cauchy √ζ, and the density of w without a floor: exp(w²/2τ²) E₁(w²/2τ²) / √(2π³)τ (Carvalho et al. 2010)."""
    grid, probabilities = quadrature(HORSESHOE)
    quantiles = [0.1, 0.5, 0.9]
    cdf = np.interp(np.log(scipy.stats.halfcauchy.ppf(quantiles, scale=0.1) ** 2), np.log(grid), probabilities.cumsum())
    np.testing.assert_allclose(cdf, quantiles, atol=1e-3)
    w = np.array([0.03, 0.1, 0.4])
    exact = scipy.special.exp1(w**2 / 0.02) * np.exp(w**2 / 0.02) / np.sqrt(2 * np.pi**3) / 0.1
    got = [probabilities @ scipy.stats.norm.pdf(x, 0, np.sqrt(grid)) for x in w]
    np.testing.assert_allclose(got, exact, rtol=1e-6)


@pytest.mark.slow
def test_the_global_scale_given_the_weights():
    """One tensor of three weights and an unknown τ: every 60th of the draws, which are then independent up to a
    correlation of a hundredth."""
    prior = Horseshoe(global_scale=0.2, minimum_scale=0.03, learn_global_scale=True)
    w, count, thinning = [0.5, -0.02, 0.11], 4000, 60

    @tf.function(jit_compile=True)
    def run(value, auxiliary, seed):
        def step(i, auxiliary):
            return i + 1, prior.update_auxiliary(value, auxiliary, random.fold(seed, i))

        def block(j, auxiliary, kept):
            end = (j + 1) * thinning
            _, auxiliary = tf.while_loop(lambda i, *_: i < end, step, (j * thinning, auxiliary))
            return j + 1, auxiliary, kept.write(j, tf.stack([auxiliary[1], auxiliary[0][0], auxiliary[0][1]]))

        kept = tf.TensorArray(tf.float32, count, element_shape=[3])
        return tf.while_loop(lambda j, *_: j < count, block, (0, auxiliary, kept))[2].stack()

    draws = np.log(run(tf.constant(w), prior.initial_auxiliary(tf.constant(w), 1), random.as_seed(3)).numpy())
    correlation = np.corrcoef(draws[1:, 0], draws[:-1, 0])[0, 1]
    assert abs(correlation) < 0.01 + 5 / np.sqrt(count)

    # p(τ given w) on a grid of log τ, and the law of each ζ as a mixture over it
    scales = np.exp(np.linspace(-16, 12, 281))
    conditional, marginal = [], []
    log_variance = np.linspace(-60, 40, 1001)
    for scale in scales:
        grid, probabilities = quadrature(prior, scale)
        joint = [probabilities * density_given(prior, grid, x) for x in w]
        marginal.append(scipy.stats.halfcauchy.pdf(scale, scale=0.2) * scale * np.prod([j.sum() for j in joint]))
        conditional.append([np.interp(log_variance, np.log(grid), j.cumsum() / j.sum()) for j in joint[:2]])
    marginal = np.array(marginal) / np.sum(marginal)
    cdf = marginal.cumsum() - marginal / 2
    laws = [(2 * np.log(scales), cdf)] + [(log_variance, marginal @ np.array(conditional)[:, i]) for i in range(2)]
    for draw, (points, cdf) in zip(draws.T, laws):
        assert scipy.stats.kstest(draw, lambda t, x=points, y=cdf: np.interp(t, x, y)).pvalue > LEVEL / 3


@pytest.mark.slow
def test_the_global_scale_of_many_weights_is_found():
    """5,000 weights drawn at τ = 0.05, sixteen times below the scale of its prior, tell τ to two in a hundred; with a
    and b exchanged in its concentration it would be off by far more."""
    rng = np.random.default_rng(4)
    a, b, n = 0.8, 1.7, 5000
    variance = 0.05**2 * rng.gamma(a, size=n) / rng.gamma(b, size=n)
    value = tf.constant(rng.normal(0, np.sqrt(variance + 0.002**2)), tf.float32)
    _, (_, scale2) = sweeps(ThreeParameterBetaNormal(a, b, 0.8, 0.002, True), value, 100, seed=5)
    assert 0.045 < np.sqrt(scale2) < 0.055


def test_jitted_and_eager_draws_are_the_same():
    prior = ThreeParameterBetaNormal(0.3, 0.7, 0.2, 0.02, learn_global_scale=True)
    value = random.normal([50, 40], 6)
    auxiliary = prior.initial_auxiliary(value, 7)
    eager = prior.update_auxiliary(value, auxiliary, 8)
    jitted = tf.function(prior.update_auxiliary, jit_compile=True)(value, auxiliary, random.as_seed(8))
    for a, b in zip(eager, jitted, strict=True):
        assert a.dtype == b.dtype == tf.float32
        np.testing.assert_allclose(a, b, rtol=1e-3)


def test_extreme_weights_and_parameters_stay_finite():
    value = tf.constant([0.0, 1e-30, 1e-3, 1.0, 1e10, -1e14])
    for a, b in [(0.02, 0.02), (0.5, 0.5), (30.0, 20.0)]:
        prior = ThreeParameterBetaNormal(a, b, learn_global_scale=True)
        auxiliary = prior.initial_auxiliary(value, 1)
        for seed in range(5):
            auxiliary = prior.update_auxiliary(value, auxiliary, seed)
            assert all(np.isfinite(part).all() and (part.numpy() > 0).all() for part in auxiliary)
            assert np.isfinite(prior.log_prob(value, auxiliary))


def test_the_horseshoe_is_the_half_and_half_prior():
    value = random.normal([7], 1)
    twins = Horseshoe(0.3, 0.02), ThreeParameterBetaNormal(0.5, 0.5, 0.3, 0.02)
    a, b = (prior.initial_auxiliary(value, 2) for prior in twins)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("prior", [GENERAL, HORSESHOE, Horseshoe(0.7, 0.3, learn_global_scale=True, group="unit")])
def test_serialization(prior):
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(prior)))
    twin = keras.saving.deserialize_keras_object(config)
    assert type(twin) is type(prior) and vars(twin) == vars(prior)


@pytest.mark.parametrize("name", ["a", "b", "global_scale", "minimum_scale"])
@pytest.mark.parametrize("number", [0, -1.0, np.nan, np.inf, "1", None, True])
def test_parameters_must_be_above_0(name, number):
    with pytest.raises(ValueError, match=f"{name} .*Received: {name}="):
        ThreeParameterBetaNormal(**{name: number})


def test_whether_the_scale_is_learnt_must_be_a_bool():
    with pytest.raises(ValueError, match="Received: learn_global_scale=1"):
        ds.priors.Horseshoe(learn_global_scale=1)
