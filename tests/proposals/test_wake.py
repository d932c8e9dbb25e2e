"""The wake objective's gradient against enumeration: its exact mean at K draws, and its limit E[∇ log q given x]."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, self_normalized, tiny_model
from tfdsmcmc.types import WeightedLatents

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)


def surrogate_gradients(model, x, num_samples, seed=0):
    """The gradient in φ, one flat vector, and that in θ."""
    phi = [variable.value for variable in model.recognition.trainable_variables]
    theta = [variable.value for variable in model.generative.trainable_variables]

    @tf.function(jit_compile=True)
    def compute():
        with tf.GradientTape(persistent=True) as tape:
            latents, _ = ds.latents.NAIS(num_samples).draw(model.generative, model.recognition, x, seed)
            surrogate = ds.proposals.Wake().surrogate(model.generative, model.recognition, x, latents, seed)
        return tape.gradient(surrogate, phi), tape.gradient(surrogate, theta, unconnected_gradients="zero")

    in_phi, in_theta = compute()
    return flat(in_phi, 0), flat(in_theta, 0)


def flat(parts, axes):
    parts = [np.asarray(part) for part in parts]
    return np.concatenate([part.reshape(*part.shape[:axes], -1) for part in parts], -1)


@pytest.mark.parametrize("num_samples", [1, 2, 5])
def test_the_mean_gradient_is_exact_at_any_number_of_samples(num_samples):
    """Many copies of each of two rows; false failures at most 1e-6."""
    model = tiny_model((2,), seed=1)
    oracle, copies = Oracle(model), 2**15
    values = flat(oracle.q_gradient(X), 2)
    log_q, log_weights = oracle.log_q(X), oracle.log_weights(X)
    rows = [self_normalized(log_q[:, i], log_weights[:, i], values[:, i], num_samples) for i in range(2)]
    mean = np.mean([row[0] for row in rows], 0)
    error = np.sqrt(np.sum([row[1] ** 2 for row in rows], 0) / copies) / 2
    gradient, _ = surrogate_gradients(model, np.repeat(X, copies, 0), num_samples)
    assert_near(gradient, mean, error)


@pytest.mark.parametrize("latent_units", [(2,), (2, 1)])
def test_the_limit_is_the_expectation_under_the_posterior(latent_units):
    """Standard errors by the delta method, √Σ q w² (v − v̄)² / K with w = p(z given x)/q; the bias is of order 1/K."""
    model = tiny_model(latent_units, seed=2)
    oracle, num_samples = Oracle(model), 2**18
    exact = flat(oracle.wake_gradient(X), 1)
    values = flat(oracle.q_gradient(X), 2)
    ratio = np.exp(2 * np.log(oracle.posterior(X)) - oracle.log_q(X))
    variance = np.einsum("sn,snm->nm", ratio, (values - exact) ** 2) / num_samples
    gradient, in_theta = surrogate_gradients(model, X, num_samples)
    assert_near(gradient, exact.mean(0), np.sqrt(variance.mean(0) / 2))
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
