"""One doubly stochastic step: the order of its parts, and what each is given, against spies."""

from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, flat, tiny_model
from tests.training.support import SEED, X, batch_of, phi_of, step_of, theta_of
from tfdsmcmc.training.steps.doubly_stochastic import StepState


class Results(NamedTuple):
    kinetic_temperature: tf.Tensor
    skipped_steps: tf.Tensor


class SpyKernel:
    """Moves every weight by `move` and notes what it was given."""

    def __init__(self, move=0.1, temperature=2.0, calls=None):
        self.move, self.temperature = move, temperature
        self.calls = [] if calls is None else calls

    def copy(self, temperature):
        return SpyKernel(self.move, temperature, self.calls)

    def integrate(self, gradient_fn, state, results, seed):
        gradients, aux = gradient_fn(*state, seed=seed)
        self.calls.append({"temperature": self.temperature, "state": state, "aux": aux, "seed": tuple(seed.numpy())})
        return [part + self.move for part in state], results, aux

    def kinetic_temperature(self, results):
        return results.kinetic_temperature

    def samples(self, results):
        return tf.constant(True)


class SpyProposal(ds.proposals.Wake):
    """Notes the draws it learns from and the weights of the generative network."""

    def __init__(self, redraw):
        super().__init__(keras.optimizers.SGD(0.1), redraw)
        self.calls = []

    def surrogate(self, generative, recognition, x, latents, seed):
        theta = [tf.convert_to_tensor(variable.value) for variable in generative.trainable_variables]
        self.calls.append({"latents": latents, "theta": theta, "seed": tuple(seed.numpy())})
        return super().surrogate(generative, recognition, x, latents, seed)


def spied_step(model, kernel_steps=1, proposal_steps=1, redraw=False, num_rows=50.0, **options):
    kernel, proposal = SpyKernel(), SpyProposal(redraw)
    step = step_of(model, kernel, 5, proposal, kernel_steps, proposal_steps, **options)
    results = Results(tf.constant(1.25), tf.constant(0))
    state, metrics = step.step(StepState(theta_of(model), results), batch_of(X, num_rows), SEED)
    return kernel, proposal, state.weights, metrics


def test_kernel_steps_follow_each_other_at_temperature_over_n():
    model = tiny_model((2,), seed=6)
    start = flat(theta_of(model))
    kernel, _, theta, _ = spied_step(model, kernel_steps=3, num_rows=50.0)
    assert [float(call["temperature"]) for call in kernel.calls] == pytest.approx([2.0 / 50.0] * 3)
    assert len({call["seed"] for call in kernel.calls}) == 3
    for i, call in enumerate(kernel.calls):
        np.testing.assert_allclose(flat(call["state"]), start + 0.1 * i, rtol=1e-5)
    np.testing.assert_allclose(flat(theta), start + 0.3, rtol=1e-5)
    # θ is a value: the variables have not moved
    np.testing.assert_array_equal(flat(theta_of(model)), start)


def test_without_kernel_steps_only_phi_learns():
    model = tiny_model((2,), seed=6)
    phi = flat(phi_of(model))
    kernel, proposal, theta, metrics = spied_step(model, kernel_steps=0)
    assert kernel.calls == [] and len(proposal.calls) == 1
    np.testing.assert_array_equal(flat(theta), flat(theta_of(model)))
    assert np.any(flat(phi_of(model)) != phi) and np.isfinite(metrics["log_likelihood"])


def test_without_proposal_steps_only_theta_moves():
    model = tiny_model((2,), seed=6)
    phi = flat(phi_of(model))
    kernel, proposal, _, _ = spied_step(model, proposal_steps=0)
    assert len(kernel.calls) == 1 and proposal.calls == [] and int(proposal.optimizer.iterations) == 0
    np.testing.assert_array_equal(flat(phi_of(model)), phi)


def test_proposal_steps_climb_the_surrogate():
    """SGD with rate 0.1: φ moves by 0.1 times the exact gradient Σ w̃ ∇ log q at the draws of the kernel's step."""
    model = tiny_model((2,), seed=7)
    oracle, phi = Oracle(model), flat(phi_of(model))
    kernel, proposal, _, _ = spied_step(model)
    z, log_weights, _ = kernel.calls[0]["aux"][0]
    weights = np.exp(log_weights) / np.exp(log_weights).sum(0)
    gradients = flat(oracle.q_gradient(X), 2)[oracle.state(z), [0, 1]]
    want = np.einsum("kn,knm->nm", weights, gradients).mean(0)
    np.testing.assert_allclose(flat(phi_of(model)) - phi, 0.1 * want, rtol=1e-3, atol=1e-6)
    assert int(proposal.optimizer.iterations) == 1


def test_without_redraw_the_draws_of_the_last_kernel_step_are_used():
    kernel, proposal, theta, _ = spied_step(tiny_model((2,), seed=8), kernel_steps=2, proposal_steps=3)
    assert len(proposal.calls) == 3 and int(proposal.optimizer.iterations) == 3
    first, last = (call["aux"][0] for call in kernel.calls)
    assert (first.log_weights.numpy() != last.log_weights.numpy()).any()
    for call in proposal.calls:
        for part, expected in zip(tf.nest.flatten(call["latents"]), tf.nest.flatten(last), strict=True):
            np.testing.assert_array_equal(part, expected)
        np.testing.assert_array_equal(flat(call["theta"]), flat(theta))
    assert len({call["seed"] for call in proposal.calls}) == 3


def test_redraw_draws_anew_at_the_moved_theta_and_the_present_phi():
    model = tiny_model((2,), seed=9)
    moved = tiny_model((2,), seed=9)
    for variable in moved.generative.trainable_variables:
        variable.assign(variable + 0.1)
    kernel, proposal, _, _ = spied_step(model, proposal_steps=2, redraw=True)
    first, second = (call["latents"] for call in proposal.calls)
    oracle = Oracle(moved)
    exact = oracle.log_weights(X)[oracle.state(first.z), [0, 1]]
    np.testing.assert_allclose(first.log_weights, exact, rtol=1e-4, atol=1e-5)
    old = kernel.calls[-1]["aux"][0]
    assert np.any(first.z[0] != old.z[0]) and np.any(first.z[0] != second.z[0])


@pytest.mark.parametrize("kernel_steps", [0, 2])
def test_metrics(kernel_steps):
    """log (1/K) Σ w and (Σ w)²/Σ w², averaged over the rows, from the draws that were last made for θ."""
    model = tiny_model((2,), seed=10)
    kernel, proposal, _, metrics = spied_step(model, kernel_steps=kernel_steps)
    latents = kernel.calls[-1]["aux"][0] if kernel_steps else proposal.calls[0]["latents"]
    w = np.exp(np.asarray(latents.log_weights, np.float64))
    np.testing.assert_allclose(metrics["log_likelihood"], np.log(w.mean(0)).mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["effective_sample_size"], (w.sum(0) ** 2 / (w**2).sum(0)).mean(), rtol=1e-5)
    assert float(metrics["kinetic_temperature"]) == 1.25


def test_a_kernel_without_momentum_has_kinetic_temperature_one():
    model = tiny_model((2,))
    kernel = ds.mcmc.SGLD(learning_rate=0.01)
    results = kernel.bootstrap_results(theta_of(model))
    state = StepState(theta_of(model), results)
    _, metrics = step_of(model, kernel).step(state, batch_of(X), SEED)
    assert float(metrics["kinetic_temperature"]) == 1.0


@pytest.mark.slow
def test_jitted_and_eager_steps_agree():
    kernel = ds.mcmc.SGNHT(learning_rate=0.01)
    theta, phi = [], []
    for jit_compile in (False, True):
        model = tiny_model((2, 2), seed=11)
        made = step_of(model, kernel, proposal=ds.proposals.Wake(keras.optimizers.Adam(0.1), redraw=True))

        def step(theta, results, made=made):
            return made.step(StepState(theta, results), batch_of(X), SEED)

        if jit_compile:
            step = tf.function(step, jit_compile=True, autograph=False)
        (moved, *_), _ = step(theta_of(model), kernel.bootstrap_results(theta_of(model), seed=1))
        theta.append(flat(moved))
        phi.append(flat(phi_of(model)))
    np.testing.assert_allclose(theta[0], theta[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(phi[0], phi[1], rtol=1e-4, atol=1e-5)
    assert np.any(theta[0] != flat(theta_of(model)))


class SpyPrior(ds.Prior):
    """Notes where the scales are drawn."""

    def __init__(self):
        super().__init__(ds.priors.Horseshoe())
        self.updates, self.given = [], []

    def update_auxiliary(self, names, values, auxiliary, seed):
        self.updates.append((flat(values), auxiliary, tuple(seed.numpy())))
        return super().update_auxiliary(names, values, auxiliary, seed)

    def log_prob(self, names, values, auxiliary=()):
        self.given.append(auxiliary)
        return super().log_prob(names, values, auxiliary)


def test_scales_are_drawn_once_a_step_given_the_moved_weights():
    """From a seed of their own, after all kernel steps, which see the scales of before."""
    prior, kernel = SpyPrior(), SpyKernel()
    model = tiny_model((2,), seed=6, prior=prior)
    step = step_of(model, kernel, kernel_steps=2)
    names = [name for name, _ in model.generative.named_weights]
    results = Results(tf.constant(1.0), tf.constant(0))
    start = StepState(theta_of(model), results, prior.initial_auxiliary(names, theta_of(model), 1))
    state, _ = step.step(start, batch_of(X), SEED)
    ((theta, auxiliary, seed),) = prior.updates
    np.testing.assert_array_equal(theta, flat(state.weights))
    assert np.all(theta != flat(start.weights)) and auxiliary is start.auxiliary
    assert len(prior.given) == 2 and all(given is start.auxiliary for given in prior.given)
    split = {tuple(s) for n in range(1, 6) for s in ds.random.split(SEED, n).numpy()}
    assert seed not in split and seed not in {call["seed"] for call in kernel.calls}
    wanted = ds.Prior.update_auxiliary(prior, names, state.weights, auxiliary, list(seed))
    for new, same in zip(state.auxiliary, wanted):
        np.testing.assert_array_equal(new, same)
    frozen, _ = step_of(model, kernel, kernel_steps=0).step(start, batch_of(X), SEED)
    assert frozen.auxiliary is start.auxiliary


def test_different_seeds_move_differently():
    model = tiny_model((2,))
    kernel = ds.mcmc.SGLD(learning_rate=0.01)
    step = step_of(model, kernel, proposal_steps=0)
    results = kernel.bootstrap_results(theta_of(model))
    moves = [
        flat(step.step(StepState(theta_of(model), results), batch_of(X), tf.constant(seed))[0].weights)
        for seed in ([0, 1], [0, 1], [0, 2])
    ]
    np.testing.assert_array_equal(moves[0], moves[1])
    assert np.all(moves[0] != moves[2])
