"""The SBN layer: its initial weights, the base class."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds


def test_the_initial_weights():
    layer = ds.layers.SBN(200, seed=1)
    layer.build((None, 300))
    limit = np.sqrt(6 / 500)
    kernel = layer.kernel.numpy()
    assert kernel.shape == (300, 200)
    assert 0.99 * limit < kernel.max() <= limit and -limit <= kernel.min() < -0.99 * limit
    np.testing.assert_array_equal(layer.bias, np.zeros(200))


def test_the_bias_can_start_at_the_logit_of_the_mean():
    logits = [-1.0, 0.5, 2.0]
    layer = ds.layers.SBN(3, bias_initializer=keras.initializers.Constant(logits))
    np.testing.assert_allclose(layer.distribution(tf.zeros([0])).mean(), tf.sigmoid(logits), rtol=1e-6)


def test_initial_weights_differ_without_a_seed():
    first, second = ds.layers.SBN(3), ds.layers.SBN(3)
    for layer in (first, second):
        layer.build((None, 4))
    assert np.all(first.kernel.numpy() != second.kernel.numpy())


@pytest.mark.parametrize("layer_class", [ds.layers.SBN, ds.layers.DARN, ds.layers.NADE, ds.layers.MLPGaussian])
def test_initializers_of_every_form(layer_class):
    """A user's own seed counts beside the layer's; functions are initializers too; weights of one layer differ."""

    def weights(initializer):
        layer = layer_class(4, kernel_initializer=initializer, seed=5)
        layer.build((None, 4))
        return {v.name: v.numpy() for v in layer.trainable_variables}

    first, same, second = (weights(keras.initializers.RandomNormal(seed=seed)) for seed in (1, 1, 2))
    assert np.any(first["kernel"] != second["kernel"])
    for name in first:
        np.testing.assert_array_equal(first[name], same[name])
    squares = [value.tobytes() for name, value in first.items() if "bias" not in name and name != "lateral"]
    assert len(set(squares)) == len(squares)
    assert np.all(weights(lambda shape, dtype=None: tf.ones(shape))["kernel"] == 1.0)


@pytest.mark.parametrize("layer_class", [ds.layers.SBN, ds.layers.DARN])
def test_a_random_bias_has_draws_of_its_own(layer_class):
    layer = layer_class(4, kernel_initializer="random_normal", bias_initializer="random_normal", seed=5)
    layer.build((None, 4))
    assert np.all(layer.kernel.numpy() != layer.bias.numpy())


def test_seeds_are_checked():
    for seed in (-1, True, 0.5, "7"):
        with pytest.raises(ValueError, match="Received: seed="):
            ds.layers.SBN(3, seed=seed)


def test_width_zero_parents_make_it_unconditional():
    layer = ds.layers.SBN(2)
    layer.build((None, 0))
    assert layer.kernel.shape == (0, 2)
    layer.bias.assign([1.0, -2.0])
    for parents in (tf.zeros([0]), tf.zeros([3, 0])):
        means = layer.distribution(parents).mean()
        np.testing.assert_allclose(means, np.broadcast_to(tf.sigmoid([1.0, -2.0]), means.shape), rtol=1e-6)


def test_parents_may_be_integers():
    layer = ds.layers.SBN(3)
    as_floats = layer.distribution(tf.constant([[1.0, 0.0]])).logits
    np.testing.assert_array_equal(layer.distribution(np.array([[1, 0]], np.uint8)).logits, as_floats)


def test_a_layer_must_define_its_distribution():
    class Nothing(ds.layers.StochasticLayer):
        pass

    with pytest.raises(NotImplementedError, match="Nothing must define distribution"):
        Nothing(3).log_prob(tf.zeros([3]), tf.zeros([2]))
