"""Sums of logarithms as logarithms of products.

A logarithm costs several times a multiplication, so factors are multiplied in groups of up to 16 first; those of
float16, which ends at 65504, in groups of up to 8.
"""

from __future__ import annotations

import tensorflow as tf

_LARGEST_PRODUCT, _LARGEST_OF_HALVES = 16, 8


def sum_log_of_mantissas(factors: tf.Tensor) -> tf.Tensor:
    """Σ log over the last axis of factors in [1, 2]."""
    units = factors.shape[-1]
    if units is None or units == 0:
        return tf.reduce_sum(tf.math.log(factors), -1)
    most = _LARGEST_OF_HALVES if factors.dtype == tf.float16 else _LARGEST_PRODUCT
    group = max(size for size in range(1, most + 1) if units % size == 0)
    grouped = tf.reshape(factors, tf.concat([tf.shape(factors)[:-1], [group, units // group]], 0))
    products = tf.reduce_prod(grouped, -2)
    return tf.reduce_sum(tf.math.log(products), -1)
