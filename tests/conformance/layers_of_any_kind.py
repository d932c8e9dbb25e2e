"""Checks of a stochastic layer that do not depend on the kind of its values."""

from __future__ import annotations

import inspect
import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.oracles import randomize


class LayerTest:
    def __init__(self, layer_class, init_kwargs, parent_units, reference, custom_objects):
        self.make = lambda **changes: layer_class(**{**init_kwargs, **changes})
        self.layer_class = layer_class
        self.units = init_kwargs["units"] if "units" in init_kwargs else self.make().units
        self.parent_units = parent_units
        self.reference = reference
        self.custom_objects = custom_objects
        self.values = self.all_values()
        self.value = self.values[len(self.values) // 3]  # of a binary layer 0101…

    def built(self, width):
        layer = self.make()
        layer.build((None, width))
        randomize(layer, seed=width)
        return layer

    def parents(self, width, rows=5):
        return tf.constant(np.random.default_rng(width).integers(0, 2, (rows, width)), tf.float32)

    def units_are_checked(self):
        for units in (0, -1, 2.5, True, "3", None):
            with pytest.raises(ValueError, match="Received: units="):
                self.make(units=units)
        layer = self.make(units=np.int64(self.units))
        assert layer.units == self.units and type(layer.widest) is int and layer.widest >= self.units

    def config_round_trips(self):
        layer = self.make(name="its_name", trainable=False)
        config = keras.saving.serialize_keras_object(layer)
        twin = keras.saving.deserialize_keras_object(json.loads(json.dumps(config)), self.custom_objects)
        assert type(twin) is self.layer_class
        assert (twin.name, twin.units, twin.trainable) == ("its_name", self.units, False)
        assert twin.get_config() == layer.get_config()
        named = [name for name, p in inspect.signature(self.layer_class).parameters.items() if p.kind != p.VAR_KEYWORD]
        assert set(named) <= set(layer.get_config()), "an argument is missing in the config"
        seeded = self.make(seed=3)
        twin = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(seeded), self.custom_objects)
        parents = tf.zeros([64, self.parent_units])
        np.testing.assert_array_equal(seeded(parents), twin(parents))
        for a, b in zip(seeded.get_weights(), twin.get_weights()):
            np.testing.assert_array_equal(a, b)

    def seeds_decide_the_draws(self):
        parents = tf.zeros([64, self.parent_units])
        layer, twin = self.make(seed=3), self.make(seed=3)
        first = layer(parents)
        assert tf.is_tensor(first) and first.shape == (64, self.units)
        assert layer.compute_output_shape((64, self.parent_units)) == first.shape
        # without a seed the generator of the layer: the same for layers of one seed, new at each call
        np.testing.assert_array_equal(first, twin(parents))
        assert np.any(first != layer(parents))
        for a, b in zip(layer.get_weights(), twin.get_weights()):
            np.testing.assert_array_equal(a, b)
        # with a seed the call repeats itself, and leaves the generator alone
        twin(parents)
        pair = tf.constant([5, 0])
        np.testing.assert_array_equal(layer(parents, seed=5), layer(parents, seed=pair))
        np.testing.assert_array_equal(layer(parents, seed=5), layer.sample(parents, pair))
        assert np.any(layer(parents, seed=5) != layer(parents, seed=6))
        np.testing.assert_array_equal(layer(parents), twin(parents))

    def saves_and_loads(self, tmp_path):
        for width in (self.parent_units, 0):
            layer, parents = self.make(), self.parents(width)
            inputs = keras.Input((width,))
            model = keras.Model(inputs, layer(inputs))
            randomize(layer)
            path = os.path.join(tmp_path, f"layer_{width}.keras")
            model.save(path)
            loaded = keras.saving.load_model(path, custom_objects=self.custom_objects).layers[-1]
            assert type(loaded) is self.layer_class
            value = self.values[:1]
            np.testing.assert_array_equal(loaded.log_prob(value, parents), layer.log_prob(value, parents))
            np.testing.assert_array_equal(loaded.sample(parents, 7), layer.sample(parents, 7))

    def law_is_normalised(self, layer):
        parents = self.parents(layer.parent_units)
        log_p = layer.distribution(parents).log_prob(self.values[:, tf.newaxis])
        assert log_p.shape == (len(self.values), len(parents))
        total = np.exp(log_p, dtype=np.float64).sum(0) * self.cell
        np.testing.assert_allclose(total, np.ones(len(parents)), atol=1e-5)
        np.testing.assert_array_equal(layer.log_prob(self.values[:, tf.newaxis], parents), log_p)
        assert np.ptp(log_p.numpy(), axis=0).min() > 0.1, "the random weights make no difference"
        if self.reference is not None:
            want = self.reference(_weights(layer), self.values.numpy()[:, None], parents.numpy())
            np.testing.assert_allclose(log_p, np.broadcast_to(want, log_p.shape), rtol=1e-5, atol=1e-5)

    def shapes_follow_the_parents(self, layer):
        for batch in ((), (4,), (3, 4), (2, 3, 4), (0,)):
            parents = tf.zeros([*batch, layer.parent_units])
            distribution = layer.distribution(parents)
            assert distribution.batch_shape == batch
            assert distribution.event_shape == (self.units,)
            assert layer(parents).shape == (*batch, self.units)
            assert layer.sample(parents, 0, [6]).shape == (6, *batch, self.units)
            assert layer.log_prob(tf.zeros([self.units]), parents).shape == batch
            assert layer.log_prob(tf.zeros([6, *batch, self.units]), parents).shape == (6, *batch)
        # each row has its own law
        rows = self.parents(layer.parent_units)
        value = self.value
        together = layer.log_prob(value, rows)
        np.testing.assert_allclose(together, [layer.log_prob(value, row) for row in rows], rtol=1e-5, atol=1e-6)

    def draws_come_with_their_log_probabilities(self, layer):
        parents = self.parents(layer.parent_units)
        for sample_shape in ((), (3,), (2, 3)):
            value, log_prob = layer.sample_and_log_prob(parents, 5, sample_shape)
            assert value.shape == (*sample_shape, len(parents), self.units)
            np.testing.assert_array_equal(value, layer.sample(parents, 5, sample_shape))
            np.testing.assert_allclose(log_prob, layer.log_prob(value, parents), rtol=1e-5, atol=1e-5)

    def gradients_flow(self, layer):
        """Against central differences of fourth order; parents are real numbers here."""
        width = layer.parent_units
        rng = np.random.default_rng(12)
        parents = tf.constant(rng.normal(size=(4, width)), tf.float32)
        value = self.value
        variables = layer.trainable_variables
        with tf.GradientTape() as tape:
            tape.watch(parents)
            total = tf.reduce_sum(layer.log_prob(value, parents))
        sources = [parents, *[v.value for v in variables]]
        gradients = tape.gradient(total, sources, unconnected_gradients="zero")
        start = [tf.identity(source) for source in sources]

        def along(directions, step):
            for variable, origin, direction in zip(variables, start[1:], directions[1:]):
                variable.assign(origin + step * direction)
            return float(tf.reduce_sum(layer.log_prob(value, start[0] + step * directions[0])))

        h = 0.05
        for place, gradient in enumerate(gradients):
            assert 0 in gradient.shape or np.abs(gradient).max() > 0
            for direction in (gradient, *rng.normal(size=(2, *gradient.shape))):
                directions = [tf.zeros_like(origin) for origin in start]
                directions[place] = tf.math.l2_normalize(tf.cast(direction, tf.float32), axis=None)
                near, far = (along(directions, step) - along(directions, -step) for step in (h, 2 * h))
                slope = float(tf.reduce_sum(gradient * directions[place]))
                np.testing.assert_allclose(slope, (8 * near - far) / (12 * h), rtol=2e-3, atol=2e-3)
        along([tf.zeros_like(origin) for origin in start], 0.0)

    def jit_changes_nothing(self, layer):
        parents, value = self.parents(layer.parent_units), self.value
        signature = [tf.TensorSpec([None, layer.parent_units]), tf.TensorSpec([2], tf.int32)]

        def compute(parents, seed):
            with tf.GradientTape() as tape:
                log_prob = layer.log_prob(value, parents)
            weights = [v.value for v in layer.trainable_variables]
            gradients = tape.gradient(log_prob, weights, unconnected_gradients="zero")
            return layer.sample(parents, seed, [3]), log_prob, gradients

        eager = tf.nest.flatten(compute(parents, tf.constant([1, 2])))
        for jit_compile in (False, True):
            compiled = tf.function(compute, input_signature=signature, jit_compile=jit_compile)
            for a, b in zip(tf.nest.flatten(compiled(parents, tf.constant([1, 2]))), eager):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)

    def other_widths_are_refused(self, layer):
        with pytest.raises(ValueError, match="Received: parents.shape="):
            layer.distribution(tf.zeros([2, layer.parent_units + 1]))


def _weights(layer):
    return [variable.numpy().astype(np.float64) for variable in layer.trainable_variables]
