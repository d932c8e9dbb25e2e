"""Another data layer above the same latent layers: the same density at first, and what stays of the model."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.oracles import binary_states, randomize

from_name = ds.models.from_name
TIED = {"DARN": ds.layers.DARN, "NADE": lambda units: ds.layers.NADE(units, hidden_units=5)}


@pytest.mark.parametrize("latent", ["", "3", "3-2"])
@pytest.mark.parametrize("kind", TIED)
def test_another_data_layer_has_the_same_density_at_first(kind, latent):
    """Of an SBN data layer: exactly. Back from it t is left out. The first model stays as it is, and shares nothing."""
    x = binary_states(4).astype(np.float32)
    first = from_name(f"SBN/{kind} {latent}" if latent else "SBN", 4, hidden_units=5)
    randomize(first, seed=3)
    before = [w.copy() for w in first.get_weights()]
    model = ds.models.with_data_layer(first, TIED[kind](4))
    assert type(model.generative.layers[-1]).__name__ == kind and model.seed == first.seed
    exact = ds.likelihood.exact(first, x).value
    np.testing.assert_allclose(ds.likelihood.exact(model, x).value, exact, atol=1e-5)
    for ours, theirs in zip(model.recognition.get_weights(), first.recognition.get_weights(), strict=True):
        np.testing.assert_array_equal(ours, theirs)

    randomize(model, seed=4)
    assert np.abs(ds.likelihood.exact(model, x).value - exact).max() > 0.1
    for now, then in zip(first.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)
    back = ds.models.with_data_layer(model, ds.layers.SBN(4))
    again = ds.models.with_data_layer(back, TIED[kind](4))
    assert np.abs(ds.likelihood.exact(back, x).value - ds.likelihood.exact(model, x).value).max() > 0.01
    np.testing.assert_allclose(ds.likelihood.exact(again, x).value, ds.likelihood.exact(back, x).value, atol=1e-5)


@pytest.mark.parametrize("hidden_units", [1, 4, 5])
def test_all_weights_of_another_data_layer_may_learn_at_once(hidden_units):
    """The gradient of W is not 0 though t is, and differs within a pair; of an odd number the last V alone is 0."""
    first = from_name("SBN 3", 4)
    randomize(first, seed=3)
    layer = ds.models.with_data_layer(first, ds.layers.NADE(4, hidden_units=hidden_units)).generative.layers[-1]
    x, z = binary_states(4).astype(np.float32), np.ones((16, 3), np.float32)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(layer.log_prob(x, z) * np.arange(16.0, dtype=np.float32))
    slopes = tape.gradient(value, [layer.encoder.value, layer.decoder.value])
    w, v = (np.abs(slope).max(0) for slope in slopes)
    paired = hidden_units // 2 * 2
    assert (w[:paired] > 1e-4).all() and (v > 1e-4).all()
    np.testing.assert_allclose(slopes[0][:, : paired // 2], -slopes[0][:, paired // 2 : paired], atol=1e-4)


def test_another_data_layer_keeps_prior_and_context():
    prior = {"bias": None, "": tfp.distributions.Normal(0.0, 0.5)}
    layers = [ds.layers.SBN(2), ds.layers.SBN(3)]
    generative = ds.GenerativeNetwork(layers, context=2)
    first = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]), prior=prior, seed=7)
    model = ds.models.with_data_layer(first, ds.layers.DARN(3))
    assert model.context.parts == first.context.parts and model.seed == 7
    name = model.generative.named_weights[-1][0]
    assert model.prior.for_weight(name).parameters["scale"] == 0.5


def test_another_data_layer_has_the_name_of_the_old_one(tmp_path):
    """So a prior that names it holds, and a model that another process has stored is no different."""
    wide, narrow = tfp.distributions.Normal(0.0, 10.0), tfp.distributions.Normal(0.0, 0.1)
    layers = [ds.layers.SBN(2, name="top"), ds.layers.SBN(4, name="data")]
    recognition = ds.RecognitionNetwork([ds.layers.SBN(2)])
    made = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), recognition, prior={"^data/": wide, "": narrow})
    made.save(tmp_path / "model.keras")
    keras.backend.clear_session()
    model = ds.models.with_data_layer(keras.saving.load_model(tmp_path / "model.keras"), ds.layers.SBN(4))
    model = ds.models.with_data_layer(model, ds.layers.NADE(4, hidden_units=3))
    for name, _ in model.generative.named_weights:
        assert model.prior.for_weight(name).parameters["scale"] == (10.0 if name.startswith("data/") else 0.1), name
    assert model.generative.layers[-1].name == "data"


class OwnLayer(ds.layers.SBN):
    """Not registered with Keras."""


class OwnModel(ds.DeepGenerativeModel):
    """No other."""


def test_another_data_layer_leaves_what_a_file_could_not_hold():
    """Classes of the user's own, a prior that is none of TFP's, and single weights that are frozen."""
    prior = tfp.distributions.TransformedDistribution(tfp.distributions.Normal(0.0, 1.0), tfp.bijectors.Shift(0.0))
    generative = ds.GenerativeNetwork([OwnLayer(2), ds.layers.SBN(4)])
    first = OwnModel(generative, ds.RecognitionNetwork([OwnLayer(2)]), prior=prior)
    generative.layers[0].bias.trainable = generative.layers[1].kernel.trainable = False
    model = ds.models.with_data_layer(first, ds.layers.DARN(4))
    assert type(model) is OwnModel and type(model.recognition.layers[0]) is OwnLayer and model.prior is first.prior
    assert [v.name for v in model.theta_variables] == ["kernel", "bias", "lateral"]


@pytest.mark.parametrize(
    ("model", "layer"),
    [
        (from_name("VAE 2", 4), ds.layers.SBN(4)),
        (from_name("SBN 2", 4).generative, ds.layers.SBN(4)),
        (from_name("SBN 2", 4), ds.layers.NADE(5)),
        (from_name("SBN 2", 4), ds.layers.MLPBernoulli(4)),
        (from_name("SBN 2", 4).generative.layers[-1], ds.layers.SBN(4)),
        (from_name("SBN 2", 4), "NADE"),
    ],
)
def test_what_is_no_other_data_layer_is_refused(model, layer):
    with pytest.raises(ValueError, match=r"must be .*\. Received: "):
        ds.models.with_data_layer(model, layer)
