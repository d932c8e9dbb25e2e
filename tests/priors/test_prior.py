"""Prior densities against scipy.stats; their patterns; their way into a file and back."""

import json

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.oracles import tiny_model

tfd = tfp.distributions

W = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
B = np.array([0.5, -2.0, 0.0], np.float32)


def mixture():
    """A spike and a slab."""
    return tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([0.0, 0.0], [1.0, 0.1]))


def mixture_log_pdf(w):
    return np.log(0.3 * scipy.stats.norm.pdf(w, 0, 1) + 0.7 * scipy.stats.norm.pdf(w, 0, 0.1))


@pytest.mark.parametrize(
    ("distribution", "log_pdf"),
    [
        (tfd.StudentT(df=2.2, loc=0.0, scale=0.09), lambda w: scipy.stats.t.logpdf(w, 2.2, 0, 0.09)),
        (tfd.StudentT(df=4.0, loc=0.1, scale=0.5), lambda w: scipy.stats.t.logpdf(w, 4, 0.1, 0.5)),
        (tfd.Normal(0.0, 2.0), lambda w: scipy.stats.norm.logpdf(w, 0, 2)),
        (tfd.Laplace(0.0, tf.constant(0.3)), lambda w: scipy.stats.laplace.logpdf(w, 0, 0.3)),
        (tfd.Cauchy(np.float64(0.0), np.float64(1.5)), lambda w: scipy.stats.cauchy.logpdf(w, 0, 1.5)),
        (mixture(), mixture_log_pdf),
    ],
)
def test_log_prob_before_and_after_serialization(distribution, log_pdf):
    prior = ds.Prior(distribution)
    want = log_pdf(W.astype(np.float64)).sum() + log_pdf(B.astype(np.float64)).sum()
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(prior)))
    for p in (prior, keras.saving.deserialize_keras_object(config)):
        got = p.log_prob(["layer/kernel", "layer/bias"], [tf.constant(W), tf.constant(B)])
        assert got.shape == () and got.dtype == tf.float32
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("names", [["a", "b"], []])
def test_names_without_values_are_refused(names):
    for call in (ds.Prior(tfd.Normal(0.0, 1.0)).log_prob, ds.Prior(ds.priors.Horseshoe()).initial_auxiliary):
        with pytest.raises(ValueError, match=f"as many names as values. Received: {len(names)} names, 1 values"):
            call(names, [tf.constant(W)], *([0] if "initial" in call.__name__ else []))


def test_gradient():
    b = tf.constant(B)
    with tf.GradientTape() as tape:
        tape.watch(b)
        log_prob = ds.Prior(tfd.Normal(0.1, 0.5)).log_prob(["b"], [b])
    np.testing.assert_allclose(tape.gradient(log_prob, b), -(B - 0.1) / 0.25, rtol=1e-5)


def test_the_first_pattern_found_wins():
    prior = ds.Prior({"top/kernel": tfd.Normal(0.0, 1.0), "kernel": tfd.Laplace(0.0, 1.0), "b.as$": None})
    names = ["top/kernel", "data/kernel", "top/bias", "the_top/kernel_2"]
    kinds = [type(prior.for_weight(name)) for name in names]
    assert kinds == [tfd.Normal, tfd.Laplace, type(None), tfd.Normal]
    got = prior.log_prob(names, [B, B, B, B])
    want = 2 * scipy.stats.norm.logpdf(B).sum() + scipy.stats.laplace.logpdf(B).sum()
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_by_default_scales_are_learnt_and_biases_have_weak_priors():
    """By SciPy: the law of a kernel's entries given their scales, and Student-t for biases."""
    prior = ds.Prior()
    names, values = ["top/kernel", "top/bias"], [tf.constant(W), tf.constant(B)]
    auxiliary = prior.initial_auxiliary(names, values, seed=1)
    assert [part.shape for part in auxiliary] == [W.shape, (3, 1)]
    want = scipy.stats.norm.logpdf(W, scale=np.sqrt(auxiliary[0] + 0.015**2)).sum()
    want += scipy.stats.t.logpdf(B, 4, scale=2.5).sum()
    np.testing.assert_allclose(prior.log_prob(names, values, auxiliary), want, rtol=1e-5)
    units = [prior.for_weight(name).global_scale_group for name in ("top/kernel", "data/lateral", "x/decoder")]
    assert units == ["parent", "tensor", "unit"] and prior.for_weight("data/lateral").b == 0.5


@pytest.mark.parametrize("name", ["decoder", "bias", "lateral", "debias"])
def test_the_name_of_a_layer_says_nothing_of_its_weights(name):
    prior = ds.Prior()
    assert prior.for_weight(f"{name}/kernel") is prior.for_weight("data/kernel")
    assert prior.for_weight(f"{name}/real_0_bias") is prior.for_weight("data/bias")


def test_an_empty_weight_has_density_one():
    assert float(ds.Prior(tfd.StudentT(df=2.2, loc=0.0, scale=0.09)).log_prob(["kernel"], [tf.zeros([0, 4])])) == 0.0


def test_a_weight_without_a_pattern_is_an_error():
    prior = ds.Prior({"kernel": None})
    with pytest.raises(ValueError, match=r"'x/bias'.*Received: patterns \['kernel'\]"):
        prior.log_prob(["x/bias"], [B])
    with pytest.raises(ValueError, match="Received: patterns"):
        tiny_model(prior={"kernel": tfd.Normal(0.0, 1.0)})


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (3.0, "A prior is a TFP distribution.*Received: float"),
        ("normal", "A prior is a TFP distribution.*Received: str"),
        (tfd.Normal, "A prior is a TFP distribution.*Received: .*Meta"),
        ({"kernel": 3.0}, "A prior is a TFP distribution.*Received: float for the pattern 'kernel'"),
        ({1: tfd.Normal(0.0, 1.0)}, "patterns are strings. Received: 1"),
        ({"(": tfd.Normal(0.0, 1.0)}, r"patterns are regular expressions.*Received: '\('"),
        (tfd.Normal([0.0, 1.0], 1.0), "distributions are scalar.*Received: .*Normal"),
        (tfd.MultivariateNormalDiag([0.0, 1.0]), "distributions are scalar.*Received: .*MultivariateNormalDiag"),
        (tfd.Normal(0.0, -1.0), "have a density on all real numbers. Received: .*Normal"),
        (tfd.Laplace(0.0, np.nan), "have a density on all real numbers. Received: .*Laplace"),
        ([tfd.Normal(0.0, 1.0)], "A prior is a TFP distribution.*Received: list"),
        (ds.priors.Horseshoe, "A prior is a TFP distribution.*Received: type"),
        ([ds.priors.Horseshoe()], "A prior is a TFP distribution.*Received: list"),
    ],
)
def test_other_specifications_are_refused(spec, reason):
    with pytest.raises(ValueError, match=reason):
        ds.Prior(spec)


def test_what_cannot_be_saved_says_so():
    transformed = tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfp.bijectors.Scale(2.0))
    with pytest.raises(ValueError, match="to be saved. Received: "):
        ds.Prior(transformed).get_config()

    class Mine(tfd.Normal):
        pass

    with pytest.raises(ValueError, match="can be saved. Received: "):
        ds.Prior(Mine(0.0, 1.0)).get_config()


def test_a_prior_in_the_config_of_a_model(tmp_path):
    spec = {"kernel": mixture(), "bias": tfd.Laplace(tf.constant(0.0), tf.constant(0.3)), "": None}
    model = tiny_model(prior=spec)
    model.save(tmp_path / "m.keras")
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    names, values = zip(*model.generative.named_weights)
    np.testing.assert_allclose(loaded.prior.log_prob(names, values), model.prior.log_prob(names, values), rtol=1e-6)
    assert list(loaded.prior.patterns) == ["kernel", "bias", ""]


def test_saving_keeps_the_type_of_the_parameters():
    prior = ds.Prior(tfd.Normal(tf.constant(0.1, tf.float64), tf.constant(1 / 3, tf.float64)))
    twin = ds.Prior.from_config(json.loads(json.dumps(prior.get_config())))
    assert twin.for_weight("w").dtype == tf.float64
    assert float(twin.for_weight("w").scale) == 1 / 3


# ---- with shrinkage priors among them

NAMES = ["top/kernel", "top/bias", "data/kernel", "data/bias"]
VALUES = [tf.constant(W), tf.constant(B), tf.constant(W[:2], tf.float64), tf.zeros([0, 4])]


def shrinking():
    members = {
        "top/k": ds.priors.Horseshoe(0.2, 0.05, learn_global_scale=True),
        "top": tfd.Normal(0.1, 0.5),
        "": ds.priors.ThreeParameterBetaNormal(0.7, 1.5, 0.3, 0.02),
    }
    return ds.Prior(members)


def log_prob_by_hand(auxiliary):
    normal = scipy.stats.norm
    return (
        normal.logpdf(W, 0, np.sqrt(auxiliary[0] + 0.05**2)).sum()
        + normal.logpdf(B, 0.1, 0.5).sum()
        + normal.logpdf(W[:2], 0, np.sqrt(auxiliary[2] + 0.02**2)).sum()
    )


def test_a_plain_prior_has_no_auxiliary_tensors():
    prior = ds.Prior({"kernel": mixture(), "": None})
    assert prior.initial_auxiliary(["kernel", "bias"], [W, B], 1) == []
    assert prior.update_auxiliary(["kernel", "bias"], [W, B], [], 1) == []


def test_auxiliary_tensors_keep_their_order_shapes_and_types():
    prior = shrinking()
    auxiliary = prior.initial_auxiliary(NAMES, VALUES, 1)
    for _ in range(2):
        assert [(part.shape, part.dtype) for part in auxiliary] == [
            ((3, 4), tf.float32),
            ((), tf.float32),
            ((2, 4), tf.float64),
            ((0, 4), tf.float32),
        ]
        assert all((part.numpy() > 0).all() for part in auxiliary)
        got = prior.log_prob(NAMES, VALUES, auxiliary)
        assert got.shape == () and got.dtype == tf.float32
        np.testing.assert_allclose(got, log_prob_by_hand(auxiliary), rtol=1e-5)
        before, auxiliary = auxiliary, prior.update_auxiliary(NAMES, VALUES, auxiliary, 2)
        assert not any(np.isin(old, new).any() for old, new in zip(before, auxiliary))


def test_weights_of_one_prior_have_draws_of_their_own():
    prior = ds.Prior(ds.priors.Horseshoe(learn_global_scale=True))
    for auxiliary in (
        prior.initial_auxiliary(["a", "b"], [W, W], 1),
        prior.update_auxiliary(["a", "b"], [W, W], [np.ones_like(W), np.float32(1.0)] * 2, 1),
    ):
        assert not np.isin(auxiliary[0], auxiliary[2]).any() and float(auxiliary[1]) != float(auxiliary[3])


def test_the_gradient_given_the_auxiliary_tensors():
    auxiliary = shrinking().initial_auxiliary(NAMES, VALUES, 3)
    with tf.GradientTape() as tape:
        tape.watch(VALUES)
        log_prob = shrinking().log_prob(NAMES, VALUES, auxiliary)
    gradients = tape.gradient(log_prob, VALUES)
    np.testing.assert_allclose(gradients[0], -W / (auxiliary[0] + 0.05**2), rtol=1e-5)
    np.testing.assert_allclose(gradients[1], -(B - 0.1) / 0.25, rtol=1e-5)
    np.testing.assert_allclose(gradients[2], -W[:2] / (auxiliary[2] + 0.02**2), rtol=1e-5)


def test_missing_auxiliary_tensors_are_an_error():
    prior = shrinking()
    auxiliary = prior.initial_auxiliary(NAMES, VALUES, 1)
    with pytest.raises(ValueError, match="need 4 auxiliary tensors .* Received: 0"):
        prior.log_prob(NAMES, VALUES)
    with pytest.raises(ValueError, match="Received: 3"):
        prior.log_prob(NAMES, VALUES, auxiliary[:-1])
    with pytest.raises(ValueError, match="Received: 5"):
        prior.update_auxiliary(NAMES, VALUES, [*auxiliary, 1.0], 1)


def test_shrinkage_priors_in_the_config_of_a_model(tmp_path):
    model = tiny_model(prior={"kernel": ds.priors.Horseshoe(0.3, 0.04, True), "": mixture()})
    model.save(tmp_path / "m.keras")
    loaded = keras.saving.load_model(tmp_path / "m.keras")
    member = loaded.prior.for_weight("kernel")
    assert type(member) is ds.priors.Horseshoe and loaded.prior.get_config() == model.prior.get_config()
    names, values = zip(*model.generative.named_weights)
    want = model.prior.initial_auxiliary(names, values, 1)
    for a, b in zip(loaded.prior.initial_auxiliary(names, values, 1), want, strict=True):
        np.testing.assert_array_equal(a, b)


def test_shapes_must_be_known():
    prior = ds.Prior(ds.priors.Horseshoe())
    update = tf.function(lambda w: prior.update_auxiliary(["w"], [w], [tf.ones([2, 3])], [0, 1]), autograph=False)
    with pytest.raises(ValueError, match=r"known shape. Received: shape \(None, 3\)"):
        update.get_concrete_function(tf.TensorSpec([None, 3]))
