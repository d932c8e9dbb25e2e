"""NVIL against enumeration: unbiased for the ELBO, whatever its baselines are, and less noisy with them."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, flat, tiny_model
from tests.proposals.gradients import mean_gradient, moments
from tfdsmcmc._common.types import WeightedLatents
from tfdsmcmc.rows import Rows

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
SEED = tf.constant([3, 4])


def latents_of(num_samples, rows, units=2):
    """Draws from nowhere: NVIL must not look at them."""
    return WeightedLatents([tf.ones([num_samples, rows, units])], tf.zeros([num_samples, rows]))


def learn(proposal, model, x, steps, num_samples=2, also_phi=True):
    """Real steps of the optimizer on ψ, and on φ where it may."""
    phi = model.recognition.trainable_variables if also_phi else []
    variables = [*phi, *proposal.trainable_variables]
    proposal.optimizer.build(variables)

    @tf.function(autograph=False)
    def step(seed):
        with tf.GradientTape() as tape:
            latents = latents_of(num_samples, len(x))
            loss = -proposal.surrogate(model.generative, model.recognition, x, latents, seed)
        gradients = tape.gradient(loss, [variable.value for variable in variables])
        proposal.optimizer.apply(gradients, variables)

    for seed in ds.random.split(1, steps):
        step(seed)


def foresight(proposal, x):
    """C_ψ(x), (n,), and ∇_ψ C_ψ(x), (n, m), in NumPy; zero and of width 0 without ψ."""
    if not proposal.trainable_variables:
        return np.zeros(len(x)), np.zeros((len(x), 0))
    kernel, bias, output = (variable.numpy().astype(np.float64) for variable in proposal.trainable_variables)
    hidden = np.tanh(x @ kernel + bias)
    below = output * (1 - hidden**2)
    return hidden @ output, flat([x[:, :, None] * below[:, None], below, hidden], 1)


def exact_gradient(proposal, model, x):
    """Mean and variance, each (n, m), of a single draw's part of the gradient in φ and ψ, by enumeration."""
    oracle = Oracle(model)
    c, v = float(proposal.mean), float(proposal.variance)
    baseline, in_psi = foresight(proposal, np.asarray(x, np.float64))
    signal = (oracle.log_weights(x) - baseline - c) / max(1.0, np.sqrt(v))
    in_phi = flat(oracle.q_gradient(x), 2)
    in_psi = np.broadcast_to(in_psi, (*signal.shape, in_psi.shape[1]))
    return moments(np.exp(oracle.log_q(x)), signal[:, :, None] * np.concatenate([in_phi, in_psi], -1))


def learnt(latent_units, num_samples, baseline_units):
    """A model and NVIL after real steps, with c, v and ψ that are not zero, and the scale √v > 1."""
    model = tiny_model(latent_units, seed=3, scale=2.0)
    proposal = ds.proposals.NVIL(keras.optimizers.SGD(0.03), baseline_units)
    proposal.build(3)
    learn(proposal, model, np.repeat(X, 4, 0), 6, num_samples)
    scale = np.sqrt(float(proposal.variance))
    assert abs(float(proposal.mean)) > 0.5 and scale > 1.2, "nothing to test: choose another seed"
    assert not baseline_units or np.abs(foresight(proposal, X)[0]).max() > 0.05
    return model, proposal, scale


@pytest.mark.parametrize(
    ("latent_units", "num_samples", "baseline_units", "copies"),
    [((2, 1), 2, 3, 2**13), ((2,), 2, 0, 2**13), pytest.param((2,), 1, 3, 1, marks=pytest.mark.compiled)],
)
def test_unbiased_for_the_elbo(latent_units, num_samples, baseline_units, copies):
    """2¹⁷ rows, false failures at most 1e-6. Catches a wrong sign, a missing or squared scale; and in minibatches of
    two rows a centre or a scale that depends on the draw that it is used for."""
    model, proposal, scale = learnt(latent_units, num_samples, baseline_units)
    mean, variance = exact_gradient(proposal, model, X)
    elbo_gradient = flat(Oracle(model).elbo_gradient(X), 1).mean(0)
    np.testing.assert_allclose(mean.mean(0)[: elbo_gradient.size] * scale, elbo_gradient, atol=1e-6)
    assert np.abs(elbo_gradient).max() > 0.2, "nothing to learn: choose another seed"

    calls = 2**16 // copies
    gradient = mean_gradient(proposal, model, np.repeat(X, copies, 0), num_samples, calls, jit_compile=copies == 1)
    assert_near(gradient, mean.mean(0), np.sqrt(variance.sum(0) / (copies * calls * num_samples)) / 2)


def test_the_exact_elbo_gradient_is_a_finite_difference():
    oracle, h, differences = Oracle(tiny_model((2, 1), seed=4)), 1e-5, []
    for array in (array for pair in oracle.phi for array in pair):
        for place in np.ndindex(array.shape):
            centre, values = array[place], []
            for array[place] in (centre + h, centre - h):
                values.append(oracle.elbo(X))
            array[place] = centre
            differences.append((values[0] - values[1]) / (2 * h))
    np.testing.assert_allclose(flat(oracle.elbo_gradient(X), 1).T, differences, atol=1e-8)


def test_value_and_running_moments():
    """Two steps in NumPy: c and v are used as they were and then take in l + c."""
    model = tiny_model((2,), seed=3)
    oracle, proposal = Oracle(model), ds.proposals.NVIL(baseline_units=4, decay=0.7)
    proposal.build(3)
    proposal.trainable_variables[2].assign([0.5, -1.0, 2.0, 0.3])
    proposal.mean.assign(-1.5)
    proposal.variance.assign(6.0)
    c, v = -1.5, 6.0
    baseline, _ = foresight(proposal, X)
    for seed in ds.random.split(5, 2):
        states = oracle.state(model.recognition.sample(X, 5, seed))
        log_q, log_weights = (values[states, [0, 1]] for values in (oracle.log_q(X), oracle.log_weights(X)))
        foreseen = log_weights - baseline
        want = ((foreseen - c) / max(1.0, np.sqrt(v)) * (log_q + baseline)).mean()
        c, v = 0.7 * c + 0.3 * foreseen.mean(), 0.7 * v + 0.3 * foreseen.var()
        got = proposal.surrogate(model.generative, model.recognition, X, latents_of(5, 2), seed)
        np.testing.assert_allclose(got, want, rtol=1e-4)
        np.testing.assert_allclose([proposal.mean, proposal.variance], [c, v], rtol=1e-5)


def test_rows_count_in_the_moments_as_often_as_in_the_gradient():
    """By hand, of two weights; where no row counts, the moments stay."""
    model, weight = tiny_model((2,), seed=3), np.array([[3.0], [0.5]], np.float32)
    oracle, proposal = Oracle(model), ds.proposals.NVIL(baseline_units=0, decay=0.0)
    proposal.build(3)
    states = oracle.state(model.recognition.sample(X, 5, SEED))
    values = oracle.log_weights(X)[states, [0, 1]]
    for counts in (weight, 0 * weight):
        proposal.surrogate(model.generative, model.recognition, Rows(X, weight=counts), latents_of(5, 2), SEED)
        want = np.average(values, weights=np.broadcast_to(weight[:, 0], values.shape))
        variance = np.average((values - want) ** 2, weights=np.broadcast_to(weight[:, 0], values.shape))
        np.testing.assert_allclose([proposal.mean, proposal.variance], [want, variance], rtol=1e-4)


def test_draws_are_constants_for_continuous_layers_too():
    """A reparametrised draw must not add its path to the score function's gradient."""
    model = tiny_model((2,), seed=3)
    recognition = ds.RecognitionNetwork([ds.layers.MLPGaussian(2, hidden_units=[3])])
    recognition.build((None, 3))
    phi = [variable.value for variable in recognition.trainable_variables]
    proposal = ds.proposals.NVIL(baseline_units=0)
    proposal.build(3)
    z = [tf.constant(part.numpy()) for part in recognition.sample(X, 5, SEED)]
    signal = tf.constant((model.generative.log_joint(X, z) - recognition.log_prob(z, X)).numpy())
    with tf.GradientTape(persistent=True) as tape:
        got = proposal.surrogate(model.generative, recognition, X, latents_of(5, 2), SEED)
        want = tf.reduce_mean(signal * recognition.log_prob(z, X))
    np.testing.assert_allclose(flat(tape.gradient(got, phi)), flat(tape.gradient(want, phi)), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_baselines_reduce_the_variance():
    """Exact variances of the gradient in φ, over all eight rows: none > c alone > c and C_ψ."""
    model, x = tiny_model((2,), seed=1), binary_states(3).astype(np.float32)
    width = sum(part.size for part in Oracle(model).phi[0])
    noise = []
    for baseline_units, steps in ((0, 0), (0, 200), (10, 200)):
        proposal = ds.proposals.NVIL(keras.optimizers.Adam(0.05), baseline_units, decay=0.95)
        proposal.build(3)
        if steps:
            learn(proposal, model, x, steps, num_samples=20, also_phi=False)
        _, variance = exact_gradient(proposal, model, x)
        # in units of the ELBO's gradient
        noise.append(variance[:, :width].sum() * max(1.0, float(proposal.variance)))
    assert noise[1] < 0.7 * noise[0] and noise[2] < 0.7 * noise[1], noise


def test_a_draw_that_is_not_finite_leaves_the_running_moments():
    model = tiny_model((2,), seed=3)
    proposal = ds.proposals.NVIL(baseline_units=0)
    proposal.build(3)
    proposal.mean.assign(2.0)
    proposal.surrogate(model.generative, model.recognition, np.full([2, 3], np.nan), latents_of(5, 2), SEED)
    assert (float(proposal.mean), float(proposal.variance)) == (2.0, 0.0)


def test_the_width_is_kept():
    model, proposal = tiny_model((2,)), ds.proposals.NVIL(baseline_units=4)
    with pytest.raises(ValueError, match="Call build .* Received: shape="):
        proposal.surrogate(model.generative, model.recognition, X, latents_of(5, 2), SEED)
    proposal.build(5)
    with pytest.raises(ValueError, match="Received: units=3"):
        proposal.build(3)
    with pytest.raises(ValueError, match="Received: shape="):
        proposal.surrogate(model.generative, model.recognition, X, latents_of(5, 2), SEED)


@pytest.mark.parametrize(
    "argument", [{"decay": 1.0}, {"decay": -0.1}, {"decay": True}, {"baseline_units": -1}, {"seed": "x"}]
)
def test_arguments_are_checked(argument):
    with pytest.raises(ValueError, match=f"Received: {next(iter(argument))}="):
        ds.proposals.NVIL(**argument)
