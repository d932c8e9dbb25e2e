"""The layer of a table in networks: gaps, imputation, learning, files, against sums over all tables."""

import itertools

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.oracles import binary_states, log_sum, randomize
from tests.slow_cases import mostly_slow
from tfdsmcmc.columns import Binary, Categorical, Count, Ordinal, Real
from tfdsmcmc.rows import Rows

NAN = np.nan
FINITE = [Ordinal(3), Binary(), Categorical(3)]
# all 18 rows of `FINITE`
STATES = [np.concatenate(parts) for parts in itertools.product(np.eye(3), [[0], [1]], np.eye(3))]
STATES = np.array(STATES, np.float32)
TABLE = [Real(), Ordinal(3), Count(typical=2.0), Binary(), Categorical(3)]
FIRST, SECOND = [0.3, 0, 1, 0, 2, 1, 0, 0, 1], [-1.2, 1, 0, 0, 11, 0, 1, 0, 0]
GAPPY = [[0.3, NAN, NAN, NAN, 2, 1, 0, 0, 1], [NAN, 1, 0, 0, NAN, 0, NAN, NAN, NAN], [NAN] * 9]


def model_of(columns, latent=(2,), seed=0, scale=1.0, **arguments):
    """SBN layers above a `Mixed` one, at random weights."""
    generative = [*(ds.layers.SBN(units) for units in reversed(latent)), ds.layers.Mixed(columns, **arguments)]
    recognition = ds.RecognitionNetwork([ds.layers.SBN(units) for units in latent])
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(generative), recognition)
    randomize(model, seed, scale)
    return model


def enumerated(model, row):
    """(log p(x_observed), p(state given x_observed) (18,)) of a row of `FINITE`, by sums over z and all rows."""
    prior, data = model.generative.layers
    z = binary_states(prior.units).astype(np.float32)
    joint = prior.log_prob(z, tf.zeros([0])).numpy() + data.log_prob(STATES[:, None], z).numpy()
    joint = log_sum(joint.astype(np.float64), 1)
    joint = np.where((np.isnan(row) | (STATES == row)).all(1), joint, -np.inf)
    return log_sum(joint), np.exp(joint - log_sum(joint))


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
    with pytest.raises(ValueError, match="Received: Mixed"):
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


def test_likelihoods_are_exact():
    """`likelihood.exact` of rows with and without gaps, and NAIS and annealing near it."""
    model = model_of(FINITE)
    rows = np.concatenate([STATES[:3], [[NAN] * 3 + [1] + [NAN] * 3, [0, 1, 0, NAN, 0, 0, 1]]])
    want = [enumerated(model, row)[0] for row in rows]
    np.testing.assert_allclose(ds.likelihood.exact(model, rows).value, want, rtol=1e-5)
    found = model.log_likelihood(rows, num_samples=20000)
    np.testing.assert_allclose(found.value, want, atol=0.05)
    assert (abs(found.value - want) < 6 * found.standard_error + 1e-5).all()
    annealed = ds.likelihood.annealed_importance_sampling(model, rows[:3], num_runs=200, num_steps=40)
    np.testing.assert_allclose(annealed.value, want[:3], atol=0.1)


@pytest.mark.parametrize(
    ("method", "dependent"),
    mostly_slow(
        [("gibbs", True), ("resampling", False)],
        itertools.product(["gibbs", "metropolis", "resampling"], [False, True]),
    ),
)
def test_imputations_have_the_law_given_what_is_observed(method, dependent):
    """2,048 copies of a row, against sums over all rows: chi-square and z-test, false failures at most 1e-6 each. The
    weights are small, for chains of 30 sweeps, and means of 600 weighted draws, to be near their limit."""
    model = model_of(FINITE, seed=4, scale=0.5, dependent=dependent)
    row = np.array([NAN, NAN, NAN, 1, NAN, NAN, NAN], np.float32)
    auto = ds.imputation.directed.method_for(model.generative, "auto")
    assert auto == "gibbs"
    options = {"burn_in": 30, "num_samples": 1, "num_chains": 1} if method != "resampling" else {"num_samples": 600}
    result = ds.imputation.impute(model, np.tile(row, (2**11, 1)), method=method, batch_size=2**11, **options)
    _, p = enumerated(model, row)
    assert_frequencies((result.x[0][:, None] == STATES).all(-1).sum(0), p)
    assert_means(result.probabilities[:, :3], p @ STATES[:, :3])


def test_the_recognition_network_sees_logarithms_of_counts():
    """Wherever it reads rows: alone, in a path of annealing; what is missing it sees as 0."""
    model = model_of(TABLE, (2, 2))
    x = np.array([FIRST, SECOND], np.float32)
    seen = model.recognition.seen(x).numpy()
    np.testing.assert_allclose(seen[:, 4], np.log([1.0, 4.0]), atol=1e-6)
    np.testing.assert_array_equal(np.delete(seen, 4, 1), np.delete(x, 4, 1))
    z = [tf.constant([[1.0, 0], [0, 1]]), tf.constant([[1.0, 1], [0, 1]])]
    first, second = model.recognition.layers
    want = first.log_prob(z[0], seen) + second.log_prob(z[1], z[0])
    np.testing.assert_allclose(model.recognition.log_prob([part[None] for part in z], x)[0], want, rtol=1e-6)
    factors = ds.sweeps.gibbs.recognition_factors(model.recognition)
    values = [Rows(x), *z]
    found = sum(ds.sweeps.gibbs._log_prob(factor, values) for factor in factors)
    np.testing.assert_allclose(found, want, rtol=1e-6)
    plain = ds.models.from_name("SBN 2", units=3)
    given = tf.constant([[0.0, 1, 1]])
    assert plain.recognition.seen(given) is given


@pytest.mark.parametrize("recognition", [pytest.param("SBN", marks=pytest.mark.slow), "MLPGaussian"])
def test_a_table_with_gaps_is_learnt_from(recognition):
    """By samplers and climbs; rows are drawn, gaps are filled with values of the columns."""
    latent = {"SBN": ds.layers.SBN, "MLPGaussian": ds.layers.MLPGaussian}[recognition]
    generative = ds.GenerativeNetwork([latent(2), ds.layers.Mixed(TABLE, hidden_units=[3])])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([latent(2)]), seed=1)
    method = ds.methods.dsgnht_nais(num_chains=1) if recognition == "SBN" else ds.methods.iwae()
    model.compile(**method)
    x = np.array([FIRST, SECOND, *GAPPY], np.float32)
    model.fit(x, batch_size=5, epochs=3, verbose=0)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    assert model.support.holds(model.sample(20, seed=0)).all()
    assert model.sample(3, seed=0, probabilities=True).shape == (3, 9)
    result = ds.imputation.impute(model, x, num_imputations=3, burn_in=2, num_samples=4)
    assert (result.acceptance_rate is None) == (recognition == "SBN")
    assert model.support.holds(result.x.reshape(-1, 9)).all()
    np.testing.assert_array_equal(result.x[1, :2], x[:2])
    assert np.isfinite(model.log_likelihood(x, num_samples=10).value).all()
    with pytest.raises(ValueError, match="of the kinds of its columns.*Received: "):
        model.fit(np.zeros((2, 9)), verbose=0)


@pytest.mark.slow
def test_a_model_is_kept(tmp_path):
    """Saved by Keras with its columns, and exported, with the same answers."""
    import keras

    model = model_of(TABLE, hidden_units=[3])
    x = np.array([FIRST, SECOND, *GAPPY], np.float32)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.generative.layers[-1].columns == TABLE and loaded.support == model.support
    want = model.log_likelihood(x, num_samples=7)
    np.testing.assert_array_equal(loaded.log_likelihood(x, num_samples=7).value, want.value)
    ds.serving.export(model, tmp_path / "served", version=1)
    served = tf.saved_model.load(str(tmp_path / "served" / "1"))
    assert not any("packed" in name for name in served.signatures)
    drawn = served.signatures["sample"](num_samples=tf.constant(5), seed=tf.constant([1, 2]))["x"]
    assert model.support.holds(drawn.numpy()).all()
    known = ~np.isnan(x)
    filled = served.signatures["impute"](
        x=tf.constant(np.where(known, x, 0)),
        mask=tf.constant(known),
        num_imputations=tf.constant(2),
        seed=tf.constant([1, 2]),
    )["x"].numpy()
    assert model.support.holds(filled[0]).all()
    np.testing.assert_array_equal(filled[0][known], x[known])


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
