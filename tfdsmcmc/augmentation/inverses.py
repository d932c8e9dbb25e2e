"""Inverses of many positive definite matrices, each by products of matrices.

    [A  B]⁻¹   [A⁻¹ + U Tᵀ   −U ]
    [Bᵀ D]   = [−Uᵀ          S⁻¹],     T = A⁻¹ B,   S = D − Bᵀ T,   U = T S⁻¹,     ln det = ln det A + ln det S

down to small blocks, which Gauss and Jordan's steps invert, one pivot after the other. Both keep to the diagonal, which
positive definite matrices allow; the pivots are those of the Cholesky factorisation, which XLA on a CPU takes ten times
as long for. An inverse of a block loses twice the digits that its factorisation would, so all is in float64; one matrix
after the other, so that they stay in the cache and no second copy of all of them is made.

Source: Golub and Van Loan, "Matrix computations" (2013), sections 3.2 and 4.2.
"""

from __future__ import annotations

import tensorflow as tf

_SMALL = 26  # rows of a block that is inverted pivot by pivot


def inverse_and_log_det(matrices):
    """(the inverses (J, P, P), ln det (J,)) of positive definite matrices (J, P, P)."""
    dtype = matrices.dtype

    def one(matrix):
        inverse, log_det = _by_blocks(tf.cast(matrix, tf.float64))
        return tf.cast(inverse, dtype), tf.cast(log_det, dtype)

    like = (tf.TensorSpec(matrices.shape[1:], dtype), tf.TensorSpec([], dtype))
    return tf.map_fn(one, matrices, fn_output_signature=like)


def _by_blocks(matrix):
    size = matrix.shape[0]
    if size <= _SMALL:
        return _by_pivots(matrix)
    half = size // 2
    a, b, d = matrix[:half, :half], matrix[:half, half:], matrix[half:, half:]
    first, log_det = _by_blocks(a)
    t = tf.matmul(first, b)
    last, log_det_of_rest = _by_blocks(d - tf.matmul(b, t, transpose_a=True))
    u = tf.matmul(t, last)
    upper = tf.concat([first + tf.matmul(u, t, transpose_b=True), -u], 1)
    lower = tf.concat([-tf.transpose(u), last], 1)
    return tf.concat([upper, lower], 0), log_det + log_det_of_rest


def _by_pivots(matrix):
    size = matrix.shape[0]

    def one(p, matrix, log_det):
        pivot, column = matrix[p, p], matrix[:, p]
        row, here = matrix[p] / pivot, tf.range(size) == p
        swept = matrix - (column - tf.cast(here, matrix.dtype))[:, tf.newaxis] * row
        new_column = tf.where(here, tf.ones_like(column), -column) / pivot
        return p + 1, tf.where(here, new_column[:, tf.newaxis], swept), log_det + tf.math.log(pivot)

    start = (tf.constant(0), matrix, tf.zeros([], matrix.dtype))
    _, inverse, log_det = tf.while_loop(lambda p, *_: p < size, one, start)
    return inverse, log_det
