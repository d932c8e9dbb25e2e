"""What every latent sampler must honour: `run_latents_test` checks it in one call."""

from __future__ import annotations

import json

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common.types import WeightedLatents

X = np.array([[1, 0, 0], [0, 1, 1]], np.uint8)


def run_latents_test(make, model, binary=True):
    """Runs every check of the contract.

    Args:
      make: function of no arguments that returns the sampler, with `num_samples` 3.
      model: model whose data have 3 units.
      binary: whether the latent units are zeros and ones.
    """
    latents = make()
    networks = model.generative, model.recognition
    assert latents.num_samples == 3

    def draw(seed, x=X, carry=None):
        return latents.draw(*networks, x, seed, carry)

    weighted, carry = draw(1)
    z, log_weights, _ = weighted
    assert isinstance(weighted, WeightedLatents) and weighted.z is z and weighted.log_weights is log_weights
    assert [part.shape for part in z] == [(3, 2, width) for width in model.generative.latent_units]
    assert log_weights.shape == (3, 2) and np.isfinite(log_weights).all()
    assert weighted.log_likelihood.shape == (2,) and np.isfinite(weighted.log_likelihood).all()
    assert all(part.dtype == tf.float32 for part in z)
    if binary:
        assert all(set(np.unique(part)) <= {0.0, 1.0} for part in z)

    # a seed, of either form, decides the draws; the type of the data does not matter
    _assert_equal(draw(tf.constant([1, 0])), (weighted, carry))
    _assert_equal(draw(1, X.astype(np.float32)), (weighted, carry))
    rows = np.repeat(X, 20, 0)
    assert any(np.any(a != b) for a, b in zip(draw(1, rows)[0].z, draw(2, rows)[0].z))

    # the carry, where there is one, goes back in, and changes the draws
    if carry is not None:
        assert [part.shape for part in carry] == [(2, width) for width in model.generative.latent_units]
        _, kept = draw(3, rows)
        flipped = [1.0 - part for part in kept]
        assert any(np.any(a != b) for a, b in zip(draw(4, rows, kept)[0].z, draw(4, rows, flipped)[0].z))

    # jitted as eager, and inside a loop
    @tf.function(jit_compile=True)
    def loop(seed):
        def advance(i, _):
            weighted, _ = draw(seed)
            return i + 1, [*weighted.z, weighted.log_weights, weighted.log_likelihood]

        start = [tf.zeros_like(part) for part in [*z, log_weights, weighted.log_likelihood]]
        return tf.while_loop(lambda i, _: i < 2, advance, (0, start))[1]

    for a, b in zip(loop(tf.constant([1, 0])), [*z, log_weights, weighted.log_likelihood]):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)

    config = json.loads(json.dumps(keras.saving.serialize_keras_object(latents)))
    twin = keras.saving.deserialize_keras_object(config)
    assert type(twin) is type(latents) and twin.get_config() == latents.get_config()
    _assert_equal(twin.draw(*networks, X, 1), (weighted, carry))


def _assert_equal(a, b):
    for x, y in zip(tf.nest.flatten(a), tf.nest.flatten(b), strict=True):
        np.testing.assert_array_equal(x, y)
