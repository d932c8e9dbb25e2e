"""IndependentNormal against SciPy's normal law, in float64 where exact."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import LEVEL, assert_near

Normal = ds.distributions.IndependentNormal
SHAPES = [  # of μ and σ
    ((4,), (4,)),
    ((4,), (1,)),
    ((1,), (4,)),
    ((3, 4), (4,)),
    ((4,), (3, 4)),
    ((2, 3, 4), (3, 1)),
    ((2, 1, 4), (3, 4)),
    ((0, 4), (4,)),
]


def random_parameters(loc_shape=(3, 4), scale_shape=(4,), seed=0):
    """(μ, σ), float64."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 2.0, loc_shape), np.exp(rng.normal(-0.3, 0.8, scale_shape))


def exact(y, loc, scale):
    """log p(y), by SciPy."""
    return scipy.stats.norm.logpdf(y, loc, scale).sum(-1)


@pytest.mark.parametrize("shapes", SHAPES)
def test_shapes_density_and_moments(shapes):
    loc, scale = random_parameters(*shapes)
    batch = np.broadcast_shapes(loc.shape, scale.shape)[:-1]
    ours = Normal(loc, scale)
    assert ours.dtype == tf.float64 and ours.batch_shape == batch and ours.event_shape == (4,)
    np.testing.assert_array_equal(ours.batch_shape_tensor(), batch)
    np.testing.assert_array_equal(ours.event_shape_tensor(), [4])
    y = np.random.default_rng(1).normal(size=(5, *batch, 4))
    for value in (y, y[0]):
        got = ours.log_prob(value)
        assert got.shape == value.shape[:-1]
        np.testing.assert_allclose(got, exact(value, loc, scale), rtol=1e-12)
    theirs = scipy.stats.norm(*np.broadcast_arrays(loc, scale))
    for got, want in (
        (ours.mean(), theirs.mean()),
        (ours.mode(), theirs.mean()),
        (ours.variance(), theirs.var()),
        (ours.stddev(), theirs.std()),
        (ours.entropy(), theirs.entropy().sum(-1)),
    ):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-12)
    for sample_shape in ((), 5, (5, 2)):
        draws = ours.sample(sample_shape, seed=tf.constant([1, 2]))
        assert draws.shape == (*np.atleast_1d(sample_shape).astype(int), *batch, 4) and draws.dtype == tf.float64


def test_float32():
    loc, scale = random_parameters()
    ours = Normal(tf.constant(loc, tf.float32), tf.constant(scale, tf.float32))
    y = np.random.default_rng(2).normal(size=(5, 3, 4))
    assert ours.dtype == tf.float32 and ours.sample(seed=1).dtype == tf.float32
    np.testing.assert_allclose(ours.log_prob(y.astype(np.float32)), exact(y, loc, scale), rtol=1e-5, atol=1e-5)


def test_gradients_of_the_density():
    """∂/∂μ = (y − μ)/σ² and ∂/∂σ = (y − μ)²/σ³ − 1/σ, and in y the former with the other sign."""
    loc, scale = random_parameters((3, 4), (3, 4))
    y = np.random.default_rng(3).normal(size=(3, 4))
    operands = [tf.constant(part) for part in (y, loc, scale)]
    with tf.GradientTape() as tape:
        tape.watch(operands)
        total = tf.reduce_sum(Normal(*operands[1:]).log_prob(operands[0]) * [1.0, -2.0, 3.0])
    upstream = np.array([[1.0], [-2.0], [3.0]])
    in_loc = upstream * (y - loc) / scale**2
    in_scale = upstream * ((y - loc) ** 2 / scale**3 - 1 / scale)
    for got, want in zip(tape.gradient(total, operands), (-in_loc, in_loc, in_scale)):
        np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_draws_follow_the_law(dtype):
    """Kolmogorov and Smirnov's test of 2¹⁶ draws of each unit, and the correlations of the units; false failures at
    most 1e-6. Catches a mean that is off by 4 % of σ."""
    loc, scale = random_parameters((2, 3), (3,))
    draws = Normal(tf.constant(loc, dtype), tf.constant(scale, dtype)).sample(2**16, seed=4).numpy()
    standard = ((draws - loc) / scale).reshape(-1, 6).astype(np.float64)
    p = [scipy.stats.kstest(column, "norm").pvalue for column in standard.T]
    assert min(p) > LEVEL / 12, p
    products = (standard.T @ standard / len(standard))[np.triu_indices(6, 1)]
    assert_near(products, 0.0, 1 / np.sqrt(len(standard)), LEVEL / 2)


def test_draws_are_reparametrised():
    """y = μ + σ ε: the gradient of a draw is 1 in μ and ε in σ."""
    loc, scale = (tf.constant(part) for part in random_parameters((3, 4), (3, 4)))
    with tf.GradientTape() as tape:
        tape.watch([loc, scale])
        y = Normal(loc, scale).sample(seed=5)
    in_loc, in_scale = tape.gradient(y, [loc, scale])
    np.testing.assert_array_equal(in_loc, np.ones((3, 4)))
    np.testing.assert_allclose(in_scale, (y - loc) / scale, rtol=1e-9)


def test_seeds():
    distribution = Normal(tf.zeros([64]), tf.ones([64]))
    a = distribution.sample(seed=1)
    np.testing.assert_array_equal(a, distribution.sample(seed=tf.constant([1, 0])))
    assert (a.numpy() != distribution.sample(seed=2).numpy()).all()
    assert (distribution.sample().numpy() != distribution.sample().numpy()).all()


def test_copy_and_slicing():
    distribution = Normal(*random_parameters((3, 4), (3, 4)))
    np.testing.assert_array_equal(distribution[1].loc, distribution.loc[1])
    np.testing.assert_array_equal(distribution[1].scale, distribution.scale[1])
    assert distribution.copy(loc=np.zeros(4)).batch_shape == (3,)


def test_jit_changes_nothing():
    def compute(loc, scale):
        distribution = Normal(loc, scale)
        return distribution.log_prob([0.1, 0.2, 0.3, 0.4]), distribution.sample(3, seed=tf.constant([1, 2]))

    parameters = [tf.constant(part, tf.float32) for part in random_parameters()]
    for a, b in zip(tf.function(compute, jit_compile=True)(*parameters), compute(*parameters)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_kl_divergence_is_that_of_tfp():
    rng = np.random.default_rng(5)
    means, scales = rng.normal(size=(2, 3, 4)), rng.uniform(0.2, 2.0, (2, 3, 4))
    ours = [ds.distributions.IndependentNormal(m, s) for m, s in zip(means, scales)]
    theirs = [tfp.distributions.MultivariateNormalDiag(m, s) for m, s in zip(means, scales)]
    want = tfp.distributions.kl_divergence(*theirs)
    np.testing.assert_allclose(tfp.distributions.kl_divergence(*ours), want, rtol=1e-6)


def test_what_is_not_floating():
    assert ds.distributions.IndependentNormal([0, 0], [1, 1]).dtype == tf.float32
    with pytest.raises(ValueError, match="Received: loc of dtype int32"):
        ds.distributions.IndependentNormal(tf.zeros([2], tf.int32), 1)
