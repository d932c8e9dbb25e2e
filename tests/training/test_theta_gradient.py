"""The θ-gradient of a step against enumeration."""


import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, flat, self_normalized, self_normalized_limit, tiny_model
from tests.training.support import SEED, X, estimator_of, theta_of

tfd = tfp.distributions


FLAT = {"": None}


def gradient(estimator, theta, num_rows=1.0, seed=SEED, x=X):
    return estimator.gradient(theta, x, num_rows, (), None, seed)


def measured(model, x, num_samples, num_rows=1.0, calls=1, seed=0):
    """The θ-gradient, one flat vector: a float64 mean over several calls, as a long float32 sum of a few distinct
    values rounds to one side."""
    estimator, x = estimator_of(model, num_samples), tf.constant(x)
    compute = tf.function(lambda theta, seed: gradient(estimator, theta, num_rows, seed, x)[0], jit_compile=True)
    return np.mean([flat(compute(theta_of(model), s)) for s in ds.random.split(seed, calls)], 0, dtype=np.float64)


def exact_prior_gradient(model):
    """∇ log p(θ) of a Normal(0.1, 0.5) prior."""
    return -(flat(theta_of(model)).astype(np.float64) - 0.1) / 0.25


@pytest.mark.parametrize("latent_units", [(2,), (2, 1), pytest.param((1, 1, 1), marks=pytest.mark.slow)])
def test_with_many_samples_it_is_the_gradient_of_the_log_posterior(latent_units):
    """mean_B ∇ log p(x) + ∇ log p(θ)/N, from 4,096 draws of each row, 32 times over; false failures at most 1e-6.
    Catches a wrong weight, a missing row mean, a missing 1/N."""
    model = tiny_model(latent_units, seed=1, scale=0.7, prior=tfd.Normal(0.1, 0.5))
    oracle, num_samples, num_rows, calls = Oracle(model), 2**12, 7.0, 32
    values = flat(oracle.joint_gradient(X), 2)
    mean, deviation = self_normalized_limit(oracle.log_q(X), oracle.log_weights(X), values, num_samples)
    np.testing.assert_allclose(mean, flat(oracle.likelihood_gradient(X), 1), atol=5e-3)
    exact = mean.mean(0) + exact_prior_gradient(model) / num_rows
    error = np.sqrt((deviation**2).sum(0) / calls) / 2
    assert_near(measured(model, X, num_samples, num_rows, calls), exact, error)


@pytest.mark.slow
def test_with_few_samples_its_bias_is_exact_and_falls_as_one_over_k():
    """Copies of one row, so that the mean over the minibatch is an average of independent replicates; the exact
    mean at K draws comes from all multisets of K states. False failures at most 1e-6."""
    model = tiny_model((2,), seed=2, prior=FLAT)
    oracle, x = Oracle(model), X[:1]
    log_q, log_weights = oracle.log_q(x)[:, 0], oracle.log_weights(x)[:, 0]
    values = flat(oracle.joint_gradient(x), 2)[:, 0]
    limit = flat(oracle.likelihood_gradient(x), 1)[0]
    biases = {}
    for num_samples in (1, 4, 16):
        copies, calls = 2**12, 2**8 // num_samples
        mean, deviation = self_normalized(log_q, log_weights, values, num_samples)
        gradient = measured(model, np.repeat(x, copies, 0), num_samples, calls=calls, seed=num_samples)
        assert_near(gradient, mean, deviation / np.sqrt(copies * calls))
        biases[num_samples] = np.linalg.norm(gradient - limit)
    assert biases[1] > 0.1, "no bias to speak of: choose another seed"
    assert 0.15 < biases[16] / biases[4] < 0.35, biases


def test_the_prior_is_divided_by_the_number_of_rows():
    model = tiny_model((2,), seed=3, prior=tfd.Normal(0.1, 0.5))
    flat_model = tiny_model((2,), seed=3, prior=FLAT)
    for num_rows in (1.0, 40.0):
        gradients = [
            flat(gradient(estimator_of(m), theta_of(m), num_rows)[0]) for m in (model, flat_model)
        ]
        difference = (gradients[0] - gradients[1]) * num_rows
        np.testing.assert_allclose(difference, exact_prior_gradient(model), rtol=1e-3, atol=1e-4)


def test_it_is_taken_at_the_given_weights_and_hands_on_its_draws():
    model, other = tiny_model((2,), seed=4), tiny_model((2,), seed=5)
    gradients, latents, _ = gradient(estimator_of(model), theta_of(other), 10.0)
    for variable, value in zip(other.recognition.trainable_variables, model.recognition.trainable_variables):
        variable.assign(value)
    wanted, same, _ = gradient(estimator_of(other), theta_of(other), 10.0)
    np.testing.assert_allclose(flat(gradients), flat(wanted), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(latents.log_weights, same.log_weights, rtol=1e-5)
    oracle = Oracle(other)
    exact = oracle.log_weights(X)[oracle.state(latents.z), [0, 1]]
    np.testing.assert_allclose(latents.log_weights, exact, rtol=1e-4, atol=1e-5)
