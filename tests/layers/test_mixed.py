"""The layer of a table: what is missing, averages over draws, and first weights."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.layers.tables import FINITE, GAPPY, NAN, STATES, TABLE
from tests.oracles import log_sum, randomize
from tfdsmcmc.columns import Count, Real


def test_what_is_missing_drops_out():
    """Against sums over the values of what is missing, of a real column and a count its integral; finite gradients."""
    layer = ds.layers.Mixed(TABLE)
    layer.build((None, 2))
    randomize(layer, scale=0.4)
    parents, rows = tf.constant([1.0, 0.5]), np.array(GAPPY, np.float32)
    observed = ~np.isnan(rows)
    x = np.where(observed, rows, layer.support.filling)
    with tf.GradientTape() as tape:
        found = layer.observed_log_prob(x, observed, parents)
    assert all(np.isfinite(part).all() for part in tape.gradient(found, layer.trainable_variables))
    for i, (row, known) in enumerate(zip(x, observed)):
        axis = np.linspace(-12, 12, 385)
        choices = [axis[:, None], np.eye(3), np.arange(80)[:, None], [[0], [1]], np.eye(3)]
        places = np.split(np.arange(9), [1, 4, 5, 6])
        choices = [[row[p]] if known[p].all() else choice for choice, p in zip(choices, places)]
        cell = 1.0 if known[0] else axis[1] - axis[0]
        if not known[0] and not known[4]:  # too many at once: the count by itself
            choices[2] = [row[places[2]]]
            counted = np.repeat(row[None], 80, 0)
            counted[:, 4] = np.arange(80)
            share = np.exp(layer.distribution(parents).column_log_probs(counted)[:, 2]).sum()
            np.testing.assert_allclose(share, 1.0, atol=1e-5)
            cell /= np.exp(layer.distribution(parents).column_log_probs(row)[2])
        every = np.array([np.concatenate(parts) for parts in itertools.product(*choices)], np.float32)
        want = log_sum(layer.log_prob(every, parents).numpy().astype(np.float64)) + np.log(cell)
        np.testing.assert_allclose(found[i], want, rtol=1e-5, atol=2e-5)


def test_what_is_missing_is_drawn():
    """Observed columns stay, the others have the law given the parents, the weight is that of what is observed."""
    layer = ds.layers.Mixed(FINITE)
    layer.build((None, 2))
    randomize(layer)
    parents = tf.constant([[1.0, -0.5]])
    row = np.array([[NAN, NAN, NAN, 1, 0, 1, 0]], np.float32)
    known = ~np.isnan(row)
    y, log_weight = layer.complete(np.repeat(row, 20000, 0), known, parents, 3)
    want = np.exp(layer.log_prob(STATES, parents[0]), dtype=np.float64)
    want = np.where((STATES[:, 3:] == row[0, 3:]).all(1), want, 0)
    np.testing.assert_allclose(np.exp(log_weight), np.full(20000, want.sum()), rtol=1e-5)
    counts = (y.numpy()[:, None] == STATES).all(-1).sum(0)
    assert counts.sum() == 20000
    assert_frequencies(counts[want > 0], want[want > 0] / want.sum())
    np.testing.assert_allclose(layer.completion_log_weight(y, known, parents), log_weight, rtol=1e-5)


def test_an_average_over_draws_is_a_mixture_column_by_column():
    """Log-probabilities, means and what is missing against the averages of the layer at each draw; draws by chi-square,
    false failures at most 1e-6. Columns that depend on each other are refused."""
    rng, parents = np.random.default_rng(3), tf.constant([[1.0, -0.5], [0.0, 1.0]])
    layer = ds.layers.Mixed([*FINITE, Count(), Real()], hidden_units=[2])
    average = ds.layers.UnitAverage(layer, 3)
    average.build((None, 2))
    draws = [[rng.normal(0.2, 0.8, w.shape).astype(np.float32) for w in layer.weights] for _ in range(3)]
    for variable, *parts in zip(average.weights, *draws):
        variable.assign(np.stack(parts))
    rest = np.tile([[2.0, 0.3]], (len(STATES), 1)).astype(np.float32)
    x = np.concatenate([STATES, rest], 1)[:, None]
    terms, means = [], []
    for weights in draws:
        layer.set_weights(weights)
        terms.append(np.exp(layer.distribution(parents).column_log_probs(x), dtype=np.float64))
        means.append(layer.distribution(parents).mean().numpy())
    columns = np.log(np.mean(terms, 0))
    np.testing.assert_allclose(average.log_prob(x, parents), columns.sum(-1), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(average.conditional_mean(x[0], parents), np.mean(means, 0), rtol=1e-4)
    known = np.array([0, 0, 0, 1, 0, 0, 0, 1, 1], bool)
    found = average.observed_log_prob(x, known, parents)
    np.testing.assert_allclose(found, columns[..., [1, 3, 4]].sum(-1), rtol=2e-5, atol=2e-5)
    y = average.sample(parents, 5, [20000]).numpy()
    assert y.shape == (20000, 2, 9) and layer.support.holds(y).all()
    for row in range(2):
        counts = (y[:, row, None, :7] == STATES).all(-1).sum(0)
        assert_frequencies(counts, np.exp(columns[:, row, :3].sum(-1)))
        assert_means(y[:, row, 7:], np.mean(means, 0)[row, 7:])
    refused = ds.layers.UnitAverage(ds.layers.Mixed(FINITE, dependent=True), 2)
    with pytest.raises(ValueError, match="Received: Mixed with dependent=True"):
        refused.distribution(parents)


def test_it_is_built_at_its_first_use():
    layer = ds.layers.Mixed([ds.columns.Binary(), ds.columns.Real()])
    assert layer.distribution(np.zeros([2, 4], np.float32)).mean().shape == (2, 2)


def test_initial_weights_that_columns_share_follow_the_seed():
    columns = [ds.columns.Count(), ds.columns.Ordinal(4)]
    layers = [ds.layers.Mixed(columns, seed=seed, shared_initializer="random_normal") for seed in (1, 1, 2)]
    first, again, other = (layer.build((None, 3)) or [np.asarray(w) for w in layer.weights] for layer in layers)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert sum(np.any(a != b) for a, b in zip(first, other, strict=True)) >= 3
