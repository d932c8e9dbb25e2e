"""How much a request may ask for: no more than fits, and no less where nothing is drawn or blocks are small."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states, randomize
from tfdsmcmc.posterior.store import Sample
from tfdsmcmc.serving.saved_model import functions as of_models
from tfdsmcmc.serving.saved_model import signatures as rules
from tfdsmcmc.serving.saved_model.content import functions_of

SEED = tf.constant([1, 2])
MANY = tf.constant(2**31 - 1)
BLOCK = of_models._BLOCK
X = np.float32(np.arange(24).reshape(6, 4) % 3 == 0)


def model_of(layer, latent_units=()):
    latent, recognition = ([ds.layers.SBN(units) for units in latent_units] for _ in range(2))
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([*latent, layer]), ds.RecognitionNetwork(recognition))
    randomize(model, scale=0.7)
    return model


def averaged(model, count):
    """Unit by unit, over so many draws of one chain."""
    samples, rng = [], np.random.default_rng(0)
    for step in range(count):
        drawn = [
            [rng.normal(0.2, 0.7, v.shape).astype(np.float32) for v in network.trainable_variables]
            for network in (model.generative, model.recognition)
        ]
        samples.append(Sample(*drawn, step, 0))
    return ds.posterior.Posterior(None, samples, "units")


def signature(name, model, posterior=None, max_draws=1000):
    average = posterior and posterior.average
    return rules.signatures(functions_of(model, posterior, average, 2, False, None), [name], max_draws)[name]


def exact_log_likelihoods():
    network, machine = model_of(ds.layers.NADE(4, 2)), ds.boltzmann.RBM(4, 2, seed=1)
    mixture, states = ds.boltzmann.MixtureOfBernoullis(4, 2), binary_states(4).astype(np.float32)
    of_machine = machine.unnormalized_log_prob(X) - tf.reduce_logsumexp(machine.unnormalized_log_prob(states))
    expected = ds.likelihood.exact(network, X).value, of_machine, mixture.log_likelihood(X).value
    return list(zip((network, machine, mixture), expected, strict=True))


@pytest.mark.parametrize("number", range(3))
def test_where_nothing_is_drawn_no_count_is_too_large(number):
    """And a likelihood takes no longer for it."""
    model, expected = exact_log_likelihoods()[number]
    served = signature("log_likelihood", model)
    (few, many) = (served(x=tf.constant(X), num_samples=count, seed=SEED) for count in (tf.constant(1), MANY))
    for name, value in few.items():
        np.testing.assert_array_equal(many[name], value)
    assert np.isposinf(many["effective_sample_size"]).all() and not many["standard_error"].numpy().any()
    np.testing.assert_allclose(many["value"], expected, rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have at most 1000 rows. Received: 1001"):
        served(x=tf.zeros([1001, 4]), num_samples=tf.constant(1), seed=SEED)


def test_an_average_of_dependent_units_holds_a_state_for_each_draw(monkeypatch):
    """Of 5 draws and 4 units each sample takes 20 numbers; of independent units 4."""
    monkeypatch.setattr(rules, "_ENTRIES", 200)
    for layer, most in ((ds.layers.DARN(4), 10), (ds.layers.SBN(4), 50)):
        model = model_of(layer)
        served = signature("sample", model, averaged(model, 5), 10_000)
        assert served(num_samples=tf.constant(most), seed=SEED)["x"].shape == (most, 4)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"num_samples must be between 1 and {most}. Received"):
            served(num_samples=tf.constant(most + 1), seed=SEED)


@pytest.mark.parametrize(
    ("layer", "entries", "most"),
    [
        (ds.layers.MLPGaussian(4, hidden_units=[2]), 20, 1),  # one imputation of a block, each number by five sets
        (ds.layers.SBN(4), 48, 3),  # 12 imputations of a block, but 3 of all rows
    ],
)
def test_imputations_hold_a_block_of_rows_and_the_answer(layer, entries, most, monkeypatch):
    monkeypatch.setattr(rules, "_ENTRIES", entries * BLOCK)
    model, rows = model_of(layer, [2]), 4 * BLOCK
    served = signature("impute", model, averaged(model, 5), 1_000_000)
    given = {"x": tf.zeros([rows, 4]), "mask": tf.fill([rows, 4], True), "seed": SEED}
    assert served(num_imputations=tf.constant(most), **given)["x"].shape == (most, rows, 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"num_imputations must be between 1 and {most} for so"):
        served(num_imputations=tf.constant(most + 1), **given)


def test_rows_that_no_imputation_of_would_fit_are_refused_as_rows(monkeypatch):
    monkeypatch.setattr(rules, "_ENTRIES", 40)
    served = signature("impute", model_of(ds.layers.SBN(4), [2]))
    given = {"mask": tf.fill([11, 4], True), "num_imputations": tf.constant(1), "seed": SEED}
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have at most 10 rows. Received: 11"):
        served(x=tf.zeros([11, 4]), **given)


def test_blocks_of_wide_rows_are_small(monkeypatch):
    """By averages of real units a draw of a row has a number for each set of weights; all rows are right."""
    layer = ds.layers.MLPGaussian(4, hidden_units=[2])
    assert functions_of(model_of(layer, [2]), None, None, 2, False, None).block == BLOCK
    monkeypatch.setattr(of_models, "_BLOCK_ENTRIES", 2 * 5 * 4)
    model = model_of(layer, [2])
    posterior = averaged(model, 5)
    functions = functions_of(model, posterior, "units", 2, False, None)
    assert (functions.widest, functions.block) == (5 * 4, 2)
    x = np.float32(np.random.default_rng(1).normal(size=(5, 4)))
    served = signature("log_likelihood", model, posterior, 100_000)
    found = served(x=tf.constant(x), num_samples=tf.constant(2000), seed=SEED)
    expected = posterior.log_likelihood(model, x, 5000, seed=3)
    error = np.hypot(found["standard_error"], expected.standard_error)
    assert (np.abs(found["value"] - expected.value) < 5 * error).all()


def test_rows_one_by_one_count_the_draws_that_are_made():
    """256 of each row, however few are asked for."""
    model = model_of(ds.layers.SBN(4), [2])
    served = signature("log_likelihood_rows", model, max_draws=1024)
    counts, seeds = tf.fill([4], 1), tf.zeros([5, 2], tf.int32)
    assert served(x=tf.zeros([4, 4]), num_samples=counts, seed=seeds[:4])["value"].shape == (4,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must have at most 4 rows. Received: 5"):
        served(x=tf.zeros([5, 4]), num_samples=tf.fill([5], 1), seed=seeds)
