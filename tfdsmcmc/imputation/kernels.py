"""Markov chains over (x_missing, z) whose stationary law is p(x_missing, z given x_observed; θ).

    gibbs         each unit of z_1, …, z_L in turn from its law given all the rest
    metropolis    z' ~ q(z given x), x with its present fillings, accepted with probability
                  min(1, p(x, z') q(z given x) / (p(x, z) q(z' given x)))

and then, in both, x_missing given z and x_observed. Where the units of the data layer are independent given z that is
an exact draw; `gibbs` then draws z given x_observed alone, with x_missing summed out, for a z that had to explain what
stands in the gaps, noise at first, would be slow to leave it. Where they are not, `gibbs` draws each missing unit in
turn given all other units, and `metropolis` proposes all of them at once by `complete`, with log w(x) =
Σ_{d observed} log p(x_d given x_<d, z), and accepts them with probability min(1, w(x')/w(x)).

Without the test of acceptance, z' ~ q(z given x) leads to another law unless q is the posterior: that is the
"pseudo-Gibbs" sampler of Rezende, Mohamed and Wierstra, "Stochastic backpropagation and approximate inference in deep
generative models", ICML 2014, which is biased.

Source of the correction: Mattei and Frellsen, "Leveraging the exact likelihood of deep latent variable models", NeurIPS
2018. Of summing out: Liu, "The collapsed Gibbs sampler in Bayesian computations with applications to a gene regulation
problem", Journal of the American Statistical Association 89 (1994).
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.sweeps import generative_factors, sweep


def noise(generative, shape, seed):
    """What stands in the gaps at first: fair coins, or standard normal draws."""
    return random.bernoulli(tf.zeros(shape), seed) if generative.binary_data else random.normal(shape, seed)


def start(generative, recognition, x, observed, seed):
    """A first state (x, z): noise in the gaps and z from the recognition network.

    Rows with nothing observed start with a draw from the model itself, which is an exact one.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (n, D); what is not observed may have any finite value.
      observed: (n, D), booleans.
      seed: int32 of shape (2,).
    """
    noise_seed, latent_seed, model_seed = tf.unstack(random.split(seed, 3))
    x = tf.where(observed, x, noise(generative, tf.shape(x), noise_seed))
    z = [part[0] for part in recognition.sample(x, 1, latent_seed)]
    model_x, model_z = generative.sample(tf.shape(x)[0], model_seed)
    some = tf.reduce_any(observed, 1, keepdims=True)
    return tf.where(some, x, model_x), [tf.where(some, *pair) for pair in zip(z, model_z)]


def gibbs(generative, recognition, x, z, observed, seed):
    """One sweep over all latent layers, from the data upwards, and the missing entries.

    Args:
      generative: `GenerativeNetwork` of binary latent layers.
      recognition: not used.
      x: (n, D).
      z: list of (n, H_l).
      observed: (n, D), booleans.
      seed: int32 of shape (2,).

    Returns:
      (x, z, None).
    """
    seeds = tf.unstack(random.split(seed, len(z) + 1))
    data_layer = generative.layers[-1]
    summed_out = tf.cast(observed, x.dtype) if data_layer.factorised else None
    factors, values = generative_factors(generative, observed=summed_out), [x, *z]
    for place in range(1, len(values)):
        values[place] = sweep(factors, values, place, seeds[place])
    if data_layer.factorised:
        values[0] = data_layer.complete(x, observed, parents_of_data(x, values[1:]), seeds[0])[0]
    else:
        values[0] = sweep(factors, values, 0, seeds[0], tf.logical_not(observed))
    return values[0], values[1:], None


def metropolis(generative, recognition, x, z, observed, seed):
    """One proposal of z and one of the missing entries; arguments as for `gibbs`, any layers.

    Returns:
      (x, z, accepted): the share of the proposals that was accepted, (n,).
    """
    latent_seed, data_seed = tf.unstack(random.split(seed))
    shares = []
    if z:
        z, accepted = _move_latents(generative, recognition, x, z, latent_seed)
        shares.append(accepted)
    x, accepted = _move_data(generative.layers[-1], x, z, observed, data_seed)
    if accepted is not None:
        shares.append(accepted)
    return x, z, sum(shares) / len(shares) if shares else tf.ones(tf.shape(x)[:1])


KERNELS = {"gibbs": gibbs, "metropolis": metropolis}


def parents_of_data(x, z):
    """z_1, or what stands for it in a network without latent layers, (n, 0)."""
    return z[0] if z else tf.zeros([tf.shape(x)[0], 0])


def expected(generative, x, z, observed):
    """The mean of the missing entries given z and x_observed; x itself where the units depend on each other."""
    data_layer = generative.layers[-1]
    if not data_layer.factorised:
        return x
    return tf.where(observed, x, data_layer.conditional_mean(x, parents_of_data(x, z)))


def _move_latents(generative, recognition, x, z, seed):
    proposal_seed, accept_seed = tf.unstack(random.split(seed))
    proposed, log_q = recognition.sample_and_log_prob(x, 1, proposal_seed)
    proposed, log_q = [part[0] for part in proposed], log_q[0]
    log_ratio = generative.log_joint(x, proposed) - log_q
    log_ratio -= generative.log_joint(x, z) - recognition.log_prob(z, x)
    accepted = _accepted(log_ratio, accept_seed)
    z = [tf.where(accepted[:, tf.newaxis], *pair) for pair in zip(proposed, z)]
    return z, tf.cast(accepted, x.dtype)


def _move_data(layer, x, z, observed, seed):
    """(x, which proposals were accepted); None for the second where each is an exact draw."""
    proposal_seed, accept_seed = tf.unstack(random.split(seed))
    parents = parents_of_data(x, z)
    proposed, log_weight = layer.complete(x, observed, parents, proposal_seed)
    if layer.factorised:
        return proposed, None
    accepted = _accepted(log_weight - layer.completion_log_weight(x, observed, parents), accept_seed)
    return tf.where(accepted[:, tf.newaxis], proposed, x), tf.cast(accepted, x.dtype)


def _accepted(log_ratio, seed):
    return tf.math.log(random.open_uniform(tf.shape(log_ratio), seed)) < log_ratio
