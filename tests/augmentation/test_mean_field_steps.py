"""Mean-field and online variational Bayes as steps of a run, and through `compile`."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.augmentation.tiny_runs import ROWS, SOURCE, fitted, step_of
from tests.conformance.steps import advanced, begun, run_step_test
from tests.oracles import PUBLISHED_PRIOR, tiny_model
from tests.slow_cases import mostly_slow
from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB
from tfdsmcmc.augmentation.variational.mean_field_step import observations
from tfdsmcmc.rows import ArraySource, Rows

METHODS = {
    "full": lambda: MeanFieldVB("full"),
    "diagonal": lambda: MeanFieldVB("diagonal", rounds=2),
    "online full": lambda: OnlineVB(0.5),
    "online diagonal": lambda: OnlineVB(ds.mcmc.schedules.PolynomialDecay(1.0, 1.0, 0.6), "diagonal", rounds=2),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_contract_of_steps(name):
    run_step_test(lambda: step_of(METHODS[name]()), SOURCE)


@pytest.mark.parametrize("prior", [PUBLISHED_PRIOR, None], ids=["published", "default"])
def test_the_metric_never_falls(prior):
    """From epoch to epoch, but for the rounding of float32."""
    _, history = fitted(ds.methods.vb(), 12, prior=prior)
    assert np.diff(history["bound"]).min() > -1e-4
    assert history["bound"][-1] > history["bound"][0] + 0.1


@pytest.mark.parametrize("method", [pytest.param("vb", marks=pytest.mark.slow), "online_vb"])
def test_missing_entries_drop_out(method):
    """Whatever stands in the place of a missing entry: all that is learnt is the same, bit for bit."""
    mask = np.ones(ROWS.shape, bool)
    mask[::3, 1] = mask[1, :2] = False
    found = []
    for rows in (ROWS, np.where(mask, ROWS, 1 - ROWS).astype(np.uint8)):
        model = tiny_model((2,))
        model.compile(**getattr(ds.methods, method)())
        history = model.fit(rows, mask=mask, batch_size=4, epochs=2, verbose=0).history
        found.append([*history["bound"], *tf.nest.flatten(model.run.state)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


PRIORS = {
    "normal": tfp.distributions.Normal(0.0, 1.0),
    "Student-t": tfp.distributions.StudentT(2.2, 0.0, 0.3),
    "columns": ds.priors.ColumnThreeParameterBetaNormal(),
    "horseshoe": ds.priors.Horseshoe(0.5),
}


@pytest.mark.parametrize(
    ("covariance", "name"),
    mostly_slow([("full", "horseshoe")], itertools.product(["full", "diagonal"], PRIORS)),
)
def test_autoregressive_layers_under_every_prior(covariance, name):
    """In float32; most lateral weights of a DARN count for nothing."""
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.DARN(2, seed=1), ds.layers.DARN(3, seed=2)]),
        ds.RecognitionNetwork([ds.layers.SBN(2)]),
        prior={"bias": PRIORS["normal"], "": PRIORS[name]},
    )
    step = MeanFieldVB(covariance).step_for(model.generative, model.recognition, model.prior)
    run = advanced(begun(step, SOURCE), SOURCE, 10, epochs=2)
    assert all(np.isfinite(part).all() for part in tf.nest.flatten(run.state))
    assert np.isfinite(float(run.means[0].result()))


def test_rows_of_a_dataset_are_refused():
    data = tf.data.Dataset.from_tensor_slices(ROWS).batch(5)
    with pytest.raises(ValueError, match="and needs rows with random access. Received: x, a dataset"):
        fitted(ds.methods.online_vb(), 1, data, batch_size=None)


def test_samples_are_draws_from_q(tmp_path):
    """Means and variances of 2,000 draws, to six standard errors; the model itself has the means."""
    collector = ds.posterior.Collector(tmp_path, num_samples=3, burn_in=0, every=1, stop=False)
    model, _ = fitted(ds.methods.vb(), 4, callbacks=[collector])
    samples = list(ds.posterior.load(tmp_path).samples)
    assert len(samples) == 3
    assert not np.allclose(samples[2].theta[-1], samples[1].theta[-1], atol=1e-3)
    step, state = model.run.step, model.run.state
    draw = tf.function(lambda seed: step.posterior_draw(state, seed), autograph=False)
    draws = [np.concatenate([np.ravel(part) for part in draw(tf.constant([1, i]))]) for i in range(2000)]
    factors = step.factors(state)

    def flat(vectors):
        return np.concatenate([np.ravel(part) for part in step._weights(dict(enumerate(vectors)))])

    means = flat(factor.mean for factor in factors)
    variances = flat(step.kind.variances(factor.covariance) for factor in factors)
    np.testing.assert_array_less(np.abs(np.mean(draws, 0) - means), 6 * np.sqrt(variances / 2000))
    np.testing.assert_allclose(np.var(draws, 0), variances, rtol=6 * np.sqrt(2 / 2000))
    np.testing.assert_allclose(np.concatenate([np.ravel(w) for w in model.generative.trainable_variables]), means)


def test_a_resumed_run_goes_on_bit_for_bit(tmp_path):
    for method in (ds.methods.vb(), ds.methods.online_vb(0.3)):
        model, _ = fitted(method, 2)
        model.save(tmp_path / "model.keras")
        model.fit(ROWS, batch_size=4, epochs=4, initial_epoch=2, verbose=0)
        twin = keras.saving.load_model(tmp_path / "model.keras")
        twin.fit(ROWS, batch_size=4, epochs=4, initial_epoch=2, verbose=0)
        for one, other in zip(*(tf.nest.flatten(each.run.state) for each in (model, twin)), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_units_that_fit_the_weights_keep_the_start():
    """After a pass from weights that were learnt: the bound stays, where units at random lose part of it."""
    rng = np.random.default_rng(1)
    rows = (np.repeat(rng.integers(0, 2, (8, 12)), 15, 0) ^ (rng.random((120, 12)) < 0.05)).astype(np.uint8)
    model = tiny_model((4,), 12, scale=0.3, prior=tfp.distributions.Normal(0.0, 2.0))

    def bounds(epochs, **options):
        model.compile(**ds.methods.vb(**options))
        return model.fit(rows, batch_size=120, epochs=epochs, verbose=0).history["bound"]

    learnt, found = bounds(20, rounds=3)[-1], {}
    theta = [part.numpy() for part in model.generative.weights]
    for burn_in in (0, 10):
        for variable, value in zip(model.generative.weights, theta):
            variable.assign(value)
        found[burn_in] = bounds(2, burn_in=burn_in)[1]
    assert found[10] > learnt - 0.01
    assert found[10] > found[0] + 0.1


@pytest.mark.parametrize("initial", [pytest.param("random", marks=pytest.mark.slow), "recognition"])
def test_a_burn_in_is_rounds_over_the_factors(initial):
    """Of rows with missing entries."""
    rows = Rows(ROWS.astype(np.float32), np.random.default_rng(2).random(ROWS.shape) < 0.8)
    steps = [step_of(MeanFieldVB("full", 1, initial=initial, burn_in=count)) for count in (0, 3)]
    start, found = (begun(step, ArraySource(rows)).state for step in steps)
    if initial == "recognition":
        assert set(np.unique(start.units[0])) <= {0, 1}
    seen = observations(rows.map(tf.constant))
    factors, _ = steps[0].local.fit(steps[0].factors(start), seen, start.units, 3)
    np.testing.assert_allclose(found.units[0], factors.units[0], rtol=1e-5)


def test_starts_that_are_none():
    for options, words in (({"initial": "prior"}, "initial='prior'"), ({"burn_in": -1}, "burn_in=-1")):
        for method in (ds.methods.vb, ds.methods.online_vb):
            with pytest.raises(ValueError, match=f"Received: {words}"):
                method(**options)


def test_what_it_cannot_learn():
    with pytest.raises(ValueError, match="covariance is one of .* Received: covariance='dense'"):
        ds.methods.vb("dense")
    layers = ds.layers
    with pytest.raises(ValueError, match="SBN and DARN. Received: .*NADE"):
        network = ds.GenerativeNetwork([layers.SBN(2), layers.NADE(3, 2)])
        ds.DeepGenerativeModel(network, ds.RecognitionNetwork([layers.SBN(2)])).compile(**ds.methods.vb())
    with pytest.raises(ValueError, match="Received: a flat prior for the weight"):
        tiny_model((2,), prior={"": None}).compile(**ds.methods.vb())


def test_units_that_are_equal_in_all_rows():
    """Their sums are singular but for the prior; moves and draws stay finite in float32."""
    rows = np.repeat([[1, 0, 1]], 200, 0).astype(np.uint8)
    model, history = fitted(ds.methods.vb(), 6, rows, 200, prior=tfp.distributions.Normal(0.0, 30.0))
    assert np.isfinite(history["bound"]).all()
    assert all(np.isfinite(part).all() for part in tf.nest.flatten(model.run.posterior_draw))
