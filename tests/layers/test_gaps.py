"""What is missing drops out of a layer's density, exactly."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.gaps import ROWS, completions
from tests.oracles import log_sum, randomize


@pytest.mark.parametrize("kind", ["SBN", "MLPBernoulli", "MLPGaussian"])
def test_what_a_layer_misses_drops_out(kind):
    """Against the sum over all completions, or for real units against SciPy's densities one by one; gradients with
    respect to the weights are those of the observed terms alone, and finite."""
    layer = {"SBN": ds.layers.SBN(3)}.get(kind) or getattr(ds.layers, kind)(3, hidden_units=[4])
    layer.build((None, 2))
    randomize(layer, seed=1, scale=0.7)
    parents = np.array([[1, 0], [0.5, 2], [1, 1], [0, 3]], np.float32)
    observed = ~np.isnan(ROWS)
    x = np.where(observed, ROWS, np.float32(0.7))
    with tf.GradientTape() as tape:
        found = layer.observed_log_prob(x, observed, parents)
    assert all(np.isfinite(g).all() for g in tape.gradient(found, layer.trainable_variables))
    for i, row in enumerate(ROWS):
        if kind == "MLPGaussian":
            law = layer.distribution(parents[i])
            terms = scipy.stats.norm.logpdf(row, law.mean(), law.stddev())
            expected = terms[~np.isnan(row)].sum()
        else:
            expected = log_sum(layer.log_prob(completions(row), parents[i]).numpy())
        np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(layer.observed_log_prob(x, observed.astype(np.float32), parents), found)
    complete = layer.log_prob(x, parents)
    np.testing.assert_allclose(layer.observed_log_prob(x, tf.ones_like(x), parents), complete, rtol=1e-5)


@pytest.mark.parametrize("layer", [ds.layers.SBN(3), ds.layers.DARN(3)])
def test_one_column_is_not_taken_for_all(layer):
    parents, narrow, wide = np.zeros([2, 2]), np.ones([2, 1]), np.ones([2, 3])
    for value, observed in ((narrow, wide), (wide, narrow)):
        with pytest.raises(ValueError, match=r"must be \(…, 3\)\. Received: (value|observed) of shape \(2, 1\)"):
            layer.complete(value, observed > 0, parents, 0)
        with pytest.raises(ValueError, match=r"Received"):
            layer.observed_log_prob(value, observed > 0, parents)


@pytest.mark.parametrize("kind", [ds.layers.SBN, ds.layers.DARN, ds.layers.NADE, ds.layers.MLPGaussian])
def test_a_seed_may_be_an_integer_of_numpy(kind):
    layers = [kind(3, seed=seed) for seed in (3, np.int64(3))]
    first, second = (layer.build((None, 2)) or layer.get_weights() for layer in layers)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
