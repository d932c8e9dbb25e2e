"""One doubly stochastic step: a random minibatch, random latent draws, and a random move of the weights.

    g = ∇ log p(θ given λ)/N + mean_B Σ_k w̃_k ∇ log p(x, z_k; θ),     w̃ = softmax(log w),     (z, log w) = latents.draw
    θ ← kernel step along g at temperature T/N
    λ ← draw of the auxiliary scales of shrinkage priors given θ
    φ ← optimizer step along the gradient of the proposal's surrogate

Several chains over θ share φ, which learns from the mean of their gradients; each has its own minibatch and draws.

Source: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import incomplete, random
from tfdsmcmc.latents.nais import log_mean_exp
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.training.chains import mean_over_chains, over_chains, seeds_of, specs_of
from tfdsmcmc.types import WeightedLatents


class Method(NamedTuple):
    """What a step needs besides its state.

    Attributes:
      generative: `GenerativeNetwork`, with weights θ.
      recognition: `RecognitionNetwork`, with weights φ.
      prior: `Prior` of θ.
      kernel: transition kernel of θ, its temperature that of a single row's worth of data.
      latents: how z is drawn.
      proposal: how φ learns, or None if it does not.
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

    def for_rows(self, with_gaps):
        """The method for rows in which NaN is missing, or itself where there are no gaps."""
        if not with_gaps:
            return self
        generative, recognition = incomplete.of(self.generative, self.recognition)
        return self._replace(generative=generative, recognition=recognition)

    @property
    def recognition_variables(self):
        """What the optimizer of the proposal updates: φ, and what the proposal learns for itself."""
        return [*self.recognition.trainable_variables, *getattr(self.proposal, "trainable_variables", [])]


class StepState(NamedTuple):
    """What a step changes, φ and its optimizer apart.

    Attributes:
      theta: list of tensors, the weights of the generative network.
      kernel_results: of the kernel.
      auxiliary: list of tensors, the scales λ of shrinkage priors.
      carry: where the Markov chains over z of this minibatch stand, as the latents have it; None for new ones.
    """

    theta: list
    kernel_results: Any
    auxiliary: Any = ()
    carry: Any = None


class StepMetrics(NamedTuple):
    """Scalars of a step: the mean over the rows of the estimated log p(x) and of the effective sample size of the
    weights, and the kinetic temperature v²/η of the kernel (1 where the kernel has no momentum)."""

    log_likelihood: tf.Tensor
    effective_sample_size: tf.Tensor
    kinetic_temperature: tf.Tensor


def doubly_stochastic_step(method: Method, state: StepState, x, num_rows, seed, num_chains=1):
    """One step on a minibatch, of each chain on its own. φ and its optimizer are updated in place.

    Args:
      method: `Method`.
      state: `StepState`; of several chains each tensor has a leading axis C.
      x: (B, D), or (C, B, D).
      num_rows: N, scalar.
      seed: int32 of shape (2,). Chain c of several takes the step of the seed fold(seed, c).
      num_chains: C.

    Returns:
      (`StepState`, `StepMetrics`); the metrics are means over the chains.
    """
    seeds = seeds_of(seed, num_chains)
    proposal_steps = 0 if method.proposal is None else method.proposal_steps

    def move(state, x, seed):
        state, latents, metrics = _move_theta(method, state, x, num_rows, seed)
        return state, latents if proposal_steps else (), metrics

    scalars = StepMetrics(*[tf.TensorSpec([])] * len(StepMetrics._fields))
    drawn = _latents_like(method, x) if proposal_steps else ()
    like = (specs_of(state, num_chains), drawn, scalars)
    state, latents, metrics = over_chains(move, num_chains, (state, x, seeds), like)

    phi = method.recognition_variables
    for i in range(proposal_steps):

        def descend(theta, x, latents, carry, seed, i=i):
            proposal_seed = _seeds(method, seed)[method.kernel_steps + i]
            return _recognition_gradient(method, theta, x, latents, carry, proposal_seed)

        arguments = (state.theta, x, latents, state.carry, seeds)
        like = [tf.TensorSpec(variable.shape, variable.dtype) for variable in phi]
        gradients = over_chains(descend, num_chains, arguments, like)
        method.proposal.optimizer.apply(mean_over_chains(gradients, num_chains), phi)
    return state, mean_over_chains(metrics, num_chains)


def _seeds(method, seed):
    """Of one chain's step: the seed of each kernel step, then of each proposal step, then of draws for metrics."""
    proposal_steps = 0 if method.proposal is None else method.proposal_steps
    return tf.unstack(random.split(seed, method.kernel_steps + proposal_steps + 1))


def _move_theta(method, state, x, num_rows, seed):
    """The part of a step that moves one chain: (state, the last draws, metrics)."""
    theta, kernel_results, auxiliary, carry = state
    kernel = method.kernel.copy(temperature=method.kernel.temperature / num_rows)
    seeds = _seeds(method, seed)
    latents, next_carry = None, carry
    for kernel_seed in seeds[: method.kernel_steps]:
        gradient_fn = theta_gradient(method, x, num_rows, auxiliary, next_carry)
        theta, kernel_results, (latents, moved) = kernel.integrate(gradient_fn, theta, kernel_results, kernel_seed)
        next_carry = None if carry is None else moved
    if method.kernel_steps:
        auxiliary = _update_auxiliary(method, theta, auxiliary, random.stream(seed, "auxiliary"))
    if latents is None:
        with evaluated_at(method.generative.trainable_variables, theta):
            latents, moved = _draw(method, x, seeds[-1], carry)
            next_carry = None if carry is None else moved
    return StepState(theta, kernel_results, auxiliary, next_carry), latents, _metrics(latents, kernel_results)


def _latents_like(method, x):
    """The kind of the draws for a minibatch of one chain; what they estimate for the metrics is not kept."""
    shape = [method.latents.num_samples, x.shape[-2]]
    z = [tf.TensorSpec([*shape, units]) for units in method.generative.latent_units]
    return WeightedLatents(z, tf.TensorSpec(shape))


def theta_gradient(method: Method, x, num_rows, auxiliary=(), carry=None):
    """The function (*θ, seed) → (gradient of log p(θ given X)/N from a minibatch, (the draws behind it, carry))."""
    names, variables = zip(*method.generative.named_weights)

    def gradient_fn(*theta, seed):
        with tf.GradientTape(watch_accessed_variables=False) as tape, evaluated_at(variables, theta):
            with tape.stop_recording():
                latents, next_carry = _draw(method, x, seed, carry)
                weights = tf.nn.softmax(latents.log_weights, axis=0)
            tape.watch(theta)
            log_joint = method.generative.log_joint(x, latents.z)
            likelihood = tf.reduce_mean(tf.reduce_sum(weights * log_joint, 0))
            objective = likelihood + method.prior.log_prob(names, theta, auxiliary) / num_rows
        gradients = tape.gradient(objective, list(theta), unconnected_gradients="zero")
        return gradients, (latents, next_carry)

    return gradient_fn


def _draw(method, x, seed, carry):
    return method.latents.draw(method.generative, method.recognition, x, seed, carry)


def _update_auxiliary(method, theta, auxiliary, seed):
    names = [name for name, _ in method.generative.named_weights]
    return method.prior.update_auxiliary(names, theta, auxiliary, seed) if len(auxiliary) else auxiliary


def _recognition_gradient(method, theta, x, latents, carry, seed):
    """The gradient by which the optimizer descends in φ, at the weights of one chain."""
    draw_seed, surrogate_seed = tf.unstack(random.split(seed))
    phi = method.recognition_variables
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([variable.value for variable in phi])
        with evaluated_at(method.generative.trainable_variables, theta):
            if method.proposal.redraw:
                with tape.stop_recording():
                    latents, _ = _draw(method, x, draw_seed, carry)
            loss = -method.proposal.surrogate(method.generative, method.recognition, x, latents, surrogate_seed)
    return tape.gradient(loss, [variable.value for variable in phi], unconnected_gradients="zero")


def _metrics(latents, kernel_results):
    log_likelihood = getattr(latents, "log_likelihood", None)
    if log_likelihood is None:
        log_likelihood = log_mean_exp(latents.log_weights)
    weights = tf.nn.softmax(latents.log_weights, axis=0)
    return StepMetrics(
        log_likelihood=tf.reduce_mean(log_likelihood),
        effective_sample_size=tf.reduce_mean(1.0 / tf.reduce_sum(tf.square(weights), 0)),
        kinetic_temperature=getattr(kernel_results, "kinetic_temperature", tf.ones([])),
    )
