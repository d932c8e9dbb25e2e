"""The reparametrised bounds against quadrature: one latent unit, Gauss–Hermite nodes for each of the K draws."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import log_bernoulli, randomize, tiny_model
from tests.proposals.gradients import mean_gradient
from tfdsmcmc._common.types import WeightedLatents

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
SEED = tf.constant([3, 4])


def gaussian_model(latent_units=(1,), seed=0, scale=0.8):
    """A variational autoencoder of three binary variables, with asymmetric random weights."""
    above = [ds.layers.MLPGaussian(width, hidden_units=[2]) for width in reversed(latent_units)]
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([*above, ds.layers.MLPBernoulli(3, hidden_units=[2])]),
        recognition=ds.RecognitionNetwork([ds.layers.MLPGaussian(width, hidden_units=[2]) for width in latent_units]),
    )
    randomize(model, seed, scale)
    return model


def arrays(network):
    return [variable.numpy().astype(np.float64) for variable in network.trainable_variables]


def log_weights(phi, theta, x, noise):
    """log p(x, z) − log q(z given x) at z = μ(x) + σ(x) ε, for x (n, 3) and noise (…, n), in NumPy."""
    a, a0, w, w0, s, s0 = phi
    hidden = np.tanh(x @ a + a0)
    mean, log_scale = (hidden @ w + w0)[:, 0], (hidden @ s + s0)[:, 0]
    z = mean + np.exp(log_scale) * noise
    b, b0, c, c0 = theta
    log_likelihood = log_bernoulli(x, np.tanh(z[..., None] @ b + b0) @ c + c0)
    return log_likelihood - z**2 / 2 + noise**2 / 2 + log_scale


def bound_moments(model, x, bound, num_samples, nodes=40):
    """The bound's gradient in φ: mean and variance of one row's estimate, each (n, m).

    The derivative at each node is a central difference, its moments are sums over the product grid.
    """
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    grid = np.array(list(itertools.product(points, repeat=num_samples))).T[:, :, None]  # (K, nodes^K, 1)
    p = np.prod(np.array(list(itertools.product(weights, repeat=num_samples))), -1)
    phi, theta, h, derivatives = arrays(model.recognition), arrays(model.generative), 1e-5, []

    def value():
        log_w = log_weights(phi, theta, np.asarray(x, np.float64), np.repeat(grid, len(x), -1))
        return log_w.mean(0) if bound == "elbo" else np.logaddexp.reduce(log_w, 0) - np.log(num_samples)

    for array in phi:
        for place in np.ndindex(array.shape):
            centre, values = array[place], []
            for array[place] in (centre + h, centre - h):
                values.append(value())
            array[place] = centre
            derivatives.append((values[0] - values[1]) / (2 * h))
    derivatives = np.stack(derivatives, -1)
    mean = np.einsum("s,snm->nm", p, derivatives)
    return mean, np.einsum("s,snm->nm", p, (derivatives - mean) ** 2)


@pytest.mark.parametrize(
    ("bound", "num_samples"), [pytest.param("importance", 1, marks=pytest.mark.slow), ("importance", 2), ("elbo", 2)]
)
def test_the_mean_gradient_is_that_of_the_bound(bound, num_samples):
    """2¹⁷ rows; false failures at most 1e-6. Catches the other bound, a wrong sign of log q, a gradient that does not
    pass through z, a number of draws other than K."""
    model, copies, calls = gaussian_model(seed=1), 2**13, 8
    mean, variance = bound_moments(model, X, bound, num_samples)
    np.testing.assert_allclose(bound_moments(model, X, bound, num_samples, nodes=30)[0], mean, atol=1e-5)
    error = np.sqrt(variance.sum(0) / (copies * calls)) / 2
    if num_samples == 2:
        other = "elbo" if bound == "importance" else "importance"
        different = np.abs(bound_moments(model, X, other, num_samples)[0].mean(0) - mean.mean(0))
        assert (different / error).max() > 30, "the bounds are too alike: choose another seed"
    gradient = mean_gradient(ds.proposals.IWAE(bound=bound), model, np.repeat(X, copies, 0), num_samples, calls)
    assert_near(gradient, mean.mean(0), error)


@pytest.mark.parametrize("bound", ["importance", "elbo"])
def test_value(bound):
    """From the same draws, in NumPy; what the latents hold does not matter but for K."""
    model = gaussian_model(seed=2)
    a, a0, w, w0, s, s0 = arrays(model.recognition)
    hidden = np.tanh(X @ a + a0)
    z = model.recognition.sample(X, 5, SEED)
    noise = (z[0][:, :, 0] - (hidden @ w + w0)[:, 0]) / np.exp((hidden @ s + s0)[:, 0])
    log_w = log_weights(arrays(model.recognition), arrays(model.generative), X, noise.numpy().astype(np.float64))
    want = log_w.mean() if bound == "elbo" else np.log(np.exp(log_w).mean(0)).mean()
    latents = WeightedLatents([tf.ones([5, 2, 1])], tf.zeros([5, 2]))
    got = ds.proposals.IWAE(bound=bound).surrogate(model.generative, model.recognition, X, latents, SEED)
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_the_number_of_samples_may_be_known_late():
    model, proposal = gaussian_model((2, 1)), ds.proposals.IWAE()

    def value(log_weights):
        latents = WeightedLatents([], log_weights)
        return proposal.surrogate(model.generative, model.recognition, X, latents, SEED)

    late = tf.function(value, input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    for num_samples in (1, 4):
        np.testing.assert_allclose(late(tf.zeros([num_samples, 2])), value(tf.zeros([num_samples, 2])), rtol=1e-5)


def test_discrete_layers_are_refused_by_name():
    discrete, continuous = tiny_model((2,)), gaussian_model((2,))
    mixed = ds.RecognitionNetwork([ds.layers.MLPGaussian(2, name="real"), ds.layers.SBN(1, name="binary")])
    generative = ds.GenerativeNetwork([ds.layers.SBN(1, name="coins"), ds.layers.MLPGaussian(2), ds.layers.SBN(3)])
    proposal = ds.proposals.IWAE()
    proposal.check(continuous.generative, continuous.recognition)
    with pytest.raises(ValueError, match=r"Received: .*\['coins', 'binary'\]"):
        proposal.check(generative, mixed)
    with pytest.raises(ValueError, match="Received: .*coins"):
        proposal.check(generative, ds.RecognitionNetwork([ds.layers.MLPGaussian(2), ds.layers.MLPGaussian(1)]))
    latents = WeightedLatents([], tf.zeros([2, 2]))
    trace = tf.function(proposal.surrogate, autograph=False)
    with pytest.raises(ValueError, match=discrete.recognition.layers[0].name):
        trace.get_concrete_function(discrete.generative, discrete.recognition, tf.constant(X), latents, SEED)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="Received: bound="):
        ds.proposals.IWAE(bound="iwae")
