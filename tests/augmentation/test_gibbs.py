"""`PolyaGammaGibbs` as a step and through the front door; its draws in `test_joint` and `test_regressions`."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.conformance.steps import run_step_test
from tests.model.support import assert_same_state, patterns
from tests.oracles import binary_states, log_bernoulli, log_sum, state_numbers
from tfdsmcmc.augmentation.gibbs.polya_gamma_gibbs import PolyaGammaGibbsStep
from tfdsmcmc.rows import ArraySource, Rows

tfd = tfp.distributions
SBN, DARN = ds.layers.SBN, ds.layers.DARN
PRIOR = {"bias": tfd.Normal(0.0, 1.5), "": ds.priors.ColumnThreeParameterBetaNormal()}


def model_of(layers, prior=PRIOR, seed=1):
    generative = ds.GenerativeNetwork(layers)
    recognition = ds.RecognitionNetwork([SBN(width, seed=seed) for width in generative.latent_units])
    return ds.DeepGenerativeModel(generative, recognition, prior, seed=seed)


def seeded(*widths, kind=SBN):
    return [kind(width, seed=place) for place, width in enumerate(widths)]


def compiled(*widths, num_chains=1, steps_per_execution=3, **options):
    model = model_of(seeded(*widths))
    options = ds.methods.polya_gamma_gibbs(**options)
    model.compile(**options, num_chains=num_chains, steps_per_execution=steps_per_execution)
    return model


ROWS = patterns(30)


@pytest.mark.slow
def test_a_fit_learns():
    """Every row counts once, in batches of which the last is filled up: the metric is a mean over rows, and climbs."""
    model = model_of(seeded(2, 4), tfd.Normal(0.0, 1.5))
    model.compile(**ds.methods.polya_gamma_gibbs(), steps_per_execution=3)
    history = model.fit(ROWS, batch_size=8, epochs=6, verbose=0).history
    assert set(history) == {"log_joint", "log_prob_given_units"}
    joint = history["log_joint"]
    assert joint[-1] > joint[0] and all(np.isfinite(joint))
    (units,) = model.run.state.units
    assert units.dtype == tf.uint8 and units.shape == (30, 2) and set(np.unique(units)) == {0, 1}
    # what is left of the sums is that of the last pass: Σ_n (h − ½)(h, 1) has Σ_n (v − ½) in its last column
    sums = model.run.state.sums[1]
    np.testing.assert_allclose(sums.linear[:, -1], (ROWS - 0.5).sum(0), atol=1e-4)


def test_sums_count_every_row_once(monkeypatch):
    """With γ = 1 the precision of a pass is Σ_n r rᵀ, r = (h, 1), exactly: what fills up the last batch is out."""
    ones = lambda logits, seed: [tf.ones_like(part) for part in logits]  # noqa: E731
    monkeypatch.setattr("tfdsmcmc.augmentation.gibbs.polya_gamma_gibbs.gammas", ones)
    model = compiled(2, 4)
    model.fit(ROWS, batch_size=8, epochs=1, verbose=0)
    (units,) = model.run.state.units
    regressors = np.concatenate([units, np.ones((30, 1))], 1)
    square = regressors.T @ regressors
    wrapped = [[square[i, (i + s) % 3] for i in range(3)] for s in range(2)]
    for layer_sums, count, want in zip(model.run.state.sums, (2, 4), ([[30.0]], wrapped), strict=True):
        want = np.repeat(np.asarray(want)[:, np.newaxis], count, 1)
        np.testing.assert_array_equal(layer_sums.precision, want)


def source_of(rows=ROWS[:10], gaps=False):
    observed = np.random.default_rng(0).random(rows.shape) < 0.7 if gaps else None
    return ArraySource(Rows(rows if observed is None else np.where(observed, rows, 0.5).astype(np.float32), observed))


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
def test_the_contract_of_steps(gaps):
    def make():
        model = model_of(seeded(2, 4), tfd.StudentT(3.0, 0.0, 1.0))
        return PolyaGammaGibbsStep(model.generative, model.recognition, model.prior)

    run_step_test(make, source_of(gaps=gaps))


@pytest.mark.slow
def test_units_are_stationary():
    """Passes with the weights held: the units of many equal rows have the enumerated posterior."""
    model = model_of(seeded(1, 2, 3))
    for variable in model.generative.trainable_variables:
        variable.assign(np.random.default_rng(2).normal(0, 1.3, variable.shape))
    for layer in model.generative.layers[1:]:
        layer.trainable = False
    held = {"bias": tfd.Normal(float(model.generative.layers[0].bias[0]), 1e-6), "": tfd.Normal(0.0, 1.0)}
    model.prior = ds.Prior(held)
    model.compile(**ds.methods.polya_gamma_gibbs(), steps_per_execution=8)
    x = np.array([1, 0, 1], np.float32)
    model.fit(np.tile(x, (4000, 1)), batch_size=500, epochs=25, verbose=0)
    near, top = (part.numpy() for part in model.run.state.units)
    weights = [[part.numpy().astype(np.float64) for part in layer.weights[:2]] for layer in model.generative.layers]
    z = binary_states(3)
    log_joint = log_bernoulli(z[:, 2:], weights[0][1])
    log_joint = log_joint + log_bernoulli(z[:, :2], z[:, 2:] @ weights[1][0] + weights[1][1])
    log_joint = log_joint + log_bernoulli(x, z[:, :2] @ weights[2][0] + weights[2][1])
    counts = np.bincount(state_numbers(np.concatenate([near, top], 1)), minlength=8)
    assert_frequencies(counts, np.exp(log_joint - log_sum(log_joint)))


@pytest.mark.slow
def test_a_run_goes_on_where_it_was_saved(tmp_path):
    model, whole = compiled(2, 4), compiled(2, 4)
    model.fit(ROWS, batch_size=8, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert isinstance(loaded.get_compile_config()["step"], dict)
    loaded.fit(ROWS, batch_size=8, epochs=4, initial_epoch=2, verbose=0)
    whole.fit(ROWS, batch_size=8, epochs=2, verbose=0)
    whole.fit(ROWS, batch_size=8, epochs=4, initial_epoch=2, verbose=0)
    assert_same_state(loaded, whole)


@pytest.mark.slow
def test_chains_samples_and_what_follows(tmp_path):
    model = compiled(2, 4, num_chains=2, sweeps=2, initial="recognition")
    collector = ds.posterior.Collector(tmp_path / "posterior", num_samples=3, burn_in=2, every=1)
    model.fit(ROWS, batch_size=8, epochs=9, verbose=0, callbacks=[collector], validation_data=ROWS[:5])
    posterior = ds.posterior.load(tmp_path / "posterior")
    assert posterior.num_chains == 2 and len(posterior.samples) == 6
    one, other = posterior.chain(0).samples[-1].theta, posterior.chain(1).samples[-1].theta
    assert all((a != b).any() for a, b in zip(one, other) if a.size)
    history = model.refit_recognition(ROWS, epochs=3)
    assert len(history.history["log_likelihood"]) == 3
    before = model.run.weights[1][: len(one)]
    model.fit(ROWS, batch_size=8, epochs=1, verbose=0)
    assert any((a != b).any() for a, b in zip(before, model.run.weights[1]) if a.size)
    assert np.isfinite(posterior.log_likelihood(model, ROWS[:3], 10).value).all()
    gaps = np.where(np.random.default_rng(0).random(ROWS.shape) < 0.3, np.nan, ROWS)
    model.fit(gaps, batch_size=8, epochs=2, verbose=0)
    assert np.isfinite(np.concatenate([np.ravel(part) for part in model.get_weights()])).all()


@pytest.mark.slow
def test_a_frozen_layer():
    """A layer that is frozen keeps its weights, and the others learn around it."""
    model = model_of(seeded(2, 4))
    model.generative.layers[0].trainable = False
    kept, moved = (layer.bias.numpy() for layer in model.generative.layers)
    model.compile(**ds.methods.polya_gamma_gibbs())
    model.fit(ROWS, epochs=1, verbose=0)
    assert (model.generative.layers[0].bias.numpy() == kept).all()
    assert (model.generative.layers[1].bias.numpy() != moved).all()


@pytest.mark.parametrize("method", [ds.methods.polya_gamma_gibbs, ds.methods.vb])
@pytest.mark.parametrize("place", [0, 1])
def test_a_layer_that_is_frozen_in_part_is_refused(method, place):
    """All weights of a unit are drawn together: one that is frozen would be drawn as if it were free."""
    model = model_of(seeded(2, 4))
    layer = model.generative.layers[place]
    layer.kernel.trainable = False
    with pytest.raises(ValueError, match=f"Received: layer '{layer.name}', of which kernel is frozen"):
        model.compile(**method())


@pytest.mark.parametrize(
    ("layers", "name"),
    [
        (lambda: [SBN(2), ds.layers.NADE(3, hidden_units=2, name="data")], "'data', NADE of binary units"),
        (lambda: [SBN(2), ds.layers.MLPBernoulli(3, hidden_units=[2], name="data")], "'data', MLPBernoulli of binary"),
        (lambda: [ds.layers.MLPGaussian(2, hidden_units=[2], name="top"), SBN(3)], "'top', MLPGaussian of real-valued"),
    ],
)
def test_layers_without_augmentation(layers, name):
    generative = ds.GenerativeNetwork(layers())
    with pytest.raises(ValueError, match=f"layers SBN and DARN. Received: layer {name}"):
        PolyaGammaGibbsStep(generative, ds.RecognitionNetwork([]), ds.Prior())


def test_what_compile_refuses():
    model = model_of(seeded(2, 4))
    step = ds.augmentation.PolyaGammaGibbs()
    for name, value in {"kernel": "sgld", "kernel_steps": 2, "proposal": None, "interleaved": True}.items():
        with pytest.raises(ValueError, match="PolyaGammaGibbs has no kernel.* Received: {'" + name):
            model.compile(step=step, **{name: value})
    with pytest.raises(ValueError, match="step must be an instance of StepMethod.* Received: step='gibbs'"):
        model.compile(step="gibbs")
    model.prior = ds.Prior({"bias": None, "": tfd.Normal(0.0, 1.0)})
    with pytest.raises(ValueError, match="mixtures of normal laws.*Received: a flat prior for the weight .*bias"):
        model.compile(step=step)
    assert model.run is None
    with pytest.raises(ValueError, match="sweeps must be .*Received: sweeps=0"):
        ds.methods.polya_gamma_gibbs(sweeps=0)
    with pytest.raises(ValueError, match="Received: .*'x'"):
        ds.methods.polya_gamma_gibbs(initial="x")
    model = compiled(2, 4)
    with pytest.raises(ValueError, match="once over all rows in an epoch.* Received: steps_per_epoch=1"):
        model.fit(ROWS, steps_per_epoch=1)
    with pytest.raises(ValueError, match="Received: "):
        model.fit(ROWS + 0.3)


@pytest.mark.parametrize("method", ["polya_gamma_gibbs", "vb"])
def test_rows_that_do_not_fit_are_refused_before_anything_changes(method):
    make = getattr(ds.methods, method)
    for num_chains in (1, 2):
        model = model_of(seeded(2, 4))
        model.compile(**make(), num_chains=num_chains)
        before = {name: variable.numpy() for name, variable in model.run.saved.items()}
        with pytest.raises(ValueError, match="leave num_rows out. Received: num_rows=60 for 30 rows"):
            model.fit(ROWS, num_rows=60)
        after = {name: variable.numpy() for name, variable in model.run.saved.items()}
        assert set(before) == set(after) and all(np.array_equal(after[name], before[name]) for name in before)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["polya_gamma_gibbs", "vb", "online_vb"])
def test_labels(tmp_path, method):
    """Rows of label 1 have other pixels than those of label 0: samples of each label come apart."""
    labels = np.arange(40) % 2
    rows = np.where(labels[:, None], [1, 1, 0, 0], [0, 0, 1, 1]).astype(np.float32)
    generative = ds.GenerativeNetwork(seeded(2, 4), context=[2])
    recognition = ds.RecognitionNetwork([SBN(2, seed=1)])
    model = ds.DeepGenerativeModel(generative, recognition, tfd.Normal(0.0, 3.0), seed=1)
    model.compile(**getattr(ds.methods, method)())
    model.fit(ds.Rows(rows, context=labels), batch_size=16, epochs=30, verbose=0)
    for label in (0, 1):
        means = model.sample(200, seed=1, context=label).mean(0)
        assert (means > 0.5).astype(int).tolist() == rows[labels == label][0].tolist()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.run.state.weights[0], model.generative.layers[0].kernel)
    found = ds.posterior.present(model).label_probabilities(model, rows[:2], num_samples=200)
    assert (found.argmax(1) == labels[:2]).all()


def test_methods_that_were_saved_with_labels():
    config = ds.augmentation.PolyaGammaGibbs().get_config()
    again = ds.augmentation.PolyaGammaGibbs.from_config({**config, "labels": None, "num_labels": None})
    assert again.get_config() == config
    with pytest.raises(ValueError, match=r"context=\[Y\].*Received: a method saved with 3 labels"):
        ds.augmentation.MeanFieldVB.from_config({"labels": [0, 2, 1], "num_labels": 3})


@pytest.mark.slow
def test_an_imputer_by_gibbs_sampling():
    """Whole passes in the place of single updates; samples of the second half; real-valued columns are refused."""
    x = np.where(np.random.default_rng(0).random(ROWS.shape) < 0.2, np.nan, ROWS)
    options = {"method": "polya_gamma_gibbs", "architecture": "SBN/SBN 2", "batch_size": 8, "random_state": 1}
    imputer = ds.Imputer(**options, updates=30, posterior_samples=3).fit(x)
    samples = imputer.posterior_.samples
    assert len(samples) == 3 and samples[-1].step == 32 and samples[0].step >= 16
    filled = imputer.transform(x)
    assert np.isfinite(filled).all() and (filled[~np.isnan(x)] == ROWS[~np.isnan(x)]).all()
    with pytest.raises(ValueError, match="layers SBN and DARN. Received: layer .*MLPGaussian of real-valued"):
        ds.Imputer(**options, updates=40).fit(x + np.arange(30)[:, None] * 0.1)


def test_configuration():
    step = ds.augmentation.PolyaGammaGibbs(sweeps=3, initial="recognition", burn_in=2)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(step))
    assert type(again) is type(step) and again.get_config() == step.get_config() == {
        "sweeps": 3, "initial": "recognition", "burn_in": 2
    }  # fmt: skip
