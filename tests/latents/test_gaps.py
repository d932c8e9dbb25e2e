"""Latent variables drawn given rows with gaps."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_frequencies
from tests.gaps import ROWS, log_joint, log_likelihood, rows_with_gaps
from tests.oracles import Oracle, log_sum, tiny_model
from tfdsmcmc.rows import Rows


@pytest.mark.parametrize("latent_units", [(2,), (2, 1)])
def test_importance_weights_have_the_mean_of_the_observed_entries(latent_units):
    """mean_k w_k / p(x_observed) of 20,000 draws is 1, by Bernstein's inequality with the exact deviation and bound."""
    model, num_samples = tiny_model(latent_units, seed=4, scale=0.6), 20_000
    weighted, _ = ds.latents.NAIS(num_samples).draw(model.generative, model.recognition, rows_with_gaps(), seed=5)
    oracle = Oracle(model)
    log_q = oracle.log_q(np.where(np.isnan(ROWS), 0.5, ROWS))
    for i, row in enumerate(ROWS):
        exact = log_likelihood(oracle, row)
        ratio = np.exp(log_joint(oracle, row) - log_q[:, i] - exact)
        deviation = np.sqrt((np.exp(log_q[:, i]) * ratio**2).sum() - 1)
        means = np.exp(weighted.log_likelihood.numpy()[i : i + 1].astype(np.float64) - exact)
        assert_bounded_means(means, 1.0, deviation, ratio.max(), num_samples)


def test_gibbs_draws_have_the_posterior_given_the_observed_entries():
    """2^14 exact draws, one sweep: chi-square over the states of z, false failures at most 1e-6 a row."""
    model = tiny_model((2, 1), seed=3)
    oracle = Oracle(model)
    for i, row in enumerate(ROWS[:2]):
        log_p = log_joint(oracle, row)
        p = np.exp(log_p - log_sum(log_p))
        chosen = np.random.default_rng(1).choice(len(p), 2**14, p=p)
        start = [tf.constant(part[chosen], tf.float32) for part in oracle.z]
        one_row = rows_with_gaps().map(lambda part: part[i])  # noqa: B023
        moved = ds.latents.Gibbs().sweep(model.generative, one_row, start, seed=2)
        states = oracle.state([part.numpy() for part in moved])
        assert np.mean(states != chosen) > 0.2
        assert_frequencies(np.bincount(states, minlength=len(p)), p)


@pytest.mark.parametrize("latents", [ds.latents.NAIS(4), ds.latents.Gibbs(4, burn_in=1)], ids=["NAIS", "Gibbs"])
def test_complete_rows_are_what_a_tensor_is(latents):
    """Bit for bit; and nearly where all entries are stated to be observed."""
    model = tiny_model((2,), seed=1)
    x = np.array([[1, 0, 1], [0, 0, 1]], np.float32)
    forms = x, Rows(x), Rows(x, np.ones_like(x, bool))
    want, rows, stated = (latents.draw(model.generative, model.recognition, form, 1)[0] for form in forms)
    for plain, one, other in zip(*(tf.nest.flatten(draws) for draws in (want, rows, stated))):
        np.testing.assert_array_equal(one, plain)
        np.testing.assert_allclose(other, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("initial", ["prior", "recognition"])
def test_chains_start_at_rows_with_gaps(initial):
    model = tiny_model((2, 1), seed=3)
    z = ds.latents.Gibbs(burn_in=1, initial=initial).start(
        model.generative, model.recognition, rows_with_gaps().map(tf.convert_to_tensor), seed=1
    )
    assert [part.shape for part in z] == [(len(ROWS), 2), (len(ROWS), 1)]
    assert set(np.unique(np.concatenate([np.ravel(part) for part in z]))) <= {0.0, 1.0}
