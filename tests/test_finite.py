"""Whether numbers are finite, wherever among many the one stands that is not."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common.finite import all_finite


@pytest.mark.parametrize("shape", [(), (7,), (100, 100), (101, 99), (20_004,), (0, 3)])
def test_every_entry_counts(shape):
    """Small and large tensors, alone and beside another of the shape, with one infinity or NaN at either end, in the
    middle and near them; a count that is a multiple of 16, of 4, and odd."""
    rng = np.random.default_rng(0)
    good, other = rng.normal(size=(2, *shape)).astype(np.float32)
    assert all_finite([good, other, tf.constant(3)])
    for place in {0, 1, good.size // 16, good.size // 2, good.size - 1} & set(range(good.size)):
        for wrong in (np.inf, -np.inf, np.nan):
            bad = np.array(good)  # of a number too
            bad.reshape(-1)[place] = wrong
            for tensors in ([bad], [good, bad], [bad, good, tf.zeros([2])], [tf.zeros([2]), other, bad]):
                assert not all_finite(tensors)


def test_nothing_is_finite():
    assert all_finite([]) and all_finite([tf.constant([1, 2])])


def test_shapes_that_are_not_known():
    found = tf.function(lambda *parts: all_finite(parts), [tf.TensorSpec([None]), tf.TensorSpec([None, 2])])
    assert found(tf.zeros([3]), tf.zeros([1, 2])) and not found(tf.zeros([3]), tf.constant([[0.0, np.nan]]))
