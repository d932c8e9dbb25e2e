"""The suite of layers takes a layer whose values are neither zeros and ones nor all real numbers."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.conformance.layers import run_layer_test
from tfdsmcmc.distributions.affine import affine


class _OneHot(tfp.distributions.OneHotCategorical):
    """Its draws are the same with XLA and without."""

    def _sample_n(self, n, seed=None):
        uniform = ds.random.open_uniform(tf.concat([[n], tf.shape(self.logits)], 0), ds.random.as_seed(seed))
        chosen = tf.argmax(self.logits - tf.math.log(-tf.math.log(uniform)), -1)
        return tf.one_hot(chosen, self.logits.shape[-1], dtype=self.dtype)


@keras.saving.register_keras_serializable("tests")
class Softmax(ds.layers.StochasticLayer):
    """One categorical variable, of as many states as units."""

    factorised = True

    def __init__(self, units, seed=None, **kwargs):
        super().__init__(units, seed=seed, **kwargs)
        self.support = ds.supports.OneHot([self.units])

    def build(self, input_shape):
        self.parent_units = int(input_shape[-1])
        start = keras.initializers.GlorotUniform(seed=self.seed)
        self.kernel = self.add_weight(name="kernel", shape=(self.parent_units, self.units), initializer=start)
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        self.built = True

    def distribution(self, parents):
        # of no inputs, as a top layer has, TensorFlow's fused product and sum aborts on some processors
        logits = affine(self._parents(parents), self.kernel.value, self.bias.value)
        return _OneHot(logits, dtype=logits.dtype)


def softmax(weights, value, parents):
    kernel, bias = weights
    logits = parents @ kernel + bias
    return (value * logits).sum(-1) - np.log(np.exp(logits).sum(-1))


@pytest.mark.compiled
def test_the_suite_takes_the_values_of_another_support(tmp_path):
    run_layer_test(Softmax, {"units": 4}, 3, tmp_path, softmax, values=np.eye(4))
