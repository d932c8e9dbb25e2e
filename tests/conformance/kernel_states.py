"""A target of a transition kernel, a state, and comparisons of states."""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def gradient(*parts, seed):
    """Gradient of an anharmonic log target, −Σ log cosh θ − θ²/2, for a state that is a list."""
    del seed
    return [-tf.tanh(part) - part for part in parts]


def some_state(dtype=tf.float32):
    return [tf.constant([[0.3, -1.2, 2.0]], dtype), tf.constant([0.7, -0.4], dtype)]


def assert_equal(actual, expected):
    tf.nest.assert_same_structure(actual, expected)
    for x, y in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_array_equal(x, y)


def assert_close(actual, expected, rtol):
    tf.nest.assert_same_structure(actual, expected)
    for x, y in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)
