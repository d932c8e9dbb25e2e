"""The affine map of a stack of row vectors, with a backward pass that suits XLA on a CPU."""

from __future__ import annotations

import tensorflow as tf


def affine(x: tf.Tensor, kernel: tf.Tensor | tf.Variable, bias: tf.Tensor | tf.Variable) -> tf.Tensor:
    """x @ kernel + bias for x of any rank.

    The leading axes are flattened, so that both passes are single matrix products, and the gradient of the bias
    is a product with ones (XLA on a CPU reduces slowly over a leading axis).

    Args:
      x: (…, inputs).
      kernel: (inputs, units).
      bias: (units,).

    Returns:
      (…, units).
    """
    if kernel.shape[0] == 0:
        return bias + tf.zeros(tf.concat([tf.shape(x)[:-1], [1]], 0), bias.dtype) if x.shape.rank > 1 else bias
    if x.shape.rank == 2:
        return _affine(x, kernel, bias)
    flat = _affine(tf.reshape(x, [-1, kernel.shape[0]]), kernel, bias)
    return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], [kernel.shape[1]]], 0))


@tf.custom_gradient
def _affine(x, kernel, bias):
    def gradient(upstream):
        ones = tf.ones(tf.stack([1, tf.shape(x)[0]]), upstream.dtype)
        return (
            tf.matmul(upstream, kernel, transpose_b=True),
            tf.matmul(x, upstream, transpose_a=True),
            tf.matmul(ones, upstream)[0],
        )

    return tf.matmul(x, kernel) + bias, gradient
