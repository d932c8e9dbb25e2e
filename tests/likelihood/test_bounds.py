"""The evidence lower bound and the harmonic mean against enumeration."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_means
from tests.likelihood.support import quick_model
from tests.oracles import Oracle, binary_states, log_bernoulli, log_sum, tiny_model
from tfdsmcmc._common.types import WeightedLatents
from tfdsmcmc.likelihood import bounds, evidence_lower_bound, harmonic_mean

X = binary_states(3)


# ---- the evidence lower bound


def exact_terms(model, x):
    """Of log w: mean, standard deviation and the largest distance from the mean, (n,)."""
    oracle = Oracle(model)
    mean, terms, p = oracle.elbo(x), oracle.log_weights(x), np.exp(oracle.log_q(x))
    return mean, np.sqrt((p * (terms - mean) ** 2).sum(0)), np.abs(terms - mean).max(0)


@pytest.mark.parametrize("latent_units", [(2,), pytest.param((1, 2, 2), marks=pytest.mark.slow)])
def test_the_bound_agrees_with_enumeration(latent_units):
    """Every row, false failures at most 1e-6 by Bernstein's inequality; the gap to log p(x) is far larger than the
    tolerance. The standard errors are near the exact ones."""
    model, num_samples = quick_model(latent_units, seed=1, scale=0.8), 20_000
    estimate = evidence_lower_bound(model, X, num_samples, seed=2, batch_size=3)
    mean, deviation, largest = exact_terms(model, X)
    assert (Oracle(model).log_likelihood(X) - mean > 10 * deviation / np.sqrt(num_samples)).all()
    assert_bounded_means(estimate.value, mean, deviation, largest, num_samples)
    np.testing.assert_allclose(estimate.standard_error, deviation / np.sqrt(num_samples), rtol=0.15)
    np.testing.assert_array_equal(estimate.effective_sample_size, np.full(8, num_samples))
    np.testing.assert_array_equal(estimate.num_samples, np.full(8, num_samples))
    assert estimate.pareto_k is None


def test_the_bound_at_other_weights():
    model, other = quick_model(seed=1), quick_model(seed=2)
    networks = other.generative, other.recognition
    weights = [[v.numpy() for v in network.trainable_variables] for network in networks]
    there = evidence_lower_bound(model, X, 50, seed=3, weights=weights).value
    np.testing.assert_allclose(there, evidence_lower_bound(other, X, 50, seed=3).value, rtol=1e-6)
    assert np.abs(there - evidence_lower_bound(model, X, 50, seed=3).value).max() > 0.1


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_moments_of_blocks_are_those_of_the_whole(blocks):
    terms = np.random.default_rng(1).normal(1e4, 2.0, (23, 3)).astype(np.float32)
    moments = bounds._Moments(3)
    for block in np.array_split(terms, blocks):
        moments.add(block)
    terms = terms.astype(np.float64)
    np.testing.assert_allclose(moments.mean, terms.mean(0), rtol=1e-12)
    np.testing.assert_allclose(moments.standard_error(), terms.std(0, ddof=1) / np.sqrt(23), rtol=1e-9)


def test_one_draw_leaves_the_error_of_the_bound_unknown():
    estimate = evidence_lower_bound(quick_model(), X, 1)
    assert np.isfinite(estimate.value).all() and np.isnan(estimate.standard_error).all()


# ---- the harmonic mean


@pytest.mark.compiled
def test_the_harmonic_mean_agrees_with_enumeration():
    """E exp(−value) = 1/p(x) over 2,000 chains that start near the posterior and have forgotten it after the burn-in;
    false failures at most 1e-6, an error of 2 % is seen. The stated errors are those between the chains."""
    model, copies, row = quick_model((1, 2), seed=3, scale=0.6), 2000, 5
    latents = ds.latents.Gibbs(num_samples=25, burn_in=5)
    x = np.repeat(X[[row]], copies, 0)
    estimate = harmonic_mean(model, x, latents, num_samples=190, burn_in=20, seed=4, batch_size=copies)
    np.testing.assert_array_equal(estimate.num_samples, np.full(copies, 200))
    exact = Oracle(model).log_likelihood(X[[row]])
    relative = np.exp(exact - estimate.value)
    assert relative.std() / np.sqrt(copies) < 0.005
    assert_means(relative, 1.0)
    between, stated = (estimate.value - exact).std(), np.sqrt(np.mean(estimate.standard_error**2))
    assert stated == pytest.approx(between, rel=0.1)
    assert (estimate.effective_sample_size > 100).all() and (estimate.effective_sample_size <= 200 + 1e-9).all()


def test_the_harmonic_mean_of_given_batches():
    """Three batches of two states of one row: −log of the mean of u, and the error of the mean of the batch means."""
    u = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, 2.0]])
    logs = np.array([bounds._log_sums(np.log(batch)[:, None]) for batch in u])
    value, error, size = bounds._harmonic(logs, 2)
    means = u.mean(1)
    np.testing.assert_allclose(value, [-np.log(u.mean())])
    np.testing.assert_allclose(error, [means.std(ddof=1) / np.sqrt(3) / means.mean()])
    np.testing.assert_allclose(size, [u.sum() ** 2 / (u**2).sum()])
    assert np.isnan(bounds._harmonic(logs[:1], 2)[1]).all()


class _Counter:
    """A chain whose states are 0, 1, 2, …, two at a time."""

    num_samples = 2

    def draw(self, generative, recognition, x, seed, carry=None):
        first = tf.zeros([tf.shape(x)[0], 2]) if carry is None else carry[0]
        return WeightedLatents([tf.stack([first, first + 1.0])], tf.zeros([2, tf.shape(x)[0]])), [first + 2.0]

    def get_config(self):
        return {}


def test_states_are_counted_from_the_end_of_the_burn_in():
    """Three states of burn-in are two runs of two; five more are three runs: the states 4, …, 9 remain."""
    model = quick_model((2,), seed=1, scale=0.3)
    estimate = harmonic_mean(model, X, _Counter(), num_samples=5, burn_in=3, batch_size=5)
    kernel, bias = Oracle(model).theta[-1]
    states = np.arange(4, 10)[:, None, None] * np.ones((1, 1, 2))
    log_p = log_bernoulli(X[None], states @ kernel + bias)
    np.testing.assert_allclose(estimate.value, np.log(6) - log_sum(-log_p), rtol=1e-5)
    np.testing.assert_array_equal(estimate.num_samples, np.full(8, 6))


@pytest.mark.slow
def test_seeds_batches_and_weights_of_the_harmonic_mean():
    model, other = quick_model(seed=1), quick_model(seed=2)
    latents = ds.latents.Gibbs(num_samples=10, burn_in=5)
    arguments = {"num_samples": 400, "burn_in": 0, "batch_size": 5}
    first = harmonic_mean(model, X, latents, seed=5, **arguments)
    np.testing.assert_array_equal(first.value, harmonic_mean(model, X, latents, seed=5, **arguments).value)
    np.testing.assert_array_less(np.abs(first.value - Oracle(model).log_likelihood(X)), 1.0)
    weights = [[v.numpy() for v in n.trainable_variables] for n in (other.generative, other.recognition)]
    there = harmonic_mean(model, X, latents, seed=5, weights=weights, **arguments)
    np.testing.assert_array_less(np.abs(there.value - Oracle(other).log_likelihood(X)), 1.0)
    assert (harmonic_mean(model, X, latents, seed=6, **arguments).value != first.value).any()


def test_what_cannot_be_a_chain_is_refused():
    model = quick_model()
    with pytest.raises(ValueError, match="must be a sampler .*Received: latents=5"):
        harmonic_mean(model, X, 5)
    with pytest.raises(ValueError, match="must be a Markov chain over z. Received: latents="):
        harmonic_mean(model, X, ds.latents.NAIS(5))
    with pytest.raises(ValueError, match="Received: burn_in=-1"):
        harmonic_mean(model, X, ds.latents.Gibbs(), burn_in=-1)
    alone = ds.models.from_name("DARN", 3)
    with pytest.raises(ValueError, match="is over latent layers.*Received: "):
        harmonic_mean(alone, X, ds.latents.Gibbs(persistent=True, draw_missing=True))


@pytest.mark.parametrize("bound", [evidence_lower_bound, lambda *a, **k: harmonic_mean(*a, ds.latents.Gibbs(), **k)])
def test_bad_arguments(bound):
    model = quick_model()
    with pytest.raises(ValueError, match="^x must .*Received: "):
        bound(model, np.zeros((2, 4)))
    for name in ("num_samples", "batch_size"):
        with pytest.raises(ValueError, match=f"Received: {name}=0"):
            bound(model, X, **{name: 0})
    with pytest.raises(ValueError, match="Received: shapes"):
        bound(model, X, weights=([], []))


@pytest.mark.slow
def test_the_harmonic_mean_compiles_with_xla():
    model = tiny_model((2,), seed=1, scale=0.5)
    estimate = harmonic_mean(model, X, ds.latents.Gibbs(num_samples=20), 400, seed=1)
    np.testing.assert_allclose(estimate.value, Oracle(model).log_likelihood(X), atol=0.5)


def test_a_mean_with_a_term_of_minus_infinity_is_that_whatever_the_blocks():
    terms = np.array([[0.0, -np.inf], [-np.inf, -1.0], [-np.inf, -2.0]])
    for parts in ([terms], list(terms[:, np.newaxis]), [terms[:1], terms[1:]]):
        moments = bounds._Moments(2)
        for part in parts:
            moments.add(part)
        np.testing.assert_array_equal(moments.mean, [-np.inf, -np.inf])
    moments.add(np.array([[np.nan, 0.0]]))
    np.testing.assert_array_equal(moments.mean, [np.nan, -np.inf])
