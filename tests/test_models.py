"""Models by their names: what they are made of, that they can be kept, and that their likelihood is right."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_near
from tests.oracles import binary_states, randomize

from_name = ds.models.from_name
NAMES = ["SBN/SBN 3-2", "DARN/NADE 3-2", "NADE/DARN 3-2", "VAE/VAE 3-2"]
LATENT = {"SBN": ds.layers.SBN, "DARN": ds.layers.DARN, "NADE": ds.layers.NADE, "VAE": ds.layers.MLPGaussian}
DATA = {**LATENT, "VAE": ds.layers.MLPBernoulli}
PAIRS = [(p, q) for p in LATENT for q in LATENT if (p == "VAE") == (q == "VAE")]


def kinds_and_widths(network):
    return [(type(layer), layer.units) for layer in network.layers]


# ---- what they are made of


@pytest.mark.parametrize(("p", "q"), PAIRS)
def test_layers_widths_and_order(p, q):
    """The sizes count from the data; the generative network has the top layer first."""
    sizes = [4, 2, 3]
    model = from_name(f"{p}/{q} {'-'.join(map(str, sizes))}", units=7, hidden_units=6)
    want = [(LATENT[p], size) for size in reversed(sizes)]
    assert kinds_and_widths(model.generative) == [*want, (DATA[p], 7)]
    assert kinds_and_widths(model.recognition) == [(LATENT[q], size) for size in sizes]
    assert model.generative.latent_units == model.recognition.latent_units == sizes
    assert [layer.parent_units for layer in model.generative.layers] == [0, *reversed(sizes)]
    assert [layer.parent_units for layer in model.recognition.layers] == [7, *sizes[:-1]]
    for layer in (*model.generative.layers, *model.recognition.layers):
        if isinstance(layer, ds.layers.NADE):
            assert layer.hidden_units == 6
        elif isinstance(layer, (ds.layers.MLPGaussian, ds.layers.MLPBernoulli)):
            assert layer.hidden_units == [6]


@pytest.mark.parametrize("kind", LATENT)
def test_one_kind_stands_for_both_networks(kind):
    short, long = (from_name(name, 5, hidden_units=3) for name in (f"{kind} 4-2", f" {kind}/{kind}  4-2 "))
    for network in ("generative", "recognition"):
        assert kinds_and_widths(getattr(short, network)) == kinds_and_widths(getattr(long, network))


@pytest.mark.parametrize("kind", ["SBN", "DARN", "NADE"])
def test_a_kind_without_sizes_is_its_layer_alone(kind):
    """There is nothing to draw: every estimate of log p(x) is the layer's own."""
    model = from_name(kind, 3, hidden_units=2, data_logits=[0.1, 0.2, 0.3])
    assert kinds_and_widths(model.generative) == [(LATENT[kind], 3)] and model.recognition.layers == []
    randomize(model, seed=1)
    x = binary_states(3).astype(np.float32)
    exact = ds.likelihood.exact(model, x).value
    np.testing.assert_allclose(np.exp(exact).sum(), 1.0, atol=1e-5)
    np.testing.assert_allclose(model.generative.layers[0].log_prob(x, tf.zeros([0])), exact, rtol=1e-5)
    z, log_weights, _ = ds.latents.NAIS(4).draw(model.generative, model.recognition, x, tf.constant([1, 2]))[0]
    assert z == [] and log_weights.shape == (4, 8)
    np.testing.assert_allclose(log_weights, np.broadcast_to(exact, (4, 8)), rtol=1e-5)


def test_inner_layers_of_a_variational_autoencoder():
    """The papers' shape: two inner layers on both sides; NADE layers have one width."""
    model = from_name("VAE 2", 3, hidden_units=[6, 5])
    for layer in (model.generative.layers[-1], model.recognition.layers[0]):
        assert layer.hidden_units == [6, 5]
    with pytest.raises(ValueError, match=r"Received: hidden_units=\[6, 5\]"):
        from_name("NADE 2", 3, hidden_units=[6, 5])
    with pytest.raises(ValueError, match="Received: hidden_units=0"):
        from_name("VAE 2", 3, hidden_units=[6, 0])


def test_hidden_units_are_two_hundred_by_default():
    assert from_name("NADE 2", 3).generative.layers[-1].hidden_units == 200
    assert from_name("VAE 2", 3).recognition.layers[0].hidden_units == [200]


@pytest.mark.parametrize("kind", LATENT)
def test_the_bias_of_the_data_starts_at_the_logits(kind):
    logits = np.array([0.5, -2.0, 3.0], np.float32)
    *latent, data = from_name(f"{kind} 3", 3, hidden_units=2, data_logits=logits).generative.layers
    bias = {weight.name: weight.numpy() for weight in data.weights}["bias"]
    np.testing.assert_array_equal(bias, logits)
    for layer in (*latent, from_name(f"{kind} 3", 3, hidden_units=2).generative.layers[-1]):
        for weight in layer.weights:
            assert "bias" not in weight.name or not weight.numpy().any()


def test_other_arguments_are_those_of_the_model():
    prior = {"": tfp.distributions.Normal(0.0, 0.3)}
    model = from_name("SBN 2", 3, prior=prior, seed=5)
    assert model.seed == 5
    theta = [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]
    want = sum(float(tf.reduce_sum(prior[""].log_prob(part))) for part in theta)
    names = [name for name, _ in model.generative.named_weights]
    np.testing.assert_allclose(model.prior.log_prob(names, theta, []), want, rtol=1e-6)
    with pytest.raises(ValueError, match="colour"):
        from_name("SBN 2", 3, colour="red")


@pytest.mark.parametrize(
    "name",
    [
        "SBN/VAE 10",
        "VAE/NADE 10",
        "RBM 10",
        "SBN/RBM 10",
        "SBN 0",
        "SBN 10-0",
        "SBN 10-",
        "SBN -10",
        "SBN 10--5",
        "SBN 10 5",
        "SBN 1.5",
        "SBN ١٠",
        "VAE",
        "SBN/SBN",
        "SBN/ 10",
        "SBN/SBN/SBN 10",
        "sbn 10",
        "SBN10",
        "10",
        "",
        None,
        5,
        b"SBN 10",
        ["SBN 10"],
    ],
)
def test_bad_names_are_refused(name):
    with pytest.raises(ValueError, match=r"Received: \w[^:]*$"):
        from_name(name, 3)


@pytest.mark.parametrize(
    ("argument", "values"), [("units", (0, -1, 2.5, None, "3", True)), ("hidden_units", (0, -1, 2.5, None, "3", True))]
)
def test_bad_widths_are_refused(argument, values):
    for value in values:
        with pytest.raises(ValueError, match=f"Received: {argument}="):
            from_name("NADE 2", **{"units": 3, argument: value})


@pytest.mark.parametrize("logits", [np.zeros(4), np.zeros((3, 1)), np.zeros((1, 3)), [0.0, np.nan, 0.0], "zeros"])
def test_bad_data_logits_are_refused(logits):
    with pytest.raises(ValueError, match="data_logits.*Received: "):
        from_name("SBN 2", 3, data_logits=logits)


# ---- that they can be kept


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_is_the_same(name, tmp_path):
    """Its networks, bit for bit; without `compile` there is no more to it."""
    model = from_name(name, 4, hidden_units=2, data_logits=[0.1, 0.2, 0.3, 0.4], seed=3)
    randomize(model, seed=1, scale=0.6)
    path = str(tmp_path / "model.keras")
    model.save(path)
    loaded = keras.saving.load_model(path)
    assert type(loaded) is ds.DeepGenerativeModel and loaded.seed == 3
    x, seed = binary_states(4)[3:11].astype(np.float32), tf.constant([1, 2])
    parts = [drawn_and_weighed(twin, x, seed) for twin in (model, loaded)]
    for a, b in zip(*(tf.nest.flatten(part) for part in parts)):
        np.testing.assert_array_equal(a, b)


def drawn_and_weighed(model, x, seed):
    """Draws of q with their log-weights, on which log_likelihood rests, and draws of p."""
    z, log_q = model.recognition.sample_and_log_prob(x, 3, seed)
    return z, model.generative.log_joint(x, z) - log_q, model.sample(5, seed=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_saved_model_has_the_same_log_likelihood(name, tmp_path):
    model = from_name(name, 4, hidden_units=2)
    randomize(model, seed=1, scale=0.6)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    x = binary_states(4)[3:11]
    a, b = (twin.log_likelihood(x, num_samples=200, seed=5) for twin in (model, loaded))
    np.testing.assert_array_equal(a.value, b.value)


# ---- that their likelihood is right


MIXED = ["SBN/NADE 2-2", "NADE/SBN 2-2", "DARN/NADE 3", "NADE/DARN 2-2", "SBN/DARN 3"]


def mixed_model(name):
    model = from_name(name, 3, hidden_units=2)
    randomize(model, seed=2, scale=0.7)
    return model


@pytest.mark.parametrize("name", MIXED)
def test_importance_sampling_agrees_with_enumeration(name):
    """The mean weight of 2¹⁶ draws of each row over the sum over all z; the deviation and the bound of a weight are
    exact. False failures at most 1e-6. The sum over all x is 1."""
    model, x = mixed_model(name), binary_states(3).astype(np.float32)
    exact = ds.likelihood.exact(model, x).value
    np.testing.assert_allclose(np.exp(exact).sum(), 1.0, atol=1e-5)
    widths = model.generative.latent_units
    states = binary_states(sum(widths)).astype(np.float32)[:, None]
    z = np.split(np.broadcast_to(states, (len(states), len(x), sum(widths))), np.cumsum(widths)[:-1], axis=-1)
    log_q = model.recognition.log_prob(z, x).numpy().astype(np.float64)
    np.testing.assert_allclose(np.exp(log_q).sum(0), 1.0, atol=1e-5)
    ratio = np.exp(model.generative.log_joint(x, z) - log_q - exact)
    deviation = np.sqrt((np.exp(log_q) * (ratio - 1) ** 2).sum(0))

    latents, _ = ds.latents.NAIS(2**16).draw(model.generative, model.recognition, x, tf.constant([6, 7]))
    means = np.exp(latents.log_weights.numpy().astype(np.float64) - exact).mean(0)
    assert_bounded_means(means, 1.0, deviation, ratio.max(0), 2**16)


@pytest.mark.compiled
def test_the_estimate_of_the_log_likelihood_agrees_with_enumeration():
    """`log_likelihood` itself, within its own standard errors; false failures at most 1e-6."""
    model, x = mixed_model("NADE/SBN 2-2"), binary_states(3)
    estimate = model.log_likelihood(x, num_samples=2**14, seed=3)
    assert estimate.effective_sample_size.min() > 500
    assert_near(estimate.value, ds.likelihood.exact(model, x).value, estimate.standard_error)


def test_a_layer_that_fills_any_memory_is_refused_by_name():
    for name, units in (("SBN/SBN 1000000000", 3), ("NADE", 10**9)):
        with pytest.raises(ValueError, match="at most 1,000,000 units. Received: one of 1,000,000,000 units"):
            ds.models.from_name(name, units=units)
