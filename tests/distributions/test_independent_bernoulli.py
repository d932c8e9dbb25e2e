"""IndependentBernoulli against TFP's tfd.Independent(tfd.Bernoulli), values and gradients, in float64 where exact."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_means

tfd = tfp.distributions
Bernoulli = ds.distributions.IndependentBernoulli


def reference(logits, dtype=None):
    return tfd.Independent(tfd.Bernoulli(logits=logits, dtype=dtype or logits.dtype), 1)


def value_and_gradients(make, x, logits):
    """log p(x) and the gradients of Σ c log p(x) in x and logits, c = 1, 2, 3, … over the batch."""
    with tf.GradientTape() as tape:
        tape.watch([x, logits])
        value = make(logits).log_prob(x)
        weights = tf.cast(tf.reshape(tf.range(1, tf.size(value) + 1), tf.shape(value)), value.dtype)
        total = tf.reduce_sum(weights * value)
    return value, *tape.gradient(total, [x, logits])


def assert_agrees(x, logits, make=Bernoulli):
    """Compares a float32 computation with TFP's in float64."""
    x, logits = np.asarray(x, np.float32), np.asarray(logits, np.float32)
    got = value_and_gradients(make, tf.constant(x), tf.constant(logits))
    want = value_and_gradients(reference, tf.constant(x, tf.float64), tf.constant(logits, tf.float64))
    for a, b in zip(got, want):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("units", [1, 7, 16, 17, 200, 784])
def test_log_prob_and_gradients(units, jit_compile):
    rng = np.random.default_rng(units)
    x, logits = rng.integers(0, 2, (5, units)), rng.normal(0.3, 2.0, (5, units))
    got = tf.function(value_and_gradients, jit_compile=jit_compile)(
        Bernoulli, tf.constant(x, tf.float32), tf.constant(logits, tf.float32)
    )
    exact = tf.constant(x, tf.float64), tf.constant(logits.astype(np.float32), tf.float64)
    want = value_and_gradients(reference, *exact)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("x_shape", "logits_shape"),
    [
        ((4, 6), (3, 4, 6)),
        ((3, 4, 6), (4, 6)),
        ((3, 4, 6), (6,)),
        ((6,), (3, 4, 6)),
        ((3, 4, 6), (4, 1, 6)),
        ((4, 1, 6), (3, 4, 5, 6)),
        ((4, 6), (1, 6)),
        ((6,), (6,)),
        ((0, 6), (6,)),
        ((2, 0), (2, 0)),
    ],
)
def test_broadcasting(x_shape, logits_shape):
    if x_shape == (3, 4, 6) and logits_shape == (4, 1, 6):
        x_shape = (4, 3, 6)
    rng = np.random.default_rng(3)
    assert_agrees(rng.integers(0, 2, x_shape), rng.normal(0.3, 2.0, logits_shape))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize(
    ("x_shape", "logits_shape"), [((5, 6), (1, 6)), ((1, 6), (5, 6)), ((5, 6), (5, 6)), ((1, 6), (1, 6))]
)
def test_gradients_where_shapes_are_known_at_run_time_only(x_shape, logits_shape, jit_compile):
    signature = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None])]

    @tf.function(input_signature=signature, jit_compile=jit_compile)
    def dynamic(x, logits):
        return value_and_gradients(Bernoulli, x, logits)

    rng = np.random.default_rng(4)
    x = tf.constant(rng.integers(0, 2, x_shape), tf.float32)
    logits = tf.constant(rng.normal(size=logits_shape), tf.float32)
    for a, b in zip(dynamic(x, logits), value_and_gradients(reference, x, logits)):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [50.0, 1e4])
def test_extreme_logits(size):
    logits = np.array([[size, -size, size, -size], [size, -size, 0.0, 3.0]])
    x = [[1, 0, 0, 1], [1, 0, 1, 1]]
    assert_agrees(x, logits)
    distribution = Bernoulli(tf.constant(logits, tf.float32))
    assert np.isfinite(distribution.entropy()).all()
    np.testing.assert_allclose(distribution.log_prob(x)[0], -2 * size, rtol=1e-6)


@pytest.mark.parametrize("units", [16, 128, 130, 784])
def test_many_fair_coins(units):
    """Where every factor 1 + exp(−|l|) is 2, a product of too many overflows."""
    np.testing.assert_allclose(Bernoulli(tf.zeros([units])).log_prob(tf.ones([units])), -units * np.log(2), rtol=1e-6)


def test_the_second_derivative():
    logits = tf.constant([0.3, -1.2, 4.0])
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            value = Bernoulli(logits).log_prob([1.0, 0.0, 1.0])
        gradient = inner.gradient(value, logits)
    p = 1 / (1 + np.exp(-logits.numpy()))
    np.testing.assert_allclose(outer.jacobian(gradient, logits), np.diag(-p * (1 - p)), atol=1e-6)


def test_data_of_other_types():
    logits = tf.constant([[0.3, -1.0, 2.0]])
    want = reference(logits).log_prob([[1.0, 0.0, 1.0]])
    for x in (np.array([[1, 0, 1]], np.uint8), tf.constant([[1, 0, 1]], tf.uint8), [[1, 0, 1]], [[1.0, 0.0, 1.0]]):
        np.testing.assert_allclose(Bernoulli(logits).log_prob(x), want, rtol=1e-6)


def test_float64():
    logits = tf.constant([0.3, -1.0, 40.0], tf.float64)
    x = tf.constant([1.0, 1.0, 0.0], tf.float64)
    distribution = Bernoulli(logits)
    assert distribution.log_prob(x).dtype == tf.float64 and distribution.sample(seed=1).dtype == tf.float64
    np.testing.assert_allclose(distribution.log_prob(x), reference(logits).log_prob(x), rtol=1e-14)


@pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 2, 4), (0, 4)])
def test_shapes_and_moments(shape):
    logits = tf.constant(np.random.default_rng(5).normal(size=shape), tf.float32)
    ours, theirs = Bernoulli(logits), reference(logits)
    assert ours.batch_shape == theirs.batch_shape and ours.event_shape == theirs.event_shape
    np.testing.assert_array_equal(ours.batch_shape_tensor(), theirs.batch_shape_tensor())
    np.testing.assert_array_equal(ours.event_shape_tensor(), theirs.event_shape_tensor())
    for statistic in ("mean", "variance", "mode", "entropy", "stddev"):
        np.testing.assert_allclose(getattr(ours, statistic)(), getattr(theirs, statistic)(), rtol=1e-4, atol=1e-6)
    for sample_shape in ((), 5, (5, 2)):
        draws = ours.sample(sample_shape, seed=tf.constant([1, 2]))
        assert draws.shape == theirs.sample(sample_shape, seed=[1, 2]).shape
        assert draws.dtype == tf.float32


def test_draws_of_an_integer_type():
    logits = tf.constant([0.3, -1.0])
    distribution = Bernoulli(logits, dtype=tf.uint8)
    draws = distribution.sample(10, seed=3)
    assert draws.dtype == tf.uint8
    np.testing.assert_allclose(distribution.mean(), tf.sigmoid(logits))
    np.testing.assert_allclose(distribution.variance(), tf.sigmoid(logits) * tf.sigmoid(-logits), rtol=1e-6)
    want = reference(logits).log_prob(tf.cast(draws, tf.float32))
    np.testing.assert_allclose(distribution.log_prob(draws), want, rtol=1e-6)


def test_sample_frequencies():
    """Each unit's mean and each pair's product, exactly known; false failures at most 1e-6."""
    logits = tf.constant([[-2.0, 0.5, 1.0], [3.0, -0.3, 0.0]])
    draws = Bernoulli(logits).sample(2**17, seed=6).numpy()
    p = tf.sigmoid(logits).numpy().astype(np.float64)
    assert_means(draws, p, np.sqrt(p * (1 - p)))
    pairs, joint = draws * np.roll(draws, 1, -1), p * np.roll(p, 1, -1)
    assert_means(pairs, joint, np.sqrt(joint * (1 - joint)))


def test_seeds():
    distribution = Bernoulli(tf.zeros([64]))
    a = distribution.sample(seed=1)
    np.testing.assert_array_equal(a, distribution.sample(seed=tf.constant([1, 0])))
    assert (a.numpy() != distribution.sample(seed=2).numpy()).any()
    assert (distribution.sample().numpy() != distribution.sample().numpy()).any()


def test_copy_and_slicing():
    distribution = Bernoulli(tf.constant([[0.1, 0.2], [0.3, 0.4]]))
    np.testing.assert_array_equal(distribution[1].logits, distribution.logits[1])
    assert distribution.copy(logits=tf.zeros([3])).event_shape == [3]


def test_logits_are_floating():
    with pytest.raises(ValueError, match="Received: logits of dtype int32"):
        ds.distributions.IndependentBernoulli(tf.constant([0, 1]))
    of_numbers = ds.distributions.IndependentBernoulli([0, 1])
    np.testing.assert_allclose(of_numbers.log_prob([1.0, 0.0]), -np.log(2) - np.log1p(np.e), rtol=1e-6)
