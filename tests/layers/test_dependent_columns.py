"""Columns that depend on each other: densities, and chains over what is missing, against sums over all rows."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.layers.tables import FINITE, FIRST, GAPPY, NAN, SECOND, STATES, TABLE, model_of
from tests.oracles import binary_states, log_sum, randomize
from tfdsmcmc.columns import Binary, Count, Real
from tfdsmcmc.rows import Rows


@pytest.mark.slow
def test_columns_that_depend_on_each_other():
    """Draws around what is observed have weights whose mean is its probability, by sums; gaps are not learnt from."""
    layer = ds.layers.Mixed(FINITE, dependent=True)
    layer.build((None, 2))
    randomize(layer)
    parents, row = tf.constant([[1.0, -0.5]]), np.array([[NAN, NAN, NAN, 1, NAN, NAN, NAN]], np.float32)
    known = ~np.isnan(row)
    y, log_weight = layer.complete(np.repeat(row, 20000, 0), known, parents, 3)
    np.testing.assert_allclose(layer.completion_log_weight(y, known, parents), log_weight, rtol=1e-5)
    p = np.exp(layer.log_prob(STATES, parents[0]), dtype=np.float64) * STATES[:, 3]
    weights = np.exp(log_weight)
    assert_means(weights, p.sum())
    hits = (y.numpy()[:, None] == STATES).all(-1)
    assert (hits.sum(1) == 1).all()
    assert_means(weights[:, None] * hits[:, p > 0], p[p > 0])
    with pytest.raises(ValueError, match="Received: Mixed"):
        layer.observed_log_prob(y, known, parents)
    model = model_of(FINITE, dependent=True)
    model.compile(**ds.methods.dsgnht_nais(num_chains=1))
    with pytest.raises(ValueError, match=r"or Mixed. Received: Mixed\(dependent=True\)$"):
        model.fit(row, verbose=0)
    model.fit(STATES, batch_size=6, epochs=2, verbose=0)
    assert model.support.holds(model.sample(7, seed=0)).all()
    assert model.sample(7, seed=0, probabilities=True).shape == (7, 7)


def test_a_chain_over_missing_columns_leaves_their_law_where_it_is():
    """2^14 exact draws given one column, one sweep: chi-square over all rows, false failures at most 1e-6."""
    layer = ds.layers.Mixed(FINITE, dependent=True)
    layer.build((None, 2))
    randomize(layer)
    parents, known = tf.constant([[1.0, -0.5]]), np.array([[0, 0, 0, 1, 0, 0, 0]], bool)
    p = np.exp(layer.log_prob(STATES, parents[0]), dtype=np.float64) * STATES[:, 3]
    chosen = np.random.default_rng(1).choice(len(p), 2**14, p=p / p.sum())
    y = layer.redrawn(STATES[chosen], np.repeat(known, 2**14, 0), parents, 3)
    hits = (y.numpy()[:, None] == STATES).all(-1)
    assert (hits.sum(1) == 1).all() and 0.3 < (hits.argmax(1) != chosen).mean()
    assert_frequencies(hits.sum(0)[p > 0], p[p > 0] / p.sum())


def test_columns_without_a_gap_change_nothing():
    """A row moves as it does beside one that lacks every column, and beside one that lacks none."""
    layer = ds.layers.Mixed(FINITE, dependent=True, ordering=[2, 0, 1])
    layer.build((None, 2))
    randomize(layer, scale=0.3)
    parents, y = tf.ones([2, 2]), np.repeat(STATES[:1], 2, 0)
    last = np.array([1, 1, 1, 1, 0, 0, 0], bool)
    moved = []
    for other in (last, np.zeros(7, bool), np.ones(7, bool)):
        drawn = [layer.redrawn(y, np.stack([last, other]), parents, seed).numpy() for seed in range(20)]
        moved.append(np.stack([one[0] for one in drawn]))
        assert (np.stack([one[1] for one in drawn])[:, other] == y[1, other]).all()
    np.testing.assert_array_equal(moved[0], moved[1])
    np.testing.assert_array_equal(moved[0], moved[2])
    assert len(np.unique(moved[0], axis=0)) > 1


def test_a_chain_over_missing_numbers_leaves_their_law_where_it_is():
    """Of amounts before a column that knows them well: exact draws on a grid, moves, Kolmogorov's test; false failures
    at most 1e-6. The chains move even where draws of the law given the parents would be accepted seldom."""
    layer = ds.layers.Mixed([Real(0.01), Real(0.01), Binary()], dependent=True)
    layer.build((None, 0))
    layer.lateral.assign([[0, 0, 2.0, 0, 1.0], [0] * 5, [0] * 5][: layer.units])
    layer._output[1].assign([0.2, 0.1, -0.3, np.log(0.05), 0.4])
    parents, axis = tf.zeros([1, 0]), np.linspace(-1, 2, 30001)
    rows = np.stack([axis, np.full_like(axis, 0.9), np.ones_like(axis)], 1).astype(np.float32)
    p = np.exp(layer.log_prob(rows, parents[0]), dtype=np.float64)
    below = np.cumsum(p) / p.sum()
    y = rows[np.searchsorted(below, np.random.default_rng(1).random(2**13))]
    known = np.repeat([[False, True, True]], len(y), 0)
    redrawn = tf.function(lambda x, seed: layer.redrawn(x, known, parents, seed), autograph=False)
    moved = y
    for seed in range(3):
        moved = redrawn(moved, ds.random.as_seed(seed)).numpy()
    np.testing.assert_array_equal(moved[:, 1:], y[:, 1:])
    assert 0.3 < (moved[:, 0] != y[:, 0]).mean()
    assert scipy.stats.kstest(moved[:, 0], lambda v: np.interp(v, axis, below)).pvalue > 1e-6
    # started where the parents alone say, the chain comes there
    far = np.where(known, y, 0.2).astype(np.float32)
    for seed in range(60):
        far = redrawn(far, ds.random.as_seed(100 + seed)).numpy()
    assert abs(far[:, 0].mean() - axis @ p / p.sum()) < 0.01


def counts_that_depend(offset):
    """(layer, all rows of two counts below 60 around a one (3600, 3), their log-density by SciPy (3600,))."""
    columns = [Count(typical=4.0, offset=offset), Binary(), Count(typical=2.0, offset=2.0)]
    layer = ds.layers.Mixed(columns, dependent=True)
    layer.build((None, 0))
    lateral = np.zeros((3, 3))  # parameters: of the counts, of the binary column
    lateral[0, 2], lateral[0, 1], lateral[1, 1] = 0.9, 1.2, -0.4
    layer.lateral.assign(lateral)
    layer._output[1].assign([1.2, 0.6, 0.3])
    layer._shared[0].assign([[1.0], [0.5]])
    first, last = (part.ravel() for part in np.meshgrid(np.arange(60.0), np.arange(60.0), indexing="ij"))
    seen = np.log(offset + first) - np.log(offset + 4.0)
    logs = -np.logaddexp(0, -(0.3 + 0.9 * seen))
    for y, eta, log_size in [(first, 1.2, 1.0), (last, 0.6 + 1.2 * seen - 0.4, 0.5)]:
        mean, size = np.exp(eta), np.exp(log_size)
        logs = logs + scipy.stats.nbinom.logpmf(y, size, size / (size + mean))
    return layer, np.stack([first, np.ones_like(first), last], 1).astype(np.float32), logs


@pytest.mark.parametrize("offset", [1.0, 4.0])
def test_counts_that_depend_on_each_other(offset):
    """The density against SciPy's over all rows; one sweep of a chain leaves 2^14 exact draws of both counts given the
    binary column as they were, by chi-square, false failures at most 1e-6."""
    layer, rows, logs = counts_that_depend(offset)
    parents = tf.zeros([1, 0])
    np.testing.assert_allclose(layer.log_prob(rows, parents[0]), logs, rtol=3e-5, atol=3e-5)
    other = rows * np.float32([1, 0, 1])
    both = np.exp(layer.log_prob(np.concatenate([rows, other]), parents[0]), dtype=np.float64)
    np.testing.assert_allclose(both.sum(), 1.0, atol=2e-3)  # counts from 60 on are left out
    p = np.exp(logs) / np.exp(logs).sum()
    chosen = np.random.default_rng(1).choice(len(p), 2**14, p=p)
    known = np.repeat([[False, True, False]], len(chosen), 0)
    moved = layer.redrawn(rows[chosen], known, parents, 3).numpy()
    assert (moved[:, 1] == 1).all() and 0.5 < (moved != rows[chosen]).any(1).mean()
    inside = (moved < 60).all(1)
    assert inside.mean() > 0.995
    places = (60 * moved[inside, 0] + moved[inside, 2]).astype(int)
    assert_frequencies(np.bincount(places, minlength=len(p)), p)


def test_the_chain_of_a_row_leaves_its_posterior_where_it_is():
    """(x_missing, z) of 2^13 exact draws, one sweep of `Gibbs(draw_missing=True)`: chi-square over all states, against
    sums; false failures at most 1e-6."""
    model, count = model_of(FINITE, seed=2, scale=0.8, dependent=True, ordering=[2, 0, 1]), 2**13
    row = np.array([NAN, NAN, NAN, 1, NAN, NAN, NAN], np.float32)
    z = binary_states(2).astype(np.float32)
    some = STATES[STATES[:, 3] == 1]
    x, z = np.repeat(some, 4, 0), np.tile(z, (len(some), 1))
    log_joint = model.generative.log_joint(x, [z]).numpy().astype(np.float64)
    p = np.exp(log_joint - log_sum(log_joint))
    chosen = np.random.default_rng(1).choice(len(p), count, p=p)
    rows = Rows(np.tile(np.nan_to_num(row), (count, 1)), np.tile(~np.isnan(row), (count, 1)))
    latents = ds.latents.Gibbs(1, burn_in=0, persistent=True, draw_missing=True)
    carry = [tf.constant(part[chosen]) for part in (x, z)]
    drawn, _ = latents.draw(model.generative, model.recognition, rows.map(tf.constant), 2, carry)
    both = np.concatenate([drawn.x[0], drawn.z[0][0]], 1)
    states = (both[:, None] == np.concatenate([x, z], 1)).all(-1)
    assert (states.sum(1) == 1).all() and np.mean(states.argmax(1) != chosen) > 0.5
    assert_frequencies(states.sum(0), p)


@pytest.mark.slow
@pytest.mark.parametrize("latent", [(), (2,)])
def test_gaps_of_columns_that_depend_on_each_other_are_drawn_while_learning(latent):
    """What is observed stays, numbers to all their digits; what is drawn is of the columns' kinds; the run goes on."""
    model = model_of(TABLE, latent, dependent=True, scale=0.1)
    model.compile(**ds.methods.dsgnht_gibbs(draw_missing=True, num_chains=1))
    x = np.array([FIRST, SECOND, *GAPPY], np.float32)
    model.fit(x, batch_size=5, epochs=2, verbose=0)
    carried = model.run.state.carried
    assert [part.dtype for part in carried] == [tf.float32, *[tf.uint8] * len(latent)]
    known = ~np.isnan(x)
    np.testing.assert_array_equal(carried[0].numpy()[known], x[known])
    assert model.support.holds(carried[0].numpy()).all()
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
