"""What the tests of the autoregressive distributions share."""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def tensors(operands, dtype=tf.float64):
    """Arrays as tensors of a type."""
    return [tf.constant(part, dtype) for part in operands]


def random_upstream(operands, seed=1):
    """A random factor for each log-probability of operands (…, units)."""
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in operands))
    return np.random.default_rng(seed).normal(0.5, 1.0, shape)


def value_and_gradients(make, operands, upstream):
    """log p(x) and the gradients of Σ upstream · log p(x) in all operands: x, and the arguments of `make`."""
    with tf.GradientTape() as tape:
        tape.watch(operands)
        value = make(*operands[1:]).log_prob(operands[0])
        total = tf.reduce_sum(value * upstream)
    return value, tape.gradient(total, operands)


def summed_to(gradient, shape):
    """A gradient summed over the axes along which its operand of that shape was repeated."""
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    repeated = tuple(i for i, (a, b) in enumerate(zip(gradient.shape, shape)) if a != b)
    return gradient.sum(repeated, keepdims=True)
