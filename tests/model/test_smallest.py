"""The smallest cases: one row, one draw, one unit, for every kind of layer, in a graph, which knows static shapes."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import randomize


@pytest.mark.parametrize("name", ["VAE 1", pytest.param("NADE/NADE 1", marks=pytest.mark.slow), "NADE"])
def test_a_step_on_one_row_with_one_draw(name):
    """Static shapes of 1 everywhere: the loops over units must keep them."""
    model = ds.models.from_name(name, units=3, hidden_units=2)
    model.compile(**ds.methods.dsgld_nais(0.01, num_samples=1), jit_compile=False)
    history = model.fit(np.array([[1, 0, 1]], np.uint8), batch_size=1, epochs=2, verbose=0).history
    assert np.isfinite(history["log_likelihood"]).all() and int(model.run.steps) == 2


@pytest.mark.parametrize("batch", [(1,), (1, 1), (1, 2), (2, 1)])
def test_the_gradient_of_nade_in_a_graph(batch):
    layer = ds.layers.NADE(3, hidden_units=2)
    layer.build((None, 2))
    randomize(layer)
    value, parents = tf.ones([*batch[1:], 3]), tf.ones([*batch, 2])

    def gradient():
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(layer.log_prob(value, parents))
        return tape.gradient(total, [v.value for v in layer.trainable_variables])

    for eager, graph in zip(gradient(), tf.function(gradient)()):
        np.testing.assert_allclose(graph, eager, rtol=1e-5, atol=1e-6)
