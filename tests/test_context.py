"""Models of rows given a context. Given c, such a network is one of rows alone whose top bias is b + W'c."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import binary_states, randomize, state_numbers
from tfdsmcmc import random
from tfdsmcmc.posterior.store import Sample
from tfdsmcmc.rows import Context, Rows
from tfdsmcmc.sweeps.gibbs import sweep_all

X = binary_states(4).astype(np.float32)
Y = np.arange(16) % 3


def network(kinds, context=None, seed=3):
    layers = [kind(units, name=f"layer_{i}") for i, (kind, units) in enumerate(kinds)]
    found = ds.GenerativeNetwork(layers, context)
    randomize(found, seed, 0.9)
    return found


def model_of(kinds, context=None, seed=3):
    recognition = ds.RecognitionNetwork(
        [ds.layers.SBN(units, name=f"q_{i}") for i, (_, units) in enumerate(kinds[-2::-1])]
    )
    model = ds.DeepGenerativeModel(network(kinds, context, seed), recognition)
    randomize(model.recognition, seed + 1, 0.3)
    return model


def given(model, kinds, context):
    """The model of rows alone that it is given one context, (C,)."""
    alone = model_of(kinds)
    top, *others = alone.generative.layers
    for layer, own in zip([top, *others], model.generative.layers):
        values = {variable.name: variable for variable in own.trainable_variables}
        for variable in layer.trainable_variables:
            if variable.shape == values[variable.name].shape:
                variable.assign(values[variable.name])
    kernel, bias = model.generative.layers[0].kernel.numpy(), model.generative.layers[0].bias.numpy()
    top.bias.assign(bias + context @ kernel)
    return alone


KINDS = {
    "SBN": [(ds.layers.SBN, 2), (ds.layers.SBN, 3), (ds.layers.SBN, 4)],
    "DARN": [(ds.layers.DARN, 3), (ds.layers.DARN, 4)],
    "data layer": [(ds.layers.DARN, 4)],
}


@pytest.mark.parametrize("dtype", [float, int, bool])
def test_networks_take_a_context_of_any_numbers(dtype):
    model, own = model_of(KINDS["SBN"], [3]), Rows(X, context=np.eye(3, dtype=dtype)[Y])
    plain = Rows(X, context=np.eye(3, dtype=np.float32)[Y])
    found = [model.recognition.log_prob(model.recognition.sample(rows, 2, 0), rows) for rows in (own, plain)]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("name", KINDS)
def test_each_context_has_its_own_network(name):
    model = model_of(KINDS[name], [3])
    found = ds.likelihood.exact(model, Rows(X, context=Y)).value
    wrong = ds.likelihood.exact(model, Rows(X, context=(Y + 1) % 3)).value
    assert np.abs(found - wrong).max() > 0.1
    for y in range(3):
        exact = ds.likelihood.exact(given(model, KINDS[name], np.eye(3)[y]), X).value
        np.testing.assert_allclose(found[Y == y], exact[Y == y], rtol=1e-5)
        whole = ds.likelihood.exact(model, Rows(X, context=np.full(16, y))).value
        np.testing.assert_allclose(np.exp(whole).sum(), 1.0, rtol=1e-5)


def test_real_covariates():
    covariates = np.random.default_rng(1).normal(size=(16, 2)).astype(np.float32)
    model = model_of(KINDS["SBN"], 2)
    found = ds.likelihood.exact(model, Rows(X, context=covariates)).value
    for i in (0, 7):
        exact = ds.likelihood.exact(given(model, KINDS["SBN"], covariates[i]), X).value
        np.testing.assert_allclose(found[i], exact[i], rtol=1e-5)


@pytest.mark.parametrize("path", ["prior", "recognition", "weights"])
def test_estimates(path):
    """By importance samples and by annealing, forwards; five standard errors."""
    model, rows = model_of(KINDS["SBN"], [3]), Rows(X, context=Y)
    exact = ds.likelihood.exact(model, rows).value
    importance = model.log_likelihood(rows, 4000)
    kernel = model.recognition.layers[0].kernel
    kernel.assign(tf.concat([kernel[:-3], 4 * kernel[-3:]], 0))  # so that a wrong context there would show
    annealing = ds.likelihood.annealed_importance_sampling(model, rows, num_steps=100, num_runs=200, path=path)
    for found in (importance, annealing):
        assert (np.abs(found.value - exact) < 5 * found.standard_error + 1e-3).all()


@pytest.mark.parametrize("name", ["SBN", "DARN"])
@pytest.mark.parametrize("averaged", [False, True])
def test_sweeps_are_those_of_the_network_given_it(name, averaged):
    """With the same uniform numbers the same units, of averaged networks too."""
    model = model_of(KINDS[name], [3])
    alone = given(model, KINDS[name], np.eye(3)[1])
    networks = [model.generative, alone.generative]
    if averaged:
        networks = [ds.posterior.averages.unit_average_of(each, 1).generative for each in (model, alone)]
        for average, plain in zip(networks, (model, alone)):
            for variable, value in zip(average.trainable_variables, plain.generative.trainable_variables):
                variable.assign(value[tf.newaxis])
    rows = Rows(tf.constant(X), tf.constant(np.random.default_rng(2).random(X.shape) < 0.6))
    z = [tf.zeros([16, units]) for units in model.generative.latent_units]
    context = tf.constant(np.repeat(np.eye(3, dtype=np.float32)[1:2], 16, 0))
    for seed in range(20):
        first = sweep_all(networks[0], rows._replace(context=context), z, random.as_seed(seed))
        second = sweep_all(networks[1], rows, z, random.as_seed(seed))
        tf.nest.assert_same_structure(first, second)
        for one, other in zip(tf.nest.flatten(first), tf.nest.flatten(second)):
            np.testing.assert_array_equal(one, other)


def test_samples():
    """Chi-square tests that fail by chance with probability 10⁻⁶."""
    model = model_of(KINDS["SBN"], [3])
    for y in range(3):
        law = np.exp(ds.likelihood.exact(model, Rows(X, context=np.full(16, y))).value)
        for context in (y, np.full(4000, y), np.eye(3)[y], np.repeat(np.eye(3)[y : y + 1], 4000, 0)):
            x = model.sample(4000, seed=5, context=context)
            assert_frequencies(np.bincount(state_numbers(x), minlength=16), law)
    assert model.sample(5, seed=1, context=2, probabilities=True).shape == (5, 4)
    assert model.sample(5, seed=1, context=2, probabilities=True, num_averaged=3).shape == (5, 4)


@pytest.mark.parametrize("method", ["gibbs", "metropolis", "resampling"])
def test_imputations(method):
    """The probabilities of what is missing, against enumeration: 5 standard errors."""
    model = model_of(KINDS["SBN"], [3])
    x = np.array([[1, np.nan, 0, np.nan]] * 3, np.float32)
    rows = Rows(x, context=np.arange(3))
    options = {"num_samples": 4000, "burn_in": 50, "num_chains": 4} if method != "resampling" else {"num_samples": 8000}
    found = ds.imputation.impute(model, rows, method=method, seed=3, **options)
    for y in range(3):
        law = np.exp(ds.likelihood.exact(model, Rows(X, context=np.full(16, y))).value)
        fits = (X[:, 0] == 1) & (X[:, 2] == 0)
        for place in (1, 3):
            p = law[fits & (X[:, place] == 1)].sum() / law[fits].sum()
            error = np.sqrt(p * (1 - p) / found.effective_sample_size[y])
            assert abs(found.probabilities[y, place] - p) < 5 * error
    np.testing.assert_array_equal(model.impute(rows, probabilities=True, seed=3)[:, 0], [1, 1, 1])


@pytest.mark.slow
def test_learning_saving_and_averages(tmp_path):
    """p(x given y) of two labels with opposite rows is learnt; files and posterior samples keep the context."""
    y = np.random.default_rng(0).integers(0, 2, 300)
    x = (np.random.default_rng(1).random((300, 4)) < np.array([[0.9, 0.9, 0.1, 0.1], [0.1, 0.1, 0.9, 0.9]])[y]).astype(
        float
    )
    model = model_of(KINDS["SBN"], [2])
    model.compile(**ds.methods.dsgnht_nais(num_chains=1), steps_per_execution=30, jit_compile=False)
    collector = ds.posterior.Collector(tmp_path / "run", num_samples=5)
    held = Rows(x[:50], context=y[:50])
    model.fit(Rows(x, context=y), validation_data=held, epochs=60, batch_size=50, verbose=0, callbacks=[collector])
    right, wrong = (model.log_likelihood(Rows(x, context=labels), 200).mean() for labels in (y, 1 - y))
    assert right > wrong + 2.0
    model.save(tmp_path / "m.keras")
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    assert loaded.generative.context.parts == [2]
    np.testing.assert_array_equal(loaded.log_likelihood(held, 20).value, model.log_likelihood(held, 20).value)
    posterior = ds.posterior.load(tmp_path / "run")
    for average in ("units", "weights", "draws"):
        found = posterior.log_likelihood(model, held, 100, average=average).mean()
        assert (
            found > posterior.log_likelihood(model, Rows(x[:50], context=1 - y[:50]), 100, average=average).mean() + 2
        )
        assert posterior.sample(model, 3, average=average, context=[0, 1, 1]).shape == (3, 4)
    filled = model.impute(Rows(np.full((2, 4), np.nan), context=[0, 1]), posterior=posterior, probabilities=True)
    assert (filled.round() == [[1, 1, 0, 0], [0, 0, 1, 1]]).all()


def test_draws_for_arviz(tmp_path):
    model = model_of(KINDS["SBN"], [3])
    theta, phi = ([w.numpy() for w in part.trainable_variables] for part in (model.generative, model.recognition))
    posterior = ds.posterior.Posterior(None, [Sample(theta, phi, 1)])
    data = ds.diagnostics.inference_data(posterior, model, Rows(X, context=Y), weights="bias", num_samples=4000)
    exact = ds.likelihood.exact(model, Rows(X, context=Y)).value
    np.testing.assert_allclose(data.log_likelihood["x"][0, 0], exact, atol=0.3)  # ten errors
    np.testing.assert_array_equal(data.observed_data["x"], X)
    with pytest.raises(ValueError, match="needs a context.*Received: "):
        ds.diagnostics.inference_data(posterior, model, X)


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("wake_sleep", "iwae", "dsgnht_gibbs", "vae")]


@pytest.mark.parametrize("method", ["rws", "nvil", *SLOW])
def test_methods_take_it(method):
    kinds = KINDS["SBN"] if method not in ("iwae", "vae") else [(ds.layers.MLPGaussian, 2), (ds.layers.MLPBernoulli, 4)]
    if method in ("iwae", "vae"):
        networks = ds.GenerativeNetwork([kind(units, hidden_units=[3]) for kind, units in kinds], [3])
        model = ds.DeepGenerativeModel(networks, ds.RecognitionNetwork([ds.layers.MLPGaussian(2, hidden_units=[3])]))
    else:
        model = model_of(kinds, [3])
    model.compile(**getattr(ds.methods, method)(), jit_compile=False)
    history = model.fit(Rows(X, context=Y), batch_size=8, epochs=1, verbose=0, validation_data=Rows(X, context=Y))
    assert np.isfinite(history.history["val_log_likelihood"]).all()
    assert model.recognition.layers[0].parent_units == 7


def test_sandwiches_and_pretraining():
    model = model_of(KINDS["SBN"], [3])
    found = ds.annealing.sandwich(model, num_rows=8, num_steps=20, context=np.arange(8) % 3)
    assert (found.lower.value < found.upper.value + 5 * found.upper.standard_error + 1).all()
    with pytest.raises(ValueError, match="needs a context of 3 entries.*Received: "):
        ds.annealing.sandwich(model, num_rows=8)
    with pytest.raises(ValueError, match=r"of rows alone. Received: a model with Context\(\[3\]\)"):
        ds.pretrain(model, Rows(X, context=Y), epochs=1, jit_compile=False)


@pytest.mark.slow
def test_it_is_served(tmp_path):
    """Served answers agree with the live model's; a context that does not fit is refused by name."""
    model = model_of(KINDS["SBN"], [3])
    served = tf.saved_model.load(ds.serving.export(model, tmp_path / "m", verbose=False)).signatures
    context, seed = np.eye(3, dtype=np.float32)[Y], np.array([1, 2], np.int32)
    exact = ds.likelihood.exact(model, Rows(X, context=Y)).value
    answer = served["log_likelihood"](x=X, context=context, num_samples=4000, seed=seed)
    assert (np.abs(answer["value"].numpy() - exact) < 5 * answer["standard_error"].numpy() + 1e-3).all()
    drawn = served["sample"](num_samples=4000, context=np.repeat(context[:1], 4000, 0), seed=seed)["x"]
    law = np.exp(ds.likelihood.exact(model, Rows(X, context=np.full(16, Y[0]))).value)
    assert_frequencies(np.bincount(state_numbers(drawn.numpy()), minlength=16), law)
    mask = np.ones(X.shape, bool)
    filled = served["impute"](x=X, mask=mask, num_imputations=2, context=context, seed=seed)["x"]
    np.testing.assert_array_equal(filled[0], X)
    for bad, message in ((context[:3], "context must have as many rows as x"), (context + 1, "context must be one 1")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            served["log_likelihood"](x=X, context=bad, num_samples=2, seed=seed)
    with pytest.raises(tf.errors.InvalidArgumentError, match="context must have as many rows as num_samples"):
        served["sample"](num_samples=2, context=context, seed=seed)


def test_masks_and_datasets():
    """What stands under a mask is gone, and a dataset is refused in words."""
    model, mask = model_of(KINDS["SBN"], [3]), np.arange(4) < 2
    hidden = np.where(mask, X, 9)
    options = {"num_samples": 20, "burn_in": 5, "seed": 3, "probabilities": True}
    found = model.impute(Rows(hidden, context=Y), mask=mask, **options)
    np.testing.assert_array_equal(found, model.impute(Rows(np.where(mask, X, np.nan), context=Y), **options))
    for call in (model.log_likelihood, model.impute):
        with pytest.raises(ValueError, match="random access.*Received: "):
            call(Rows(tf.data.Dataset.from_tensor_slices(X).batch(4), context=Y))
    with pytest.raises(ValueError, match="Received: a masked array"):
        model.log_likelihood(Rows(X, context=np.ma.array(Y, mask=Y > 1)))


def test_variational_bayes_takes_labels_alone():
    """Its covariances are those of zeros and ones."""
    for method in (ds.methods.vb, ds.methods.online_vb):
        with pytest.raises(ValueError, match=r"a context of labels.*Received: a network with Context\(2\)"):
            model_of(KINDS["SBN"], 2).compile(**method())


BAD = {
    "none": lambda model: model.log_likelihood(X),
    "none to learn with": lambda model: model.fit(X),
    "too few": lambda model: model.log_likelihood(Rows(X, context=Y[:3])),
    "no such label": lambda model: model.log_likelihood(Rows(X, context=Y + 1)),
    "labels that are no integers": lambda model: model.log_likelihood(Rows(X[:3], context=[0.0, 1.0, 0.0])),
    "a width": lambda model: model.log_likelihood(Rows(X, context=np.ones((16, 2)))),
    "NaN": lambda model: model.log_likelihood(Rows(X, context=np.full((16, 3), np.nan))),
    "ragged": lambda model: model.log_likelihood(Rows(X, context=[[1], [1, 2]])),
    "a sample": lambda model: model.sample(3),
    "a sample of another number": lambda model: model.sample(3, context=[0, 1]),
    "validation": lambda model: model.fit(Rows(X, context=Y), validation_data=X),
    "an imputation": lambda model: model.impute(X),
    "where there is none": lambda model: model_of(KINDS["SBN"]).log_likelihood(Rows(X, context=Y)),
    "a network's samples of another number": lambda model: model.generative.sample(5, 0, np.ones((2, 3), np.float32)),
    "a network's samples of a number": lambda model: model.generative.sample(3, 0, 1.0),
    "a network's samples of more axes": lambda model: model.generative.sample(2, 0, np.zeros((2, 5, 3), np.float32)),
    "a network's samples without": lambda model: model.generative.sample(5, 0),
    "a network's samples where there is none": lambda model: network(KINDS["SBN"]).sample(3, 0, np.ones((3, 3))),
    "samples where there is none": lambda model: model_of(KINDS["SBN"]).sample(3, context=1),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit(name):
    model = model_of(KINDS["SBN"], [3])
    model.compile(**ds.methods.rws(), jit_compile=False)
    before = [variable.numpy() for variable in model.weights]
    with pytest.raises(ValueError, match="Received: "):
        BAD[name](model)
    assert all((a == b.numpy()).all() for a, b in zip(before, model.weights))


@pytest.mark.parametrize("parts", [0, -1, 1.5, True, [], [1], "3"])
def test_wrong_parts(parts):
    with pytest.raises(ValueError, match="Received: "):
        Context(parts)
