"""The order of the units: what is a permutation, and the two ways to apply one."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.distributions.ordering import check_ordering, in_order, in_place

ORDER = [2, 0, 3, 1]  # not its own inverse


@pytest.mark.parametrize("ordering", [ORDER, tuple(ORDER), np.array(ORDER), np.array(ORDER, np.int8)])
def test_a_permutation_becomes_a_list_of_integers(ordering):
    checked = check_ordering(ordering, 4)
    assert checked == ORDER and {type(unit) for unit in checked} == {int}


def test_the_natural_order_is_none():
    x = tf.constant([3.0, 1.0])
    assert check_ordering(None, 4) is None
    assert in_order(x, None) is x and in_place(x, None) is x


@pytest.mark.parametrize(
    "ordering",
    [
        [0, 1, 2],
        [0, 1, 2, 2],
        [1, 2, 3, 4],
        [-1, 0, 1, 2],
        [0, 1, 2, 3, 4],
        [0.0, 1.0, 2.0, 3.0],
        [[0, 1], [2, 3]],
        [[0, 1], [2]],
        [],
        "0123",
        3,
        {0: 1},
    ],
)
def test_anything_else_is_refused(ordering):
    with pytest.raises(ValueError, match="integers from 0 to 3. Received: ordering="):
        check_ordering(ordering, 4)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_the_two_are_inverse(axis):
    x = np.random.default_rng(0).normal(size=(4, 4))
    there = in_order(tf.constant(x), ORDER, axis).numpy()
    np.testing.assert_array_equal(there, np.take(x, ORDER, axis))
    np.testing.assert_array_equal(in_place(tf.constant(there), ORDER, axis), x)
    assert (in_place(tf.constant(x), ORDER, axis).numpy() != there).any()


@pytest.mark.parametrize("axis", [-1, 0])
@pytest.mark.parametrize("permute", [in_order, in_place])
def test_the_gradient_is_dense_and_permuted_back(permute, axis):
    rng = np.random.default_rng(1)
    x, upstream = tf.constant(rng.normal(size=(4, 4))), rng.normal(size=(4, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = tf.reduce_sum(permute(x, ORDER, axis) * upstream)
    gradient = tape.gradient(total, x)
    assert isinstance(gradient, tf.Tensor), "a gradient of slices is scattered again"
    back = np.argsort(ORDER) if permute is in_order else ORDER
    np.testing.assert_array_equal(gradient, np.take(upstream, back, axis))
