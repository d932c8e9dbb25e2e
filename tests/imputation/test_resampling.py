"""Sampling-importance-resampling: its weighted draws against enumeration, its stream against known weights."""

import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_bounded_means, assert_frequencies
from tests.imputation.support import MASKS, ROW, copies, joint, missing, pair
from tests.oracles import state_numbers
from tfdsmcmc.imputation import resampling
from tfdsmcmc.rows import Rows


def exact_terms(networks, mask):
    """(probabilities, weights) of every (z, filling, completion), (S, F, C) each."""
    rows, z, log_joint = joint(networks.generative, ROW, mask)
    states = [part[:, None] for part in z]
    log_prior = np.logaddexp.reduce(joint(networks.generative, ROW, np.zeros(4, bool))[2], 1)
    log_weight = networks.generative.layers[-1].completion_log_weight(rows, mask, states[0]).numpy()
    log_q = networks.recognition.log_prob(states, rows).numpy().astype(np.float64)
    completing = np.exp(log_joint - log_prior[:, None] - log_weight)
    np.testing.assert_allclose(completing.sum(1), np.ones(len(log_prior)), rtol=1e-4)
    probabilities = np.exp(log_q)[:, :, None] * completing[:, None] / len(rows)
    return probabilities, np.exp(log_prior[:, None, None] - log_q[:, :, None] + log_weight[:, None])


@pytest.mark.parametrize("name", ["SBN", "DARN", "MLPBernoulli", "NADE"])
def test_weighted_draws_have_the_joint_law(name):
    """E[w 1(x_k = c)] = p(x_observed, c) of every completion c, whatever the filling: 2^16 draws, Bernstein's
    inequality with the exact variance and bound of w, false failures at most 1e-6. The means given z, times w, have
    the same expectation as the draws."""
    networks, mask, count = pair(name), MASKS["some"], 2**16
    rows, p, log_observed = missing(networks.generative, ROW, mask)
    probabilities, weights = exact_terms(networks, mask)
    np.testing.assert_allclose((probabilities * weights).sum((0, 1)), p * np.exp(log_observed), rtol=1e-4)
    variance = (probabilities * weights**2).sum((0, 1)) - (p * np.exp(log_observed)) ** 2
    arguments = networks.generative, networks.recognition, Rows(copies(ROW, 1), copies(mask, 1))
    drawn, means, log_weights = resampling.weighted_draws(*arguments, count, tf.constant([3, 4]))
    w, drawn = np.exp(log_weights.numpy().astype(np.float64))[:, 0], drawn.numpy()[:, 0]
    hits = state_numbers(drawn[:, ~mask])[:, None] == np.arange(len(rows))
    relative = np.exp(-log_observed)
    found = (w[:, None] * hits).mean(0) * relative
    assert_bounded_means(found, p, np.sqrt(variance) * relative, weights.max((0, 1)) * relative, count)
    mean = (w[:, None] * means.numpy()[:, 0]).mean(0) / w.mean()
    np.testing.assert_allclose(mean, p @ rows, atol=0.03)


@pytest.mark.parametrize("chunk", [1, 5, 12])
@pytest.mark.parametrize("offset", [0.0, -600.0])
def test_the_stream_resamples_by_the_weights(chunk, offset, monkeypatch):
    """Twelve draws of known weights, one of them 0, 2^14 rows: each imputation is draw k with probability w_k/Σ w
    (chi-square), two of them independently; the sums are those of all twelve."""
    log_weights = np.array([0, 1, -1, 0.5, -np.inf, 2, -3, 1.5, 0.2, 0.1, -0.4, 1.1]) + offset
    calls = []

    def known(generative, recognition, rows, count, seed):
        places = np.arange(len(calls) * chunk, (len(calls) + 1) * chunk)
        calls.append(seed)
        values = tf.tile(tf.constant(places, tf.float32)[:, None, None], [1, len(rows.values), 1])
        of_rows = np.append(log_weights, np.full(chunk, 50.0))[places]  # beyond the twelfth none may count
        return values, 2 * values, tf.tile(tf.constant(of_rows, tf.float32)[:, None], [1, len(rows.values)])

    monkeypatch.setattr(resampling, "weighted_draws", known)
    rows, plan = 2**14, resampling.Resampling(2, 12, chunk)
    gaps = Rows(tf.zeros([rows, 1]), tf.zeros([rows, 1], tf.bool))
    results = plan(None, None, gaps, tf.constant([1, 2]))
    part = plan.summary([result.numpy() for result in results])
    w = np.exp(log_weights - offset)
    chosen = part.x[..., 0].astype(int)
    pairs = np.outer(w, w) / w.sum() ** 2
    assert_frequencies(np.bincount(chosen[:, 0] * 12 + chosen[:, 1], minlength=144), pairs.ravel())
    np.testing.assert_allclose(part.probabilities, np.full((rows, 1), 2 * w @ np.arange(12) / w.sum()), rtol=1e-4)
    np.testing.assert_allclose(part.effective_sample_size, np.full(rows, w.sum() ** 2 / (w**2).sum()), rtol=1e-4)
    np.testing.assert_allclose(part.log_likelihood, np.full(rows, np.log(w.mean()) + offset), rtol=1e-5)
    assert len({tuple(seed.numpy()) for seed in calls}) == -(-12 // chunk)


def test_the_plan_fits_the_cache():
    generative = pair("SBN").generative
    assert resampling.plan_resampling(generative, 3, 1000, 100).chunk == 1024
    assert resampling.plan_resampling(generative, 3, 10**6, 100).chunk == 2**10
    assert resampling.plan_resampling(generative, 2**19, 1000, 4).chunk == 1
