"""NAIS against enumeration: the draws, their log-weights, and the unbiased mean weight."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_frequencies
from tests.oracles import Oracle, tiny_model
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity

X = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]], np.float32)


def draw(model, num_samples, seed=0, x=X, jit_compile=False):
    nais = ds.latents.NAIS(num_samples)
    function = tf.function(lambda: nais.draw(model.generative, model.recognition, x, seed)[0], jit_compile=jit_compile)
    return function()


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.compiled)])
@pytest.mark.parametrize("latent_units", [(2,), (2, 2), (1, 2, 1)])
def test_log_weights_are_log_p_minus_log_q(latent_units, jit_compile):
    """At every state: the draws are many enough to visit all of them."""
    model = tiny_model(latent_units, seed=1, scale=0.7)
    oracle = Oracle(model)
    z, log_weights, _ = draw(model, 2**14, jit_compile=jit_compile)
    assert log_weights.shape == (2**14, 3) and [part.shape for part in z] == [(2**14, 3, u) for u in latent_units]
    states = oracle.state(z)
    assert len(np.unique(states)) == len(oracle.z[0])
    exact = oracle.log_weights(X)
    np.testing.assert_allclose(log_weights, exact[states, np.arange(3)], rtol=1e-5, atol=1e-5)
    for row in range(3):
        counts = np.bincount(states[:, row], minlength=len(exact))
        assert_frequencies(counts, np.exp(oracle.log_q(X[row : row + 1])[:, 0]))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_weights_that_warm_up(power):
    """Against each layer's terms by enumeration; the estimate of log p(x) is that of the plain weights."""
    model = tiny_model((1, 2, 1), seed=1, scale=0.7)
    oracle = Oracle(model)
    plain = draw(model, 50)
    for beta in (power, tf.constant(power)):
        warm, _ = ds.latents.NAIS(50).draw(model.generative, model.recognition, X, 0, latent_power=beta)
        exact = oracle.log_weights(X, power)[oracle.state(warm.z), np.arange(3)]
        np.testing.assert_allclose(warm.log_weights, exact, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(warm.log_likelihood, plain.log_likelihood)
        for part, want in zip(warm.z, plain.z, strict=True):
            np.testing.assert_array_equal(part, want)


@pytest.mark.parametrize("latent_units", [(2,), (1, 2, 1)])
def test_weights_that_do_not_warm_up_are_the_plain_difference(latent_units):
    """Bit for bit, so that a seed gives what it gave."""
    model = tiny_model(latent_units, seed=1)
    drawn = draw(model, 20)
    z, log_q = model.recognition.sample_and_log_prob(X, 20, 0)
    np.testing.assert_array_equal(drawn.log_weights, model.generative.log_joint(X, z) - log_q)
    np.testing.assert_allclose(log_q, model.recognition.log_prob(z, X), rtol=1e-5)


def test_narrow_networks_do_not_warm_up_by_default():
    for units, want in {0: 0, 1: 0, 150: 0, 151: 3, 200: 125, 300: 250, 600: 375, 15000: 495}.items():
        assert ds.latents.NAIS(5, warm_up="auto").warm_up_of(units) == want
        assert ds.latents.NAIS(5, warm_up=7).warm_up_of(units) == 7 and ds.latents.NAIS(5).warm_up_of(units) == 0
        assert ds.latents.Gibbs(1).warm_up_of(units) == 0


@pytest.mark.parametrize("name", ["dsgld_nais", "dsghmc_nais", "dsgnht_nais"])
def test_samplers_warm_up_and_as_published_do_not(name):
    """Of a network of two layers of 150 units, all of which count."""
    method = getattr(ds.methods, name)
    assert method()["latents"].warm_up == "auto" and method(as_published=True)["latents"].warm_up == 0
    model = ds.models.from_name("SBN 150-150", units=2)
    estimator = FisherIdentity(model.generative, model.recognition, model.prior, method()["latents"])
    assert estimator.warm_up == 250


def test_a_model_without_latent_layers_has_its_likelihood_as_weight():
    model = ds.models.from_name("SBN", units=3)
    for power in (1.0, 0.0):
        drawn, _ = ds.latents.NAIS(4).draw(model.generative, model.recognition, X, 0, latent_power=power)
        assert drawn.log_weights.shape == (4, 3) and drawn.log_likelihood.shape == (3,)
        np.testing.assert_allclose(drawn.log_weights, np.full((4, 3), 3 * np.log(0.5)), rtol=1e-6)


def test_the_mean_weight_is_the_likelihood():
    """E w = p(x) exactly; the standard deviation and the bound of w are exact too, false failures at most 1e-6."""
    model = tiny_model((2, 2), seed=2, scale=0.7)
    oracle = Oracle(model)
    relative = np.exp(draw(model, 2**16).log_weights - oracle.log_likelihood(X))
    assert_bounded_means(relative.mean(0), 1.0, *oracle.relative_weights(X), count=2**16)


def test_a_perfect_proposal_has_equal_weights():
    """With p(x given z) free of z the posterior is the prior; a proposal equal to it has weights p(x)."""
    model = tiny_model((2,), seed=3)
    top, data = model.generative.layers
    data.kernel.assign(tf.zeros_like(data.kernel))
    model.recognition.layers[0].kernel.assign(tf.zeros([3, 2]))
    model.recognition.layers[0].bias.assign(top.bias)
    log_weights = draw(model, 64).log_weights
    exact = Oracle(model).log_likelihood(X)
    np.testing.assert_allclose(log_weights, np.broadcast_to(exact, (64, 3)), rtol=1e-5)


def test_there_is_no_carry():
    model = tiny_model()
    nais = ds.latents.NAIS(3)
    first, carry = nais.draw(model.generative, model.recognition, X, 1)
    assert carry is None
    again, _ = nais.draw(model.generative, model.recognition, X, tf.constant([1, 0]), carry=carry)
    np.testing.assert_array_equal(first.log_weights, again.log_weights)


def test_config_round_trip():
    latents = ds.latents.NAIS(7, climbing_samples=3, warm_up="auto")
    twin = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(latents))
    assert isinstance(twin, ds.latents.NAIS) and (twin.num_samples, twin.climbing.num_samples) == (7, 3)
    assert twin.warm_up == twin.climbing.warm_up == "auto" and ds.latents.NAIS(7).warm_up == 0
    assert twin.climbing.climbing is None and ds.latents.NAIS(7).climbing is None


@pytest.mark.parametrize("num_samples", [0, -1, 2.5, True, None, "5"])
def test_the_number_of_samples_is_checked(num_samples):
    with pytest.raises(ValueError, match="Received: num_samples="):
        ds.latents.NAIS(num_samples)
    if num_samples is not None:
        with pytest.raises(ValueError, match="Received: climbing_samples="):
            ds.latents.NAIS(5, climbing_samples=num_samples)


@pytest.mark.parametrize("warm_up", [-1, 2.5, True, None, "long", 2**31])
def test_the_warm_up_is_checked(warm_up):
    with pytest.raises(ValueError, match="Received: warm_up="):
        ds.latents.NAIS(5, warm_up=warm_up)


@pytest.mark.parametrize("warm_up", [1, "auto"])
def test_uniform_weights_do_not_warm_up(warm_up):
    with pytest.raises(ValueError, match="Received: warm_up="):
        ds.latents.NAIS(5, "uniform", warm_up=warm_up)


def test_uniform_weights_show_the_evidence_lower_bound():
    """Against log w by enumeration at the same draws: its mean; and the log-mean-exp for importance weights."""
    model = tiny_model((2, 2), seed=4)
    oracle = Oracle(model)
    for weights in ("importance", "uniform"):
        weighted, _ = ds.latents.NAIS(6, weights).draw(model.generative, model.recognition, X, 5)
        exact = oracle.log_weights(X)[oracle.state(weighted.z), np.arange(3)]
        if weights == "uniform":
            np.testing.assert_array_equal(weighted.log_weights, np.zeros((6, 3)))
            want = exact.mean(0)
        else:
            want = np.log(np.exp(exact).mean(0))
        np.testing.assert_allclose(weighted.log_likelihood, want, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="Received: weights="):
        ds.latents.NAIS(5, weights="equal")
