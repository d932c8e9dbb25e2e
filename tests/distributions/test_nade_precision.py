"""NADE in float32: long chains, weights of any size, and hidden units that come back from far away."""

import numpy as np
import pytest
import tensorflow as tf

from tests.distributions.nade_by_definition import exact, exact_gradients, random_operands, value_and_gradients
from tests.distributions.support import random_upstream, tensors
from tfdsmcmc.distributions.nade import NADE


def test_a_long_chain():
    """D = 300 in float32. The backward pass takes the 300 terms of a_i off again; what that leaves of rounding is at
    most 3e-5 of the largest entry of each gradient, and of the value 1e-5."""
    operands = random_operands((4, 300), (300,), (20,), scale=0.3)
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-5 * np.abs(want).max())


@pytest.mark.parametrize("far", [20.0, 66.0, 100.0, 330.0, 1300.0])
def test_single_weights_of_any_size(far):
    """One that takes a hidden unit from −far to ½, in float32: log p is that of σ(½), and a gradient is one."""
    c, w, v = np.array([0.5 - far]), np.array([[far], [0.1], [0.1]]), np.array([[0.3], [-1.0], [2.0]])
    operands = [np.ones((1, 3)), np.zeros(3), c, w, v]
    value, gradients = value_and_gradients(tensors(operands, tf.float32), np.ones(1, np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=3e-5)
    for got, want in zip(gradients, exact_gradients(*operands, np.ones(1))):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * max(1, np.abs(want).max()))


def test_no_weight_makes_an_undefined_number():
    operands = random_operands((4, 6), (6,), (5,), scale=2400.0)
    value, gradients = value_and_gradients(tensors(operands, tf.float32), np.ones(4, np.float32))
    assert np.isfinite(value).all() and all(np.isfinite(part).all() for part in gradients)


def test_hidden_units_come_back_from_far_away():
    """Float32. The first half of the units takes each a_i to ±150, where its sigmoid is 0 or 1, the others back."""
    x, b, c, w, v = random_operands((3, 60), (60,), (20,), scale=0.3)
    far = np.where(np.arange(20) % 2, 5.0, -5.0) * np.where(np.arange(60) < 30, 1.0, -1.0)[:, None]
    x = np.concatenate([x, np.ones((1, 60))])
    operands = [x, b, c, w + far, v]
    hidden = np.cumsum(x[..., None] * operands[3], -2)
    assert np.abs(hidden).max() > 140 and np.abs(hidden[-1, -1]).max() < 20
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-5 * np.abs(want).max())


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_far_ends(dtype):
    """Each a_i goes from about 0 to ±480, where its sigmoid has long been 1 or 0. The backward pass takes 60 terms off
    again, each rounded to 2⁻²⁴ of 240 in the mean: what a_i is off by is below 10⁻³, and so is a gradient."""
    x, b, c, w, v = random_operands((3, 60), (60,), (20,), scale=0.3)
    operands = [np.ones((3, 60)), b, c, w + np.where(np.arange(20) % 2, 8.0, -8.0), v]
    assert np.abs(c + operands[3].sum(0)).min() > 450
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, dtype), upstream.astype(dtype.as_numpy_dtype))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("rise", [2.5, 3.2, 4.0, 8.0])
def test_hidden_units_that_come_back_from_farther(rise):
    """Float32. 120 units take each a_i up to ±300 and on to ±960, and 120 take it back to half of that."""
    x, b, c, w, v = random_operands((3, 240), (240,), (6,), scale=0.3)
    rises = np.where(np.arange(240) < 120, rise, -rise / 2)[:, None]
    operands = [np.concatenate([np.ones((2, 240)), x]), b, c, w + np.where(np.arange(6) % 2, rises, -rises), v]
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_gradients_can_be_mapped(scale):
    """Over minibatches, and over weights, some of which take units far and some do not."""
    x, b, c, w, v = random_operands((2, 4, 6), (6,), (5,), scale=0.5)
    weights = tf.constant(np.stack([w, scale * w]), tf.float32)
    b, c, v = tensors([b, c, v], tf.float32)

    def gradient(operands):
        x, w = operands
        with tf.GradientTape() as tape:
            tape.watch(w)
            value = NADE(b, c, w, v).log_prob(x)
        return tape.gradient(value, w)

    operands = tf.constant(x, tf.float32), weights
    one_by_one = [gradient([part[i] for part in operands]) for i in range(2)]
    np.testing.assert_allclose(tf.vectorized_map(gradient, operands), one_by_one, rtol=1e-4, atol=1e-5)
