"""The wake objective's gradient against enumeration: its exact mean at K draws, and its limit E[∇ log q given x]."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, flat, self_normalized, self_normalized_limit, tiny_model
from tfdsmcmc._common.types import WeightedLatents

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)


def surrogate_gradients(model, x, num_samples, calls):
    """The gradient in φ, one flat vector, and that in θ: float64 means over several calls, as a long float32 sum
    of a few distinct values rounds to one side."""
    phi = [variable.value for variable in model.recognition.trainable_variables]
    theta = [variable.value for variable in model.generative.trainable_variables]
    nais, wake = ds.latents.NAIS(num_samples), ds.proposals.Wake()

    @tf.function(jit_compile=True)
    def compute(seed):
        with tf.GradientTape(persistent=True) as tape:
            latents, _ = nais.draw(model.generative, model.recognition, x, seed)
            surrogate = wake.surrogate(model.generative, model.recognition, x, latents, seed)
        return tape.gradient(surrogate, phi), tape.gradient(surrogate, theta, unconnected_gradients="zero")

    in_phi, in_theta = zip(*(compute(seed) for seed in ds.random.split(0, calls)))
    return np.mean([flat(g) for g in in_phi], 0), np.mean([flat(g) for g in in_theta], 0)


@pytest.mark.parametrize("num_samples", [1, 2, 5])
def test_the_mean_gradient_is_exact_at_any_number_of_samples(num_samples):
    """Many copies of each of two rows; false failures at most 1e-6."""
    model = tiny_model((2,), seed=1)
    oracle, copies, calls = Oracle(model), 2**12, 8
    values = flat(oracle.q_gradient(X), 2)
    log_q, log_weights = oracle.log_q(X), oracle.log_weights(X)
    rows = [self_normalized(log_q[:, i], log_weights[:, i], values[:, i], num_samples) for i in range(2)]
    mean = np.mean([row[0] for row in rows], 0)
    error = np.sqrt(np.sum([row[1] ** 2 for row in rows], 0) / (copies * calls)) / 2
    gradient, _ = surrogate_gradients(model, np.repeat(X, copies, 0), num_samples, calls)
    assert_near(gradient, mean, error)


@pytest.mark.parametrize("latent_units", [(2,), pytest.param((2, 1), marks=pytest.mark.slow)])
def test_the_limit_is_the_expectation_under_the_posterior(latent_units):
    """4,096 draws of each row, 64 times over; false failures at most 1e-6."""
    model = tiny_model(latent_units, seed=1, scale=0.7)
    oracle, num_samples, calls = Oracle(model), 2**12, 64
    values = flat(oracle.q_gradient(X), 2)
    mean, deviation = self_normalized_limit(oracle.log_q(X), oracle.log_weights(X), values, num_samples)
    np.testing.assert_allclose(mean, flat(oracle.wake_gradient(X), 1), atol=5e-3)
    gradient, in_theta = surrogate_gradients(model, X, num_samples, calls)
    assert_near(gradient, mean.mean(0), np.sqrt((deviation**2).sum(0) / calls) / 2)
    np.testing.assert_array_equal(in_theta, 0.0)


def test_value():
    """mean_B Σ_k w̃_k log q(z_k given x) from given draws, in NumPy."""
    model = tiny_model((2,), seed=3)
    oracle, rng = Oracle(model), np.random.default_rng(0)
    states, log_weights = rng.integers(0, 4, (5, 2)), rng.normal(0.0, 3.0, (5, 2))
    latents = WeightedLatents([tf.constant(oracle.z[0][states], tf.float32)], tf.constant(log_weights, tf.float32))
    weights = np.exp(log_weights) / np.exp(log_weights).sum(0)
    want = (weights * oracle.log_q(X)[states, [0, 1]]).sum(0).mean()
    got = ds.proposals.Wake().surrogate(model.generative, model.recognition, X, latents, None)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_config_round_trip():
    wake = ds.proposals.Wake(keras.optimizers.Adam(3e-4, beta_1=0.8), redraw=True)
    twin = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(wake))
    assert isinstance(twin, ds.proposals.Wake) and twin.redraw is True
    assert twin.optimizer.get_config() == wake.optimizer.get_config()


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="Received: redraw="):
        ds.proposals.Wake(redraw="yes")
    with pytest.raises(ValueError, match="optimizer"):
        ds.proposals.Wake("no such thing")
    with pytest.raises(ValueError, match="Received: optimizer=None"):
        ds.proposals.Wake(None)


@pytest.mark.parametrize(
    ("latents", "proposal", "kernel", "told"),
    [
        (lambda: ds.latents.NAIS(1), ds.proposals.Wake, ds.mcmc.SGNHT, 1),
        (lambda: ds.latents.NAIS(5, climbing_samples=1), ds.proposals.Wake, ds.mcmc.SGNHT, 0),
        (lambda: ds.latents.NAIS(5, climbing_samples=1), ds.proposals.Wake, None, 1),
        (lambda: ds.latents.NAIS(1, climbing_samples=5), ds.proposals.Wake, None, 1),
        (lambda: ds.latents.NAIS(1), lambda: ds.proposals.WakeSleep(sleep_weight=0.0), ds.mcmc.SGNHT, 1),
        (lambda: ds.latents.NAIS(1), ds.proposals.WakeSleep, ds.mcmc.SGNHT, 0),
        (lambda: ds.latents.NAIS(2), ds.proposals.Wake, ds.mcmc.SGNHT, 0),
        (lambda: ds.latents.Gibbs(1), ds.proposals.Wake, ds.mcmc.SGNHT, 0),
    ],
)
def test_a_single_importance_sample_tells_nothing(latents, proposal, kernel, told):
    """Of a stage that there is: a kernel without a warm start does not climb."""
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT()) if kernel is None else kernel()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tiny_model((2,)).compile(kernel=kernel, latents=latents(), proposal=proposal(), jit_compile=False)
    found = [str(one.message) for one in found if "walk at random" in str(one.message)]
    assert len(found) == told and all(one.endswith("Received: NAIS of one sample") for one in found)
