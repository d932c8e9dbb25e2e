"""Draws of the scales, each against its conditional law; the law of the weights that they imply in
`tests/augmentation/test_joint.py`."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import LEVEL
from tfdsmcmc import random

Column = ds.priors.ColumnThreeParameterBetaNormal


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.2, 0.8)])
def test_the_conditional_laws(a, b):
    """2,000 columns of three weights: Kolmogorov and Smirnov's tests of each scale times its rate, and of ζ given the
    other scales, at two values of w and ξ."""
    rng, shape = np.random.default_rng(0), (2000, 3)
    prior = Column(a, b)
    value = np.where(rng.random(shape) < 0.5, 0.1, -2.0).astype(np.float32)
    before = [np.ones(shape), np.where(rng.random(shape) < 0.5, 0.3, 5.0), rng.gamma(1.0, size=(2000, 1)), 0.7]
    before = [tf.constant(part, tf.float32) for part in before]
    zeta, xi, phi, omega = (part.numpy().astype(np.float64) for part in prior.update_auxiliary(value, before, [3, 4]))
    old_xi, old_phi = before[1].numpy().astype(np.float64), before[2].numpy().astype(np.float64)
    gamma = scipy.stats.gamma
    laws = [
        (xi * (zeta + old_phi), gamma(a + b).cdf),
        (phi * (0.7 + xi.sum(1, keepdims=True)), gamma(0.5 + 3 * b).cdf),
    ]
    for w in (0.1, -2.0):
        for rate in (0.3, 5.0):
            here = (np.abs(value - w) < 1e-6) & (np.abs(old_xi - rate) < 1e-6)
            root, scale = (2 * rate * w**2) ** 0.5, (w**2 / 2 / rate) ** 0.5
            laws.append((zeta[here], scipy.stats.geninvgauss(a - 0.5, root, scale=scale).cdf))
    for drawn, cdf in laws:
        assert scipy.stats.kstest(np.ravel(drawn), cdf).pvalue > LEVEL / len(laws) / 2
    # a single number, of a gamma law of mean and variance 1000.5
    assert abs(omega * (1 + phi.sum()) - 1000.5) < 6 * 1000.5**0.5


def test_biases_zeros_and_a_floor():
    prior = Column(minimum_scale=0.2)
    for shape, columns in (((5,), (1,)), ((0, 4), (0, 1)), ((3, 4), (3, 1))):
        auxiliary = prior.initial_auxiliary(tf.zeros(shape), random.as_seed(1))
        assert [tuple(part.shape) for part in auxiliary] == [shape, shape, columns, ()]
        again = prior.update_auxiliary(tf.zeros(shape), auxiliary, random.as_seed(2))
        assert all(np.isfinite(part).all() and (part.numpy() > 0).all() for part in again)
    value, auxiliary = tf.constant([[0.2, -0.5]]), [tf.constant([[0.3, 0.02]]), None, None, None]
    want = scipy.stats.norm.logpdf(value, scale=np.sqrt([[0.34, 0.06]])).sum()
    np.testing.assert_allclose(prior.log_prob(value, auxiliary), want, rtol=1e-5)
    mean, variance = prior.conditional_normal(auxiliary)
    assert float(mean) == 0 and np.allclose(variance, [[0.34, 0.06]])


def test_configuration_and_refusals():
    prior = Column(0.7, 1.1, 0.1)
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(prior))
    assert again.get_config() == prior.get_config() == {"a": 0.7, "b": 1.1, "minimum_scale": 0.1}
    for name, value in (("a", 0), ("b", -1.0), ("minimum_scale", -0.1)):
        with pytest.raises(ValueError, match=f"{name} must be .*Received: {name}="):
            Column(**{name: value})


def test_kernels_need_a_floor():
    """What follows a gradient refuses m = 0 at `compile`; what does not, such as φ alone, takes it."""
    model = ds.models.from_name("SBN/SBN 2", units=3, prior={"bias": None, "": Column()})
    with pytest.raises(ValueError, match="a minimum_scale above 0.* Received: minimum_scale=0 for the weight .*kernel"):
        model.compile(**ds.methods.dsgnht_nais())
    assert model.run is None
    model.compile(kernel="sgld", kernel_steps=0)
    model = ds.models.from_name("SBN/SBN 2", units=3, prior={"bias": None, "": Column(minimum_scale=0.01)})
    model.compile(**ds.methods.dsgnht_nais())
