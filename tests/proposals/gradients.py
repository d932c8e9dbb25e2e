"""The gradient of a proposal's surrogate as it is, and what it is measured against."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import flat


def mean_gradient(proposal, model, x, num_samples, calls, jit_compile=False, seed=0):
    """The gradient in φ and in the proposal's own variables, one flat vector: a float64 mean over several calls, as a
    long float32 sum of a few distinct values rounds to one side.

    Before each call the proposal's variables are set back, so that all calls estimate the same.
    """
    variables = [v.value for v in (*model.recognition.trainable_variables, *proposal.trainable_variables)]
    start = [(variable, variable.numpy()) for variable in proposal.variables]
    nais = ds.latents.NAIS(num_samples)

    def body(i, *sums):
        for variable, value in start:
            variable.assign(value)
        draw_seed, surrogate_seed = tf.unstack(ds.random.split(ds.random.fold(seed, i)))
        latents, _ = nais.draw(model.generative, model.recognition, x, draw_seed)
        with tf.GradientTape() as tape:
            surrogate = proposal.surrogate(model.generative, model.recognition, x, latents, surrogate_seed)
        gradients = tape.gradient(surrogate, variables)
        return (i + 1, *(total + tf.cast(part, tf.float64) for total, part in zip(sums, gradients)))

    @tf.function(jit_compile=jit_compile, autograph=False)
    def compute():
        zeros = [tf.zeros(variable.shape, tf.float64) for variable in variables]
        return tf.while_loop(lambda i, *_: i < calls, body, (0, *zeros))[1:]

    return flat(compute()) / calls


def moments(p, values):
    """Mean and variance over the leading axis of values (S, n, m) under the laws p (S, n), each (n, m)."""
    mean = np.einsum("sn,snm->nm", p, values)
    return mean, np.einsum("sn,snm->nm", p, (values - mean) ** 2)
