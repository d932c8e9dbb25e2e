"""Draws of columns of several kinds, put in the order of a table."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common import concatenating
from tfdsmcmc._common.concatenating import in_order


@pytest.mark.parametrize("widths", [[4], [1], [2, 3], [1, 1, 1, 4], [3, 1, 2]])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [64, 1])
def test_it_is_the_gather_of_the_concatenation(widths, seed, most, monkeypatch):
    """So it is for the identity, and for permutations with runs that go on from one part into the next."""
    monkeypatch.setattr(concatenating, "_MOST_RUNS", most)
    rng, units = np.random.default_rng(seed), sum(widths)
    order = np.arange(units) if seed == 0 else np.roll(np.arange(units), seed) if seed < 3 else rng.permutation(units)
    parts = [tf.constant(rng.normal(size=(2, 3, width)), tf.float32) for width in widths]
    found = in_order(parts, order)
    assert found.shape == (2, 3, units)
    np.testing.assert_array_equal(found, tf.gather(tf.concat(parts, -1), order, axis=-1))


def test_unknown_numbers_of_rows_are_welcome():
    of = tf.function(lambda a, b: in_order([a, b], np.array([2, 0, 1])), autograph=False)
    rows = of.get_concrete_function(tf.TensorSpec([None, 2]), tf.TensorSpec([None, 1]))
    assert rows.output_shapes.as_list() == [None, 3]
    np.testing.assert_array_equal(rows(tf.constant([[1.0, 2.0]]), tf.constant([[3.0]])), [[3.0, 1.0, 2.0]])
