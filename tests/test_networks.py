"""The networks against enumeration, at one to three latent layers with asymmetric random weights."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import Oracle, binary_states, log_bernoulli, randomize, sigmoid, state_numbers, tiny_model
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.supports import Binary

DEPTHS = [(3,), (2, 3), (1, 3, 2)]
SBN = ds.layers.SBN


def everything(oracle):
    """All x and all z, of shapes (2^D, D) and (S, 1, H_l)."""
    return binary_states(oracle.units).astype(np.float32), [part[:, None].astype(np.float32) for part in oracle.z]


# ---- log densities


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("latent_units", DEPTHS)
def test_log_densities_are_exact_at_every_state(latent_units, jit_compile):
    model = tiny_model(latent_units, units=4, seed=1)
    oracle = Oracle(model)
    x, z = everything(oracle)

    @tf.function(jit_compile=jit_compile)
    def compute():
        return model.generative.log_joint(x, z), model.recognition.log_prob(z, x)

    log_joint, log_q = compute()
    assert log_joint.shape == log_q.shape == (2 ** sum(latent_units), 16)
    np.testing.assert_allclose(log_joint, oracle.log_joint(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_q, oracle.log_q(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(log_joint, dtype=np.float64).sum(), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.exp(log_q, dtype=np.float64).sum(0), np.ones(16), atol=1e-5)


def test_batches_broadcast():
    model = tiny_model((2, 1), units=3)
    rng = np.random.default_rng(0)

    def bits(*shape):
        return tf.constant(rng.integers(0, 2, shape), tf.float32)

    x, z = bits(4, 3), [bits(5, 4, 2), bits(5, 4, 1)]
    log_joint = model.generative.log_joint(x, z)
    log_q = model.recognition.log_prob(z, x)
    assert log_joint.shape == log_q.shape == (5, 4)
    for k in range(5):
        for b in range(4):
            one = [part[k, b] for part in z]
            assert model.generative.log_joint(x[b], one).shape == ()
            np.testing.assert_allclose(model.generative.log_joint(x[b], one), log_joint[k, b], rtol=1e-5)
            np.testing.assert_allclose(
                model.recognition.log_prob([p[None] for p in one], x[b][None])[0], log_q[k, b], rtol=1e-5
            )
    # one z for all rows, one row for all z, and data of bytes
    np.testing.assert_allclose(
        model.generative.log_joint(x, [part[0, 0] for part in z]),
        [model.generative.log_joint(row, [part[0, 0] for part in z]) for row in x],
        rtol=1e-5,
    )
    np.testing.assert_allclose(model.generative.log_joint(tf.cast(x, tf.uint8), z), log_joint, rtol=1e-6)


def test_gradients_are_exact():
    """∇ log p(x, z) in θ and ∇ log q(z given x) in φ, summed over all states with unequal weights."""
    model = tiny_model((2, 2), units=3, seed=2)
    oracle = Oracle(model)
    x, z = everything(oracle)
    weights = np.random.default_rng(1).normal(size=(16, 8))
    for network, log_density, want in (
        (model.generative, lambda: model.generative.log_joint(x, z), oracle.joint_gradient(x)),
        (model.recognition, lambda: model.recognition.log_prob(z, x), oracle.q_gradient(x)),
    ):
        variables = [variable.value for variable in network.trainable_variables]
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.constant(weights, tf.float32) * log_density())
        got = tape.gradient(total, variables, unconnected_gradients="zero")
        for a, b in zip(got, want):
            np.testing.assert_allclose(a, np.einsum("sn,sn...->...", weights, b), rtol=1e-4, atol=1e-4)


# ---- samples


@pytest.mark.parametrize("latent_units", DEPTHS)
def test_ancestral_samples_follow_the_joint(latent_units):
    """Chi-square over every (x, z), false failures at most 1e-6; z is nearest to the data first."""
    model = tiny_model(latent_units, units=2, seed=3)
    oracle = Oracle(model)
    x, z = tf.function(lambda: model.generative.sample(2**16, seed=4))()
    assert x.shape == (2**16, 2) and [part.shape for part in z] == [(2**16, units) for units in latent_units]
    numbers = oracle.state(z) * 4 + state_numbers(x)
    exact = np.exp(oracle.log_joint(binary_states(2)))
    assert_frequencies(np.bincount(numbers, minlength=exact.size), exact.ravel())


@pytest.mark.parametrize("latent_units", DEPTHS)
def test_recognition_samples_follow_q(latent_units):
    model = tiny_model(latent_units, units=3, seed=5)
    oracle = Oracle(model)
    x = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
    z = model.recognition.sample(x, 2**15, seed=6)
    assert [part.shape for part in z] == [(2**15, 2, units) for units in latent_units]
    exact = np.exp(oracle.log_q(x))
    for row in range(2):
        counts = np.bincount(oracle.state([part[:, row] for part in z]), minlength=len(exact))
        assert_frequencies(counts, exact[:, row])


def test_samples_of_the_layers_are_independent_given_their_parents():
    """With all weights 0 the units of all layers and rows are independent fair coins: one seed must not serve two
    layers. Counts of all 2⁶ values, false failures at most 1e-6."""
    model = tiny_model((2, 2), units=2, scale=0.0)
    for variable in [*model.generative.trainable_variables, *model.recognition.trainable_variables]:
        variable.assign(tf.zeros_like(variable))
    x, z = model.generative.sample(2**15, seed=7)
    counts = np.bincount(state_numbers(np.concatenate([x, *z], -1)), minlength=64)
    assert_frequencies(counts, np.full(64, 1 / 64))
    z = model.recognition.sample(np.zeros((2, 2)), 2**15, seed=8)
    counts = np.bincount(state_numbers(np.concatenate([*z[0].numpy().swapaxes(0, 1)] + [z[1][:, 0]], -1)), minlength=64)
    assert_frequencies(counts, np.full(64, 1 / 64))


def test_the_number_of_samples_may_be_a_tensor():
    model = tiny_model()
    sample = tf.function(lambda n: (model.generative.sample(n, 1)[0], model.recognition.sample(tf.zeros([4, 3]), n, 1)))
    x, z = sample(tf.constant(6))
    np.testing.assert_array_equal(x, model.generative.sample(6, 1)[0])
    assert z[0].shape == (6, 4, 2)


def test_seeds():
    model = tiny_model((4,), units=8)
    x = np.zeros((16, 8))
    generative, recognition = model.generative, model.recognition
    for draw in (lambda seed: generative.sample(16, seed)[0], lambda seed: recognition.sample(x, 3, seed)[0]):
        np.testing.assert_array_equal(draw(5), draw(tf.constant([5, 0])))
        assert np.any(draw(5) != draw(6))


# ---- structure


def test_a_generative_network_without_latent_layers():
    network = ds.GenerativeNetwork([SBN(3)])
    assert network.latent_units == [] and network.units == 3 and network.support == Binary()
    x, z = network.sample(5, 0)
    assert x.shape == (5, 3) and z == []
    np.testing.assert_allclose(network.log_joint(x, []), np.full(5, -3 * np.log(2)), rtol=1e-6)


def test_named_weights_are_layer_and_weight():
    network = ds.GenerativeNetwork([SBN(2, name="top"), SBN(3, name="data")])
    names, variables = zip(*network.named_weights)
    assert names == ("top/kernel", "top/bias", "data/kernel", "data/bias")
    assert all(a is b for a, b in zip(variables, network.trainable_variables))


@pytest.mark.parametrize("network", [ds.GenerativeNetwork, ds.RecognitionNetwork])
@pytest.mark.parametrize("layers", [None, SBN(3), [SBN(3), "sbn"], [keras.layers.Dense(3)], [SBN], {SBN(3)}])
def test_what_is_no_list_of_layers_is_refused(network, layers):
    with pytest.raises(ValueError, match="Received: layers="):
        network(layers)


def test_only_a_recognition_network_may_be_empty():
    with pytest.raises(ValueError, match="at least 1. Received: layers="):
        ds.GenerativeNetwork([])
    assert ds.RecognitionNetwork([]).latent_units == []


@pytest.mark.parametrize("network", [ds.GenerativeNetwork, ds.RecognitionNetwork])
def test_a_layer_may_stand_in_a_network_once(network):
    layer = SBN(3)
    with pytest.raises(ValueError, match="once. Received: layers="):
        network([layer, layer])


def test_sizes_must_meet():
    built = SBN(3)
    built.build((None, 7))
    with pytest.raises(ValueError, match="Received: parents of width 7"):
        ds.GenerativeNetwork([SBN(2), built])
    recognition = ds.RecognitionNetwork([SBN(2)])
    recognition.build((None, 5))
    with pytest.raises(ValueError, match="Received: parents"):
        recognition.sample(np.zeros((1, 4)), 2, seed=0)
    with pytest.raises(ValueError, match="follows a layer of 4 units.*Received: parents of width 5"):
        ds.DeepGenerativeModel(ds.GenerativeNetwork([SBN(2), SBN(4)]), recognition)


@pytest.mark.parametrize(
    "z_shapes", [[], [(4, 2)], [(4, 2), (4, 1), (4, 1)], [(4, 1), (4, 2)], [(4, 1), (4, 1)], [(), ()]]
)
def test_latents_of_other_widths_are_refused(z_shapes):
    model = tiny_model((2, 1), units=3)
    z = [tf.zeros(shape) for shape in z_shapes]
    with pytest.raises(ValueError, match=r"widths \[3, 2, 1\]. Received: shapes"):
        model.generative.log_joint(tf.zeros([4, 3]), z)
    with pytest.raises(ValueError, match=r"widths \[2, 1\]. Received: shapes"):
        model.recognition.log_prob(z, tf.zeros([4, 3]))


@pytest.mark.parametrize("x_shape", [(4, 2), (4, 1), ()])
def test_data_of_another_width_are_refused(x_shape):
    model = tiny_model((2, 1), units=3)
    z = [tf.zeros([4, 2]), tf.zeros([4, 1])]
    with pytest.raises(ValueError, match=r"^x and z must have the widths \[3, 2, 1\]. Received: "):
        model.generative.log_joint(tf.zeros(x_shape), z)


# ---- configuration and weights


def test_config_round_trip():
    model = tiny_model((2, 1), units=3)
    for network in (model.generative, model.recognition):
        config = json.loads(json.dumps(keras.saving.serialize_keras_object(network)))
        twin = keras.saving.deserialize_keras_object(config)
        assert type(twin) is type(network)
        assert json.dumps(keras.saving.serialize_keras_object(twin)) == json.dumps(config)
        assert [(la.name, la.units) for la in twin.layers] == [(la.name, la.units) for la in network.layers]


def test_evaluated_at_reads_other_weights_and_leaves_the_variables():
    model, other = tiny_model((2,), seed=1), tiny_model((2,), seed=2)
    variables = model.generative.trainable_variables
    before = [variable.numpy() for variable in variables]
    values = [tf.convert_to_tensor(variable) for variable in other.generative.trainable_variables]
    x, z = everything(Oracle(model))
    with evaluated_at(variables, values):
        inside = model.generative.log_joint(x, z)
    np.testing.assert_array_equal(inside, other.generative.log_joint(x, z))
    for variable, value in zip(variables, before):
        np.testing.assert_array_equal(variable, value)
    np.testing.assert_allclose(model.generative.log_joint(x, z), Oracle(model).log_joint(x), rtol=1e-5, atol=1e-5)


def test_evaluated_at_needs_a_value_for_every_variable():
    variables = tiny_model().generative.trainable_variables
    with pytest.raises(ValueError):
        evaluated_at(variables, [tf.convert_to_tensor(variable) for variable in variables[:-1]])


@pytest.mark.parametrize("kind", [ds.layers.SBN, ds.layers.DARN])
def test_means_given_the_top_units(kind):
    """E[x given z_2] of each of the four states of z_2, by the sum over the eight of z_1 (and sixteen of x in a DARN).

    A thousand averages of four draws, each of variance 1/16 at most: of 16 means one is six standard errors off with a
    chance of 3e-8. The mean at the mean of z_1 is farther off, as it is in a DARN whose earlier units are 0. In an SBN
    the averages' squared errors are the variance of one draw, by enumeration, over 4, to six standard errors too.
    """
    network = ds.GenerativeNetwork([SBN(2), SBN(3), kind(4)])
    randomize(network, seed=3, scale=2.0)
    top, middle, states = binary_states(2), binary_states(3), binary_states(4)
    _, second, data = network.layers
    logits = top @ second.kernel.numpy().astype(np.float64) + second.bias.numpy()  # (4, 3)
    given_top = np.exp(log_bernoulli(middle[None], logits[:, None]))  # (4, 8)
    given_middle = np.exp(data.log_prob(states[None].astype(np.float32), middle[:, None].astype(np.float32)))  # (8, 16)
    means = given_middle @ states
    exact = given_top @ means
    found = network.mean_given_top(tf.repeat(tf.constant(top, tf.float32), 1000, 0), 4, seed=5).numpy()
    found = found.reshape(4, 1000, 4)
    tolerance = 6 * 0.25 / np.sqrt(1000)
    assert np.abs(found.mean(1) - exact).max() < tolerance
    zeros = np.zeros((8, 4), np.float32)  # for the units before a unit of a DARN
    if data.factorised:
        wrong = data.conditional_mean(zeros[:4], sigmoid(logits).astype(np.float32))
    else:
        wrong = given_top @ data.conditional_mean(zeros, middle.astype(np.float32)).numpy()
    assert np.abs(wrong - exact).max() > 1.5 * tolerance
    if data.factorised:
        variance = (given_top @ means**2 - exact**2) / 4
        squares = (found - exact[:, None]) ** 2
        assert (np.abs(squares.mean(1) - variance) < 6 * squares.std(1) / np.sqrt(1000)).all()
