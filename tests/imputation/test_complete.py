"""`complete` of every layer: its law and its weight, by sums over all values."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.imputation.support import SHUFFLED
from tests.oracles import binary_states, randomize, state_numbers

LAYERS = {
    "SBN": lambda: ds.layers.SBN(4),
    "DARN": lambda: ds.layers.DARN(4, ordering=SHUFFLED),
    "NADE": lambda: ds.layers.NADE(4, hidden_units=3, ordering=SHUFFLED),
    "MLPBernoulli": lambda: ds.layers.MLPBernoulli(4, hidden_units=[3]),
}
VALUES = binary_states(4)
OBSERVED = np.array([False, True, True, False])
VALUE = np.array([np.nan, 1, 0, np.nan], np.float32)


def built(name, width):
    layer = LAYERS[name]()
    layer.build((None, width))
    randomize(layer, seed=5)
    return layer


def conditionals(layer, parents):
    """p(y_d given y_<d, parents) of each value and unit, (16, 4), by sums of p(y given parents) over later units."""
    p = np.exp(layer.log_prob(VALUES.astype(np.float32), parents), dtype=np.float64)
    factors, before = np.zeros((16, 4)), np.ones((16, 16), bool)
    for unit in getattr(layer, "ordering", None) or range(4):
        now = before & (VALUES[:, None, unit] == VALUES[:, unit])
        factors[:, unit] = (now @ p) / (before @ p)
        before = now
    return factors


@pytest.mark.parametrize("width", [3, 0])
@pytest.mark.parametrize("name", list(LAYERS))
def test_the_law_and_the_weight(name, width):
    """2^14 draws: chi-square against the product of the missing units' conditionals, false failures at most 1e-6, and
    of each draw the weight, the product of the observed ones'. Law times weight is p(y given parents), summed over the
    missing units p(y_observed given parents). Catches a wrong order, unit or logit."""
    layer, parents = built(name, width), np.array([1, 0, 1], np.float32)[:width]
    factors = conditionals(layer, parents)
    agree = (VALUES[:, OBSERVED] == VALUE[OBSERVED]).all(1)
    law = agree * factors[:, ~OBSERVED].prod(1)
    weight = factors[:, OBSERVED].prod(1)
    y, log_weight = layer.complete(VALUE, OBSERVED, np.repeat(parents[None], 2**14, 0), seed=3)
    drawn = state_numbers(y)
    assert_frequencies(np.bincount(drawn, minlength=16), law)
    np.testing.assert_allclose(np.exp(log_weight), weight[drawn], rtol=2e-5)
    np.testing.assert_allclose(layer.completion_log_weight(y, OBSERVED, parents), log_weight, rtol=2e-5, atol=1e-5)
    p_observed = np.exp(layer.log_prob(VALUES[agree], parents).numpy()).sum()
    np.testing.assert_allclose(law @ weight, p_observed, rtol=1e-5)
    if layer.factorised:
        np.testing.assert_allclose(np.exp(log_weight), p_observed, rtol=2e-5)


@pytest.mark.parametrize("name", list(LAYERS))
def test_everything_and_nothing_observed(name):
    layer, parents = built(name, 3), np.ones((5, 3), np.float32)
    y, log_weight = layer.complete(VALUES[5], np.ones(4, bool), parents, 1)
    np.testing.assert_array_equal(y, np.repeat(VALUES[[5]], 5, 0))
    np.testing.assert_allclose(log_weight, layer.log_prob(VALUES[5].astype(np.float32), parents), rtol=2e-5)
    y, log_weight = layer.complete(np.full(4, np.nan), np.zeros(4), parents, 1)
    np.testing.assert_array_equal(log_weight, np.zeros(5))
    assert set(np.unique(y)) <= {0.0, 1.0}


@pytest.mark.parametrize("name", list(LAYERS))
def test_leading_axes_broadcast_and_graphs_change_nothing(name):
    layer = built(name, 3)
    parents = np.random.default_rng(0).integers(0, 2, (2, 5, 3)).astype(np.float32)
    value, observed = np.repeat(VALUE[None], 5, 0), np.repeat(OBSERVED[None], 5, 0)
    eager = layer.complete(value, observed, parents, 7)
    assert eager[0].shape == (2, 5, 4) and eager[1].shape == (2, 5)
    rows = layer.complete(VALUE, OBSERVED, parents.reshape(10, 3), 7)
    np.testing.assert_array_equal(tf.reshape(eager[0], [10, 4]), rows[0])
    signature = [tf.TensorSpec([None, 4]), tf.TensorSpec([None, 4], tf.bool), tf.TensorSpec([2, None, 3])]
    graph = tf.function(lambda *parts: layer.complete(*parts, 7), input_signature=signature)
    for one, other in zip(graph(value, observed, parents), eager):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_real_units():
    """Normal units: the draws have the conditional means and variances, the weight is the observed ones' density."""
    layer = ds.layers.MLPGaussian(3, hidden_units=[2])
    layer.build((None, 2))
    randomize(layer, seed=1, scale=0.5)
    parents, observed = np.array([1.0, -0.5], np.float32), np.array([0, 1, 0])
    y, log_weight = layer.complete([np.nan, 0.7, np.inf], observed, np.repeat(parents[None], 2**14, 0), seed=2)
    law = layer.distribution(parents)
    mean, deviation = law.mean().numpy(), law.stddev().numpy()
    np.testing.assert_array_equal(y[:, 1], np.full(2**14, 0.7, np.float32))
    assert_means(y.numpy()[:, ::2], mean[::2], deviation[::2])
    assert_means((y.numpy()[:, ::2] - mean[::2]) ** 2, deviation[::2] ** 2)
    density = -0.5 * ((0.7 - mean[1]) / deviation[1]) ** 2 - np.log(deviation[1] * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(log_weight, np.full(2**14, density), rtol=1e-4)


def test_a_layer_that_does_not_say_how_is_refused():
    class Chained(ds.layers.SBN):
        factorised = False

    layer = Chained(3)
    with pytest.raises(ValueError, match="Received: Chained"):
        layer.complete(np.ones(3), np.ones(3), np.ones((1, 2)), 0)
