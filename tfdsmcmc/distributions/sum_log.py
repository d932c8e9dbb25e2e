"""Sums of logarithms as logarithms of products.

A logarithm costs several times a multiplication, so factors are multiplied in groups of up to 16 first. Factors in
[1, 2] can be; any other is split into its mantissa in [1, 2) and its exponent, which are bits of the number itself:
x = 2ᵏ m, log x = log m + k log 2.
"""

from __future__ import annotations

import math

import tensorflow as tf

_LARGEST_PRODUCT = 16


def sum_log_of_mantissas(factors):
    """Σ log over the last axis of factors in [1, 2]."""
    units = factors.shape[-1]
    if units is None or units == 0:
        return tf.reduce_sum(tf.math.log(factors), -1)
    group = max(size for size in range(1, _LARGEST_PRODUCT + 1) if units % size == 0)
    grouped = tf.reshape(factors, tf.concat([tf.shape(factors)[:-1], [group, units // group]], 0))
    products = tf.reduce_prod(grouped, -2)
    return tf.reduce_sum(tf.math.log(products), -1)


def sum_log(factors):
    """Σ log over the last axis of positive normal float32 numbers."""
    bits = tf.bitcast(factors, tf.int32)
    exponents = tf.bitwise.right_shift(bits, 23) - 127
    one = 0x3F800000  # the bits of 1.0
    mantissas = tf.bitcast(tf.bitwise.bitwise_or(tf.bitwise.bitwise_and(bits, 0x7FFFFF), one), tf.float32)
    return sum_log_of_mantissas(mantissas) + math.log(2.0) * tf.cast(tf.reduce_sum(exponents, -1), tf.float32)
