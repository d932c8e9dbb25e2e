"""Compiled estimators against what may change between two calls of them."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tfdsmcmc.likelihood.expectations import expectations

X = binary_states(3)


def test_another_frozen_layer_is_another_program():
    """Layers of one shape take turns in being frozen: the weights in θ stand for other variables each time."""
    model = tiny_model((3, 3), seed=2, scale=0.8)
    model.compile("sgnht", jit_compile=False)
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
