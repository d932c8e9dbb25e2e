"""Compiled estimators against what may change between two calls of them."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tfdsmcmc.likelihood.expectations import expectations
from tfdsmcmc.programs import _programs

X = binary_states(3)


def test_another_frozen_layer_is_another_program():
    """Layers of one shape take turns in being frozen: the weights in θ stand for other variables each time."""
    model = tiny_model((3, 3), seed=2, scale=0.8)
    model.compile(jit_compile=False)
    layers, expected = model.generative.layers, Oracle(model).log_likelihood(X)
    estimators = [
        lambda: ds.likelihood.importance_sampling(model, X, 1000, warn=False),
        lambda: ds.likelihood.annealed_importance_sampling(model, X, 3, 100),
    ]
    found = []
    for frozen in layers[1:]:
        frozen.trainable = False
        found.append([estimate().value for estimate in estimators])
        frozen.trainable = True
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(np.array(found[0]) - expected).max() < 0.5


def test_long_sums_in_small_chunks_lose_nothing():
    """2^18 draws one by one, of two weights: the value is within 6 exact standard errors (float32 sums lose 20)."""
    model, count = tiny_model((1,), units=1, seed=3), 2**18
    oracle, x = Oracle(model), np.array([[1.0]])
    deviation, _ = oracle.relative_weights(x)
    arguments = tf.constant(x, tf.float32), tf.constant(count), tf.constant([1, 2])
    program = tf.function(expectations, jit_compile=True, autograph=False)
    (value, error, _), _ = program(model.generative, model.recognition, *arguments, 1)
    assert abs(value[0] - oracle.log_likelihood(x)[0]) < 6 * deviation[0] / np.sqrt(count)
    assert float(error[0]) == pytest.approx(deviation[0] / np.sqrt(count), rel=0.05)


def test_the_two_directions_share_no_draws():
    """Runs of one seed forwards and backwards, from exact draws: no correlation over 2,048 copies of a row (with shared
    seeds it is 0.5 and more); false failures at most 1e-6."""
    model, copies = tiny_model((2,), seed=4, scale=0.7), 2**11
    model.compile(jit_compile=False)
    oracle, row = Oracle(model), X[[3]]
    states = np.random.default_rng(1).choice(4, copies, p=oracle.posterior(row)[:, 0])
    arguments = {"num_steps": 10, "num_runs": 1, "batch_size": copies}
    x = np.repeat(row, copies, 0)
    forward = ds.likelihood.annealed_importance_sampling(model, x, **arguments)
    z = [part[states] for part in oracle.z]
    reverse = ds.likelihood.annealed_importance_sampling(model, x, direction="reverse", z=z, **arguments)
    assert abs(np.corrcoef(forward.value, reverse.value)[0, 1]) < 4.9 / np.sqrt(copies)


def test_adaptive_schedules_of_one_size_share_a_program():
    model = tiny_model((2,), seed=5)
    model.compile(jit_compile=False)
    for steps in (5, 6, 8):
        ds.likelihood.annealed_importance_sampling(model, X, num_steps=steps, num_runs=2)
    (program,) = _programs[model].values()
    assert program.experimental_get_tracing_count() == 1


def test_densities_that_are_not_finite():
    """A pilot ends, and weights of zero give −inf as they do in importance sampling."""
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.MLPGaussian(2, hidden_units=[2])]),
        ds.RecognitionNetwork([ds.layers.SBN(2)]),
    )
    model.compile(jit_compile=False)
    x = [[1e25, 0.0]]
    with pytest.raises(ValueError, match="finite densities. Received: "):
        ds.likelihood.annealed_importance_sampling(model, x, 20, 2, schedule="adaptive")
    with np.errstate(all="raise"):
        assert ds.likelihood.annealed_importance_sampling(model, x, 4, 2).value == [-np.inf]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_samples": 2**31}, "at most 1,073,741,824. Received: num_samples="),
        ({"num_samples": 2**32 + 1}, "at most 1,073,741,824. Received: num_samples="),
        ({"standard_error": 0.1, "max_samples": 2**32}, "Received: max_samples="),
        ({"standard_error": tf.constant(-0.1)}, "Received: standard_error="),
        ({"standard_error": 1e-200}, "Received: standard_error="),
        ({"weights": ([],)}, "pair of lists of arrays .* Received: shapes"),
        ({"weights": 5}, "pair of lists of arrays .* Received: shapes int"),
        ({"weights": [None, None]}, "pair of lists of arrays .* Received: shapes list"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        ds.likelihood.importance_sampling(tiny_model(), X, **arguments)


def test_a_network_without_latent_layers_checks_its_arguments_too():
    model = ds.models.from_name("NADE", units=3, hidden_units=2)
    model.compile(jit_compile=False)
    for arguments in ({"path": "no"}, {"schedule": "no"}, {"direction": np.array(["forward", "a"])}):
        with pytest.raises(ValueError, match="Received: "):
            ds.likelihood.annealed_importance_sampling(model, X, **arguments)
    assert np.all(ds.likelihood.annealed_importance_sampling(model, X).standard_error == 0)
