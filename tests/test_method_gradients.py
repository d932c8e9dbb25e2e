"""The gradients of the methods, with the parts that each compiles, against the exact ones: enumeration of two binary
latent units, or quadrature over a continuous one.

Of two rows, each many times over; false failures at most 1e-6.
"""

import warnings

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, flat, randomize, self_normalized, tiny_model
from tests.proposals.gradients import mean_gradient, moments
from tests.proposals.test_iwae import arrays, bound_moments, log_weights
from tests.proposals.test_nvil import exact_gradient as exact_nvil_gradient
from tests.proposals.test_sleep import sleep_gradient

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
IMPORTANCE = ("dsgld_nais", "dsghmc_nais", "dsgnht_nais", "rws")
COPIES, CALLS = 2**13, 4


@pytest.fixture
def without_tracing():
    """A few steps by hand are made sooner than their program."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def compiled(name, **arguments):
    """A model with a flat prior, so that only the likelihood is left in its θ-gradient."""
    if name in ("vae", "iwae"):
        model = ds.models.from_name("VAE 1", 3, hidden_units=2, prior={"": None})
        randomize(model, seed=1, scale=0.8)
    else:
        model = tiny_model((2,), seed=1, prior={"": None})
    published = {"as_published": True} if name.startswith("dsg") else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "SGNHT goes by gradient noise")
        model.compile(**getattr(ds.methods, name)(**arguments, **published), jit_compile=False)
    return model


def theta_mean(model, copies=COPIES, calls=CALLS, carry=None, seed=0):
    """The θ-gradient, one flat vector: a float64 mean over several calls."""
    theta = [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]
    carry = None if carry is None else [tf.constant(part, tf.float32) for part in carry]
    x = tf.constant(np.repeat(X, copies, 0))
    estimator = model.run.step.estimator
    gradients = [flat(estimator.gradient(theta, x, 1.0, (), carry, s)[0]) for s in ds.random.split(seed, calls)]
    return np.mean(gradients, 0, dtype=np.float64)


def mean_and_error(pair, replicates=COPIES * CALLS):
    """From mean and variance of one estimate for each row, each (2, m), those of the minibatch: (m,) and its error."""
    mean, variance = pair
    return mean.mean(0), np.sqrt(variance.sum(0) / replicates) / 2


def assert_apart(others, mean, error):
    """What the test is to tell from the right mean is ten standard errors away."""
    distances = [(np.abs(other - mean) / error).max() for other in others]
    assert min(distances) > 10, f"too alike: choose another seed ({distances})"


def in_theta(model):
    """∇ log p(x, z) in θ, (S, 2, m)."""
    return flat(Oracle(model).joint_gradient(X), 2)


def weighted(model, values, num_samples):
    """Mean and variance of Σ_k w̃_k v(z_k) of each row, by all multisets of states."""
    oracle = Oracle(model)
    log_q, log_w = oracle.log_q(X), oracle.log_weights(X)
    rows = [self_normalized(log_q[:, i], log_w[:, i], values[:, i], num_samples) for i in range(2)]
    return np.array([mean for mean, _ in rows]), np.array([deviation**2 for _, deviation in rows])


# ---- in θ: importance samples


@pytest.mark.parametrize("name", IMPORTANCE)
def test_importance_weights(name):
    """The exact mean at the default number of samples; catches uniform weights and another number."""
    model = compiled(name)
    values = in_theta(model)
    mean, error = mean_and_error(weighted(model, values, 5))
    uniform = moments(np.exp(Oracle(model).log_q(X)), values)
    assert_apart([weighted(model, values, 4)[0].mean(0), uniform[0].mean(0)], mean, error)
    assert_near(theta_mean(model), mean, error)


def test_the_bias_of_importance_weights_falls_as_one_over_the_number_of_samples():
    """To the limit E[∇ log p(x, z) given x]."""
    limit = flat(Oracle(compiled("rws")).likelihood_gradient(X), 1).mean(0)
    bias = {}
    for num_samples, copies, calls in ((4, 2**13, 8), (16, 2**12, 16)):
        model = compiled("rws", num_samples=num_samples)
        gradient = theta_mean(model, copies, calls, seed=num_samples)
        mean, error = mean_and_error(weighted(model, in_theta(model), num_samples), copies * calls)
        assert_near(gradient, mean, error)
        bias[num_samples] = np.linalg.norm(gradient - limit)
    assert bias[4] > 0.02, "no bias to speak of: choose another seed"
    assert 0.15 < bias[16] / bias[4] < 0.4, bias


@pytest.mark.parametrize(("name", "num_samples"), [("wake_sleep", 1), ("nvil", 1), ("nvil", 3)])
def test_uniform_weights(name, num_samples):
    """E_q[∇ log p(x, z)] at any number of samples; catches importance weights where there are several."""
    model = compiled(name, num_samples=num_samples)
    values = in_theta(model)
    mean, variance = moments(np.exp(Oracle(model).log_q(X)), values)
    mean, error = mean_and_error((mean, variance / num_samples))
    if num_samples > 1:
        assert_apart([weighted(model, values, num_samples)[0].mean(0)], mean, error)
    assert_near(theta_mean(model), mean, error)


# ---- in θ: Gibbs sampling


@pytest.mark.parametrize(("name", "num_samples"), [("dsghmc_gibbs", 1), ("dsgnht_gibbs", 5)])
def test_gibbs_from_the_posterior_gives_the_gradient_of_the_likelihood(name, num_samples):
    """Chains that stand at exact draws stay there. The variance of a mean of states is at most that of one."""
    model = compiled(name, num_samples=num_samples)
    oracle, rng, copies = Oracle(model), np.random.default_rng(3), 2**14
    posterior = oracle.posterior(X)
    states = np.concatenate([rng.choice(len(p), copies, p=p) for p in posterior.T])
    pair = moments(posterior, in_theta(model))
    np.testing.assert_allclose(pair[0], flat(oracle.likelihood_gradient(X), 1), atol=1e-12)
    # one call alone, as the starts are drawn once
    gradient = theta_mean(model, copies, 1, carry=[part[states] for part in oracle.z])
    assert_near(gradient, *mean_and_error(pair, copies))


def sweep_matrix(posterior, units):
    """P(z' given z) of a sweep: each unit in turn, from the data upwards, by its exact conditional; (S, S)."""
    states, matrix = binary_states(units), np.eye(2**units)
    for unit in range(units):
        rest = np.delete(states, unit, 1)
        joint = (rest[:, None] == rest).all(-1) * posterior
        matrix = matrix @ (joint / joint.sum(1, keepdims=True))
    return matrix


def slowly_mixing(**arguments):
    """Either unit explains the second row as well as the other: to change over, a sweep must leave both modes."""
    model = compiled("dsgnht_gibbs", **arguments)
    randomize(model, seed=4, scale=0.5)
    top, data = model.generative.layers
    top.bias.assign_sub(tf.ones([2]))
    data.kernel.assign_add(tf.fill([2, 3], 4.0))
    data.bias.assign_sub(tf.fill([3], 3.0))
    model.recognition.layers[0].bias.assign_add([1.0, -1.5])
    return model


@pytest.mark.parametrize(("burn_in", "num_samples"), [(0, 1), (1, 2)])
def test_gibbs_from_the_recognition_network(burn_in, num_samples):
    """The k-th kept state has the law q P^(burn-in + k), with P enumerated. Catches a sweep more or less, and another
    start than q. The variance of a mean is at most the mean of the variances."""
    model = slowly_mixing(burn_in=burn_in, num_samples=num_samples)
    oracle, values = Oracle(model), in_theta(model)
    posterior, q = oracle.posterior(X), np.exp(oracle.log_q(X))
    matrices = [sweep_matrix(p, 2) for p in posterior.T]
    for p, matrix in zip(posterior.T, matrices):
        np.testing.assert_allclose(p @ matrix, p, atol=1e-12)

    def kept(burn_in, num_samples):
        laws = [
            np.stack([row @ np.linalg.matrix_power(m, burn_in + k) for row, m in zip(q.T, matrices)], 1)
            for k in range(1, num_samples + 1)
        ]
        return moments(np.mean(laws, 0), values)

    mean, error = mean_and_error(kept(burn_in, num_samples), 2**16)
    wrong = [(burn_in - 1, num_samples), (burn_in + 1, num_samples), (burn_in, num_samples + 1), (99, num_samples)]
    assert_apart([kept(*pair)[0].mean(0) for pair in wrong], mean, error)
    assert_near(theta_mean(model, 2**14, 4), mean, error)


# ---- in θ: the autoencoders


def quadrature(model, weights, num_samples, nodes=40):
    """Mean and variance of Σ_k w̃_k ∇ log p(x, z_k) of each row, each (2, m): z_k = μ + σ ε_k with ε_k at the nodes of
    Gauss and Hermite, and central differences in θ."""
    points, mass = np.polynomial.hermite_e.hermegauss(nodes)
    mass, noise, x = mass / mass.sum(), np.repeat(points[:, None], len(X), 1), X.astype(np.float64)
    phi, theta, h, derivatives = arrays(model.recognition), arrays(model.generative), 1e-5, []
    for array in theta:
        for place in np.ndindex(array.shape):
            centre, values = array[place], []
            for array[place] in (centre + h, centre - h):
                values.append(log_weights(phi, theta, x, noise))
            array[place] = centre
            derivatives.append((values[0] - values[1]) / (2 * h))
    grid = np.stack(np.meshgrid(*[np.arange(nodes)] * num_samples, indexing="ij"), -1).reshape(-1, num_samples)
    w = np.exp(log_weights(phi, theta, x, noise)[grid]) if weights == "importance" else np.ones((*grid.shape, 2))
    estimates = np.einsum("gkn,gknm->gnm", w / w.sum(1, keepdims=True), np.stack(derivatives, -1)[grid])
    return moments(np.repeat(mass[grid].prod(1)[:, None], len(X), 1), estimates)


@pytest.mark.parametrize(("name", "num_samples"), [("vae", 1), ("vae", 2), ("iwae", 1), ("iwae", 2)])
def test_the_bounds_of_the_autoencoders(name, num_samples):
    """∇ of the bound; catches the weights of the other one."""
    model = compiled(name, num_samples=num_samples)
    right, wrong = ("uniform", "importance") if name == "vae" else ("importance", "uniform")
    pair = quadrature(model, right, num_samples)
    np.testing.assert_allclose(quadrature(model, right, num_samples, nodes=30)[0], pair[0], atol=1e-4)
    mean, error = mean_and_error(pair)
    if num_samples > 1:
        assert_apart([quadrature(model, wrong, num_samples)[0].mean(0)], mean, error)
    assert_near(theta_mean(model), mean, error)


# ---- in φ


def exact_phi(name, model, num_samples):
    """Mean and variance of a row's gradient in φ and in what the proposal learns for itself, each (2, m)."""
    if name in ("vae", "iwae"):
        return bound_moments(model, X, "elbo" if name == "vae" else "importance", num_samples)
    if name == "nvil":
        mean, variance = exact_nvil_gradient(model.run.step.learning.proposal, model, X)
        return mean, variance / num_samples
    oracle = Oracle(model)
    sleep = np.stack([np.stack(sleep_gradient(oracle))] * 2, 1)  # a dream is of no row
    if name == "wake_sleep":
        return sleep
    wake = weighted(model, flat(oracle.q_gradient(X), 2), num_samples)
    return ((wake[0] + sleep[0]) / 2, (wake[1] + sleep[1]) / 4) if name == "rws" else wake


@pytest.mark.parametrize(
    ("name", "num_samples"),
    [*((name, 5) for name in IMPORTANCE), ("wake_sleep", 1), ("nvil", 1), ("vae", 2), ("iwae", 2)],
)
def test_phi(name, num_samples, monkeypatch, without_tracing):
    """As the tests of the proposals have it. NVIL's gradient is that of the evidence lower bound over a known factor,
    1 at first."""
    model = compiled(name, num_samples=num_samples)
    step = model.run.step
    # the draws are the method's own
    monkeypatch.setattr(ds.latents, "NAIS", lambda num_samples: step.estimator.latents)
    mean, error = mean_and_error(exact_phi(name, model, num_samples))
    assert np.abs(mean).max() > 0.05, "nothing to learn: choose another seed"
    gradient = mean_gradient(step.learning.proposal, model, np.repeat(X, COPIES, 0), num_samples, CALLS)
    assert_near(gradient, mean, error)
    if name == "nvil":
        elbo_gradient = flat(Oracle(model).elbo_gradient(X), 1).mean(0)
        np.testing.assert_allclose(mean[: len(elbo_gradient)], elbo_gradient, atol=1e-6)
