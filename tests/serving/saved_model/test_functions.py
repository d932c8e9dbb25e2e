"""What SavedModels compute, at one θ and over three, against enumeration."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means, assert_near
from tests.oracles import Oracle, binary_states, randomize, state_numbers, tiny_model
from tfdsmcmc import random
from tfdsmcmc.imputation import resampling
from tfdsmcmc.likelihood import LogLikelihood
from tfdsmcmc.posterior.running_means import PredictiveAverage
from tfdsmcmc.rows import Rows
from tfdsmcmc.serving.saved_model import functions as functions_module
from tfdsmcmc.serving.saved_model import networks
from tfdsmcmc.serving.saved_model.networks import NetworkFunctions, Weights

X = binary_states(4).astype(np.float32)
SEED = tf.constant([3, 4])


def served(seeds, latent_units=(3, 2)):
    """Functions over the weights of models of these seeds, made with a model of other weights; and their oracles."""
    models = [tiny_model(latent_units, units=4, seed=seed, scale=0.8) for seed in seeds]
    pairs = [(m.generative.get_weights(), m.recognition.get_weights()) for m in models]
    model = tiny_model(latent_units, units=4, seed=99)
    return NetworkFunctions(model, Weights(model, pairs), sweeps=30, jit=False), [Oracle(m) for m in models]


@pytest.mark.parametrize(
    ("architecture", "sweeps"),
    # no passes go before where units depend on each other, and what is real is moved by Metropolis steps
    [("SBN/SBN 3-2", 10), ("DARN/DARN 3", 50), ("DARN 3", 50), ("VAE 3", 50)],
)
def test_chains_that_begin_near_their_end_are_short(architecture, sweeps):
    model = ds.models.from_name(architecture, 4)
    found, told = (NetworkFunctions(model, Weights(model), given, jit=False) for given in (None, 7))
    assert found.settings["sweeps"] == sweeps and told.settings["sweeps"] == 7


@pytest.mark.parametrize(("rows", "chunk"), [(0, 256), (1, 256), (2, 256), (3, 160), (8, 64), (16, 32), (128, 32)])
def test_few_rows_take_large_chunks(rows, chunk):
    """What is held is 512 draws in all, 256 of a row and at least 32."""
    assert int(networks._chunk(tf.zeros([rows, 4]))) == chunk


@pytest.fixture(scope="module", params=[[6], [6, 1, 20]], ids=["one", "three"])
def case(request):
    functions, oracles = served(request.param)
    names = ("log_likelihood", "encode", "reconstruct", "sample", "impute")
    graphs = {name: tf.function(getattr(functions, name), reduce_retracing=True, autograph=False) for name in names}
    return SimpleNamespace(oracles=oracles, count=len(oracles), **graphs)


def shares(oracles, x):
    """p(m given x), (M, n)."""
    p = np.exp([oracle.log_likelihood(x) for oracle in oracles])
    return p / p.sum(0)


def test_log_likelihood(case):
    """The average over θ with its own standard error; 16 rows, false failure 1e-6. The three differ by nats."""
    found = case.log_likelihood(X, tf.constant(4000), SEED)
    exact = np.logaddexp.reduce([o.log_likelihood(X) for o in case.oracles]) - np.log(case.count)
    assert_near(found["value"], exact, found["standard_error"])
    assert case.count == 1 or np.ptp([o.log_likelihood(X) for o in case.oracles], 0).max() > 1


def test_a_network_without_latent_layers_is_exact(tmp_path):
    """At any number of samples, as Python says."""
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([ds.layers.NADE(4, 3)]), ds.RecognitionNetwork([]))
    path = ds.serving.export(model, tmp_path / "nade", only="log_likelihood", verbose=False)
    loaded = tf.saved_model.load(path).signatures["log_likelihood"]
    for count in (1, 40):
        found = loaded(x=tf.constant(X[:, :4]), num_samples=tf.constant(count), seed=tf.constant(SEED))
        np.testing.assert_allclose(found["value"], model.log_likelihood(X[:, :4], count).value, rtol=1e-5)
        np.testing.assert_array_equal(found["standard_error"], 0.0)
        np.testing.assert_array_equal(found["effective_sample_size"], np.inf)


@pytest.mark.parametrize("count", [1, 4])
def test_the_average_has_the_errors_that_posteriors_state(count):
    """Values, errors and sizes beside those of `PredictiveAverage`, densities of 0 included; up to float32."""
    rng = np.random.default_rng(0)
    value = rng.normal(-500, 2, [count, 50]).astype(np.float32)
    error, size = (rng.uniform(a, b, [count, 50]).astype(np.float32) for a, b in ((0.01, 1), (1, 900)))
    if count > 1:
        value[0, ::3], error[0, ::3], size[0, ::3] = -np.inf, np.nan, np.nan
    average = PredictiveAverage()
    for parts in zip(value, error, size):
        average.add(LogLikelihood(*parts))
    *found, shared = functions_module.averaged(value, error, size)
    for one, other in zip(found, average.log_likelihood()[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5)
    assert not shared.numpy().any()
    errors = rng.uniform(0.1, 1, [count, 1]).astype(np.float32)  # of log Z, shared by all rows
    share = np.exp(value - value.max(0)) / np.exp(value - value.max(0)).sum(0)
    np.testing.assert_allclose(functions_module.averaged(value, error, size, errors)[3], (share * errors).sum(0), 1e-4)


def test_rows_share_no_draws(case):
    """300 copies of a row, in three blocks, have as many values."""
    found = case.log_likelihood(tf.repeat(tf.constant(X[5:6]), 300, 0), tf.constant(200), SEED)
    assert len(np.unique(found["value"])) > 290
    assert np.all(found["effective_sample_size"] <= 200 * case.count + 0.1)
    assert np.median(found["effective_sample_size"]) > 20


def test_encode(case):
    """E[z given x] over all z and θ, from 400 copies of a row of 100 draws each; bias of order 1/100."""
    for row in (3, 8):
        x = X[row : row + 1]
        exact = [
            sum(w * (o.posterior(x)[:, 0] @ part) for w, o in zip(shares(case.oracles, x)[:, 0], case.oracles))
            for part in case.oracles[0].z
        ]
        found = case.encode(tf.repeat(tf.constant(x, tf.float32), 400, 0), tf.constant(2000), SEED)
        assert set(found) == {"z_1", "z_2", "effective_sample_size"}
        for layer, means in enumerate(exact):
            draws = found[f"z_{layer + 1}"].numpy()
            assert draws.shape == (400, len(means))
            assert_near(draws.mean(0), means, draws.std(0) / 20 + 1 / 2000)


def test_reconstruct(case):
    """E[x' given x]: the data layer's mean over p(z given x)."""
    x = X[9:10]
    exact = 0.0
    for share, oracle in zip(shares(case.oracles, x)[:, 0], case.oracles):
        kernel, bias = oracle.theta[-1]
        exact += share * oracle.posterior(x)[:, 0] @ (1 / (1 + np.exp(-oracle.z[0] @ kernel - bias)))
    draws = case.reconstruct(tf.repeat(tf.constant(x, tf.float32), 400, 0), tf.constant(2000), SEED)["x"].numpy()
    assert_near(draws.mean(0), exact, draws.std(0) / 20 + 1 / 2000)


def test_sample(case):
    drawn = case.sample(tf.constant(20_000), SEED)["x"]
    law = np.mean([np.exp(oracle.log_likelihood(X)) for oracle in case.oracles], 0)
    assert_frequencies(np.bincount(state_numbers(drawn.numpy()), minlength=16), law)


def test_draws_of_different_weights_are_in_random_order(case):
    """Neighbours are independent: how often two are equal."""
    drawn = state_numbers(case.sample(tf.constant(20_000), SEED)["x"].numpy())
    law = np.mean([np.exp(oracle.log_likelihood(X)) for oracle in case.oracles], 0)
    assert_means((drawn[::2] == drawn[1::2])[:, None], [law @ law])


@pytest.mark.parametrize("mask", [[True, False, False, True], [False] * 4], ids=["two", "nothing"])
def test_impute(case, mask):
    """The exact conditional, over all θ with weights p(x_observed given θ), of two imputations of 1,000 copies of a
    row; with the three weighed equally the law is another one."""
    mask, row = np.array(mask), np.array([1.0, 0, 1, 0])
    evidence, laws = [], []
    for oracle in case.oracles:
        rows, law = oracle.missing(row, mask)
        evidence.append(np.exp(oracle.log_likelihood(rows)).sum())
        laws.append(law)
    exact = np.array(evidence) / np.sum(evidence) @ np.array(laws)
    x = tf.constant(np.where(mask, row, np.nan), tf.float32)
    rows = tf.tile(x[tf.newaxis], [1000, 1]), tf.tile(tf.constant(mask)[tf.newaxis], [1000, 1])
    drawn = case.impute(*rows, tf.constant(2), SEED)["x"].numpy()
    assert drawn.shape == (2, 1000, 4)
    assert np.all(drawn[..., mask] == row[mask])
    for part in (drawn.reshape(-1, 4), drawn[1]):
        numbers = state_numbers(part[:, ~mask])
        assert_frequencies(np.bincount(numbers, minlength=len(exact)), exact)
    # an imputation knows nothing of the next row's; those of one row share the noise of p̂(x_observed) at most
    for one, other in ((drawn[0, ::2], drawn[0, 1::2]), (drawn[0], drawn[1])):
        same = state_numbers(one) == state_numbers(other)
        assert_means(same[:, None], [exact @ exact])


def test_weights_that_make_a_row_impossible_have_no_part():
    """A θ under which a row has probability 0, exactly, leaves the others' answers as they are."""
    functions, _ = served([6, 1], (2,))
    only, _ = served([6], (2,))
    for stack in functions.weights._stacks:
        if stack.shape[1:] == [4]:
            stack[1].assign(tf.fill([4], -np.inf))  # σ(−∞) = 0: no entry can be 1
    x = tf.ones([1, 4])
    with tf.device("cpu"):
        value = functions.log_likelihood(x, tf.constant(500), SEED)["value"].numpy()
        alone = only.log_likelihood(x, tf.constant(500), SEED)["value"].numpy()
    assert np.isfinite(value) and abs(value - (alone - np.log(2))) < 0.5


def test_blocks_of_rows_are_joined_in_order(monkeypatch):
    """Seven rows in blocks of three: each value is the row's own."""
    monkeypatch.setattr(functions_module, "_BLOCK", 3)
    functions, (oracle,) = served([6])
    found = tf.function(functions.log_likelihood, autograph=False)(X[:7], tf.constant(3000), SEED)
    assert_near(found["value"], oracle.log_likelihood(X[:7]), found["standard_error"])
    mask = np.tile([True, True, True, False], [7, 1])
    drawn = tf.function(functions.impute, autograph=False)(X[:7], mask, tf.constant(2), SEED)["x"]
    np.testing.assert_array_equal(drawn[:, :, :3], np.tile(X[:7, :3], [2, 1, 1]))


def test_sample_is_the_live_models_draw():
    model = tiny_model((3, 2), units=4, seed=6)
    drawn = NetworkFunctions(model, Weights(model), 1, False).sample(tf.constant(50), SEED)["x"]
    np.testing.assert_array_equal(drawn, model.sample(50, SEED))


def test_weights_are_checked():
    model, other = tiny_model((3,), units=4), tiny_model((2,), units=4)
    with pytest.raises(ValueError, match="sample 0 must be .*Received: "):
        Weights(model, [(other.generative.get_weights(), other.recognition.get_weights())])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 6, 16])
def test_jitted_functions_answer_alike(rows):
    """Compiled by XLA or not, the answers to a seed are the same up to rounding, whatever is held at a time."""
    model = tiny_model((2,), units=4, seed=6)
    plain, jitted = (NetworkFunctions(model, Weights(model), 5, jit) for jit in (False, True))
    x, mask = tf.constant(X[:rows], tf.float32), tf.constant(X[:rows] > 0)
    requests = {name: (x, tf.constant(draws)) for name, draws in (("log_likelihood", 33), ("encode", 300))}
    for name, arguments in {
        **requests,
        "reconstruct": (x, tf.constant(300)),
        "impute": (x, mask, tf.constant(2)),
    }.items():
        one, other = (getattr(functions, name)(*arguments, SEED) for functions in (plain, jitted))
        for key in one:
            np.testing.assert_allclose(one[key], other[key], rtol=1e-4, atol=1e-6)


def test_samples_of_the_weights_share_no_draws(monkeypatch):
    """Three times the same θ: what is estimated and drawn at each differs, and so do all draws behind p(x_observed)."""
    functions, _ = served([6, 6, 6])
    x = tf.constant(X[:4])
    values = np.stack(functions._terms(x, tf.constant(40), SEED)[0])
    assert values.shape == (3, 4) and all(len(np.unique(values[:, i])) == 3 for i in range(4))

    chosen = tf.repeat(tf.range(3), 30)
    drawn = functions.weights.draw(lambda _, places, seed: random.uniform([tf.size(places), 4], seed), chosen, SEED, 4)
    assert len(np.unique(drawn)) == drawn.numpy().size

    seeds, draw = [], resampling.weighted_draws

    def recorded(generative, recognition, rows, count, seed):
        seeds.append(tuple(seed.numpy()))
        return draw(generative, recognition, rows, count, seed)

    monkeypatch.setattr(resampling, "weighted_draws", recorded)
    functions._chosen(Rows(x, x > 0), tf.constant(2), SEED)
    assert len(seeds) == len(set(seeds)) == 3 * networks._EVIDENCE.num_samples // 32 > 3


def test_reconstruct_where_units_depend_on_each_other():
    """A fully visible network without latent layers: its mean, whatever x is; within 6 standard errors of 20,000."""
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([ds.layers.DARN(4)]), ds.RecognitionNetwork([]))
    randomize(model, 3, 1.0)
    law = np.exp(model.generative.log_joint(X, []).numpy().astype(np.float64))
    assert abs(law.sum() - 1) < 1e-5
    run = tf.function(NetworkFunctions(model, Weights(model), 1, False).reconstruct, autograph=False)
    found = run(tf.constant(X[5:7]), tf.constant(20_000), SEED)["x"].numpy()
    mean = law @ X
    assert_near(found[0], mean, np.sqrt(mean * (1 - mean) / 20_000))
    assert np.any(found[0] != found[1]), "rows share draws"
