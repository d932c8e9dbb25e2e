"""The harmonic mean over draws of the weights and of the units, which the publication has."""

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds


def harmonic_mean(model, posterior, rows, seed):
    """−log (1/S) Σ_s 1/p(x given z_s, θ_s), nats a row: z is swept once at each kept θ_s, and 20 times at the first."""
    generative, gibbs = model.generative, ds.latents.Gibbs(burn_in=20, initial="prior")
    x = tf.constant(rows, tf.float32)
    start = tf.function(lambda seed: gibbs.start(generative, model.recognition, x, seed), jit_compile=True)

    @tf.function(jit_compile=True)
    def sweep(z, seed):
        z = gibbs.sweep(generative, x, z, seed)
        return z, generative.layers[-1].log_prob(x, z[0])

    theta, total, z = model.generative.trainable_variables, None, None
    for number, sample in enumerate(posterior.samples):
        for variable, value in zip(theta, sample.theta, strict=True):
            variable.assign(value)
        z = start(ds.random.as_seed(seed)) if z is None else z
        z, log_prob = sweep(z, ds.random.fold(ds.random.as_seed(seed), number))
        inverse = -log_prob.numpy().astype(np.float64)
        total = inverse if total is None else np.logaddexp(total, inverse)
    return float((np.log(len(posterior.samples)) - total).mean())
