"""The layer of a table in networks: likelihoods, imputation, learning and files, against sums over all tables."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.layers.tables import FINITE, FIRST, GAPPY, NAN, SECOND, STATES, TABLE, enumerated, model_of
from tests.slow_cases import mostly_slow
from tfdsmcmc.rows import Rows


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
