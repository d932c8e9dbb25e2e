"""One doubly stochastic step: a random minibatch, random latent draws, and a random move of the weights.

    g = ∇ log p(θ)/N + mean_B Σ_k w̃_k ∇ log p(x, z_k; θ),     w̃ = softmax(log w),     (z, log w) = latents.draw
    θ ← kernel step along g at temperature T/N
    φ ← optimizer step along the gradient of the proposal's surrogate

Source: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018).
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks import evaluated_at


class Method(NamedTuple):
    """What a step needs besides its state.

    Attributes:
      generative: `GenerativeNetwork`, with weights θ.
      recognition: `RecognitionNetwork`, with weights φ.
      prior: `Prior` of θ.
      kernel: transition kernel of θ, its temperature that of a single row's worth of data.
      latents: how z is drawn.
      proposal: how φ learns.
      kernel_steps: θ-updates a minibatch.
      proposal_steps: φ-updates a minibatch.
    """

    generative: object
    recognition: object
    prior: object
    kernel: object
    latents: object
    proposal: object
    kernel_steps: int
    proposal_steps: int


class StepMetrics(NamedTuple):
    """Scalars of a step: the mean over the rows of the estimated log p(x) and of the effective sample size of the
    weights, and the kinetic temperature v²/η of the kernel (1 where the kernel has no momentum)."""

    log_likelihood: tf.Tensor
    effective_sample_size: tf.Tensor
    kinetic_temperature: tf.Tensor


def doubly_stochastic_step(method: Method, theta, kernel_results, x, num_rows, seed):
    """One step on a minibatch. φ and its optimizer are updated in place.

    Args:
      method: `Method`.
      theta: list of tensors, the weights of the generative network.
      kernel_results: of the kernel.
      x: (B, D).
      num_rows: N, scalar.
      seed: int32 of shape (2,).

    Returns:
      (theta, kernel_results, `StepMetrics`).
    """
    gradient_fn = theta_gradient(method, x, num_rows)
    kernel = method.kernel.copy(temperature=method.kernel.temperature / num_rows)
    seeds = tf.unstack(random.split(seed, method.kernel_steps + method.proposal_steps + 1))
    latents = None
    for kernel_seed in seeds[: method.kernel_steps]:
        theta, kernel_results, latents = kernel.integrate(gradient_fn, theta, kernel_results, kernel_seed)

    with evaluated_at(method.generative.trainable_variables, theta):
        if latents is None:
            latents, _ = method.latents.draw(method.generative, method.recognition, x, seeds[-1])
    metrics = _metrics(latents.log_weights, kernel_results)
    for proposal_seed in seeds[method.kernel_steps : -1]:
        _update_recognition(method, theta, x, latents, proposal_seed)
    return theta, kernel_results, metrics


def theta_gradient(method: Method, x, num_rows):
    """The function (*θ, seed) → (gradient of log p(θ given X)/N from a minibatch, the draws behind it)."""
    names, variables = zip(*method.generative.named_weights)

    def gradient_fn(*theta, seed):
        with tf.GradientTape(watch_accessed_variables=False) as tape, evaluated_at(variables, theta):
            with tape.stop_recording():
                latents, _ = method.latents.draw(method.generative, method.recognition, x, seed)
                weights = tf.nn.softmax(latents.log_weights, axis=0)
            tape.watch(theta)
            log_joint = method.generative.log_joint(x, latents.z)
            likelihood = tf.reduce_mean(tf.reduce_sum(weights * log_joint, 0))
            objective = likelihood + method.prior.log_prob(names, theta) / num_rows
        return tape.gradient(objective, list(theta), unconnected_gradients="zero"), latents

    return gradient_fn


def _update_recognition(method, theta, x, latents, seed):
    draw_seed, surrogate_seed = tf.unstack(random.split(seed))
    phi = method.recognition.trainable_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([variable.value for variable in phi])
        with evaluated_at(method.generative.trainable_variables, theta):
            if method.proposal.redraw:
                with tape.stop_recording():
                    latents, _ = method.latents.draw(method.generative, method.recognition, x, draw_seed)
            loss = -method.proposal.surrogate(method.generative, method.recognition, x, latents, surrogate_seed)
    gradients = tape.gradient(loss, [variable.value for variable in phi], unconnected_gradients="zero")
    method.proposal.optimizer.apply(gradients, phi)


def _metrics(log_weights, kernel_results):
    count = tf.cast(tf.shape(log_weights)[0], log_weights.dtype)
    likelihood = tf.reduce_logsumexp(log_weights, 0) - tf.math.log(count)
    weights = tf.nn.softmax(log_weights, axis=0)
    return StepMetrics(
        log_likelihood=tf.reduce_mean(likelihood),
        effective_sample_size=tf.reduce_mean(1.0 / tf.reduce_sum(tf.square(weights), 0)),
        kinetic_temperature=getattr(kernel_results, "kinetic_temperature", tf.ones([])),
    )
