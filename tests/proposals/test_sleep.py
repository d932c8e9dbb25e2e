"""The sleep objective's gradient against enumeration of every dream, and its average with the wake objective."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, flat, self_normalized, tiny_model
from tests.proposals.gradients import mean_gradient, moments
from tfdsmcmc._common.types import WeightedLatents

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
SEED = tf.constant([3, 4])


def sleep_gradient(oracle):
    """E[∇ log q(z' given x')] over (x', z') ~ p(x, z; θ): its mean and the variance of one dream, each (m,)."""
    dreams = binary_states(oracle.units)
    p = np.exp(oracle.log_joint(dreams)).reshape(-1, 1)
    values = flat(oracle.q_gradient(dreams), 2)
    return [part[0] for part in moments(p, values.reshape(len(p), 1, -1))]


@pytest.mark.parametrize("latent_units", [(2,), (2, 1)])
def test_sleep_is_the_expectation_over_dreams(latent_units):
    """2¹⁷ dreams; false failures at most 1e-6. Catches dreams of another law, such as z' from q or x' from the data."""
    model = tiny_model(latent_units, seed=1, scale=0.7)
    mean, variance = sleep_gradient(Oracle(model))
    rows, calls = 2**14, 8
    gradient = mean_gradient(ds.proposals.Sleep(), model, np.repeat(X, rows // 2, 0), 1, calls)
    assert np.abs(mean).max() > 0.1, "nothing to learn: choose another seed"
    assert_near(gradient, mean, np.sqrt(variance / (rows * calls)))


def test_sleep_vanishes_where_q_is_the_posterior():
    """With p(x given z) free of z the posterior is the prior; then q is right for every dream."""
    model = tiny_model((2,), seed=3)
    top, data = model.generative.layers
    data.kernel.assign(tf.zeros_like(data.kernel))
    model.recognition.layers[0].kernel.assign(tf.zeros([3, 2]))
    model.recognition.layers[0].bias.assign(top.bias)
    np.testing.assert_allclose(sleep_gradient(Oracle(model))[0], 0.0, atol=1e-7)


def test_there_are_as_many_dreams_as_rows():
    model = tiny_model((2,), seed=2)
    for rows in (1, 7):
        dreamt, z = model.generative.sample(rows, SEED)
        want = Oracle(model).log_q(dreamt.numpy())[Oracle(model).state(z), np.arange(rows)].mean()
        got = ds.proposals.Sleep().surrogate(model.generative, model.recognition, np.zeros([rows, 3]), None, SEED)
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_wake_sleep_is_exact_at_two_samples():
    """(1 − s) wake + s sleep with s = 0.3, the wake half from all pairs of states; false failures at most 1e-6."""
    model = tiny_model((2,), seed=1)
    oracle, copies, calls = Oracle(model), 2**13, 8
    values, log_q, log_weights = flat(oracle.q_gradient(X), 2), oracle.log_q(X), oracle.log_weights(X)
    rows = [self_normalized(log_q[:, i], log_weights[:, i], values[:, i], 2) for i in range(2)]
    wake, wake_variance = np.mean([row[0] for row in rows], 0), np.mean([row[1] ** 2 for row in rows], 0)
    sleep, sleep_variance = sleep_gradient(oracle)
    error = np.sqrt((0.49 * wake_variance + 0.09 * sleep_variance) / (2 * copies * calls))
    proposal = ds.proposals.WakeSleep(sleep_weight=0.3)
    gradient = mean_gradient(proposal, model, np.repeat(X, copies, 0), 2, calls)
    assert np.abs(wake - sleep).max() > 100 * error.max(), "the halves are too alike: choose another seed"
    assert_near(gradient, 0.7 * wake + 0.3 * sleep, error)


def test_wake_sleep_has_both_as_its_ends():
    model = tiny_model((2,), seed=3)
    latents = WeightedLatents([tf.ones([5, 2, 2])], tf.zeros([5, 2]))

    def value(proposal):
        return float(proposal.surrogate(model.generative, model.recognition, X, latents, SEED))

    wake, sleep = value(ds.proposals.Wake()), value(ds.proposals.Sleep())
    assert wake != sleep
    for weight, want in ((0, wake), (0.25, 0.75 * wake + 0.25 * sleep), (1, sleep)):
        assert value(ds.proposals.WakeSleep(sleep_weight=weight)) == pytest.approx(want, rel=1e-5)


@pytest.mark.parametrize("weight", [-0.1, 1.1, True, "half", None, np.nan])
def test_the_weight_is_checked(weight):
    with pytest.raises(ValueError, match="Received: sleep_weight="):
        ds.proposals.WakeSleep(sleep_weight=weight)
    with pytest.raises(ValueError, match="Received: redraw="):
        ds.proposals.WakeSleep(redraw=1)


@pytest.mark.parametrize("proposal", [ds.proposals.Sleep("sgd"), ds.proposals.WakeSleep("sgd", sleep_weight=1.0)])
def test_a_dream_counts_as_often_as_the_row_of_its_context(proposal):
    """What is learnt from rows of weight 0 is nothing, and of weight 2 what is learnt from them twice."""
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(3)], context=[2])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]))
    context = np.eye(2, dtype=np.float32)[[0, 0, 1, 1]]
    draws = WeightedLatents([tf.zeros([1, 4, 2])], tf.zeros([1, 4]))

    def gradient(weight):
        rows = ds.Rows(tf.zeros([4, 3]), context=tf.constant(context), weight=weight)
        with tf.GradientTape() as tape:
            value = proposal.surrogate(model.generative, model.recognition, rows, draws, SEED)
        return tape.gradient(value, model.recognition.layers[0].kernel.value)[-2:]  # of the two contexts

    first = gradient(tf.constant([[1.0], [1.0], [0.0], [0.0]]))
    assert np.abs(first[0]).max() > 0 and np.abs(first[1]).max() == 0
    plain, twice = gradient(None), gradient(tf.fill([4, 1], 2.0))
    np.testing.assert_allclose(twice, 2 * np.array(plain), rtol=1e-5)
