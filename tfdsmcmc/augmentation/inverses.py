"""Normal posteriors of many linear models whose unknowns are a priori standard normal but for a scale.

    Σ = S (I + S A S)⁻¹ S,     μ = Σ b,     ln det (I + S A S)         S = diag(s), A positive semidefinite

By the inverse root R of M = I + S A S, that is R = L⁻¹ where M = L Lᵀ, which all come from: M⁻¹ = Rᵀ R has a positive
diagonal however M is rounded. It is made of products of matrices, block by block,

    [A  B]         [R_A               0 ]
    [Bᵀ D]   R  =  [−R_S Wᵀ R_A     R_S],     W = R_A B,   S = D − Wᵀ W,     ln det = ln det A + ln det S

down to small blocks, from which one pivot after the other is eliminated; XLA on a CPU takes ten times as long for a
Cholesky factorisation. The root, not the inverse, of a block goes into the next one: an error of the size of the
condition number, where T = A⁻¹ B and D − Bᵀ T would have its square, which rows that are equal make as large as any.

All is in float64, one matrix after the other, so that they stay in the cache and no second copy of all of them is made.
The diagonal of A is raised by some units in the last place of its type, as many as its rounding may take eigenvalues
below 0: sums over rows in which regressors are equal are singular.

Source: Golub and Van Loan, "Matrix computations" (2013), sections 4.2 and 4.3; Higham, "Accuracy and stability of
numerical algorithms" (2002), chapters 10 and 14.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

_SMALL = 26  # rows of a block from which single pivots are eliminated


def normal_posteriors(precision, linear, scale):
    """The means, covariances and determinants of several posteriors.

    Args:
      precision: A, (J, P, P), positive semidefinite but for its rounding.
      linear: b, (J, P).
      scale: s, (J, P); 0 for an unknown that is 0.

    Returns:
      (μ (J, P), Σ (J, P, P), ln det (I + S A S) (J,)), of the type of A.
    """
    dtype, size = precision.dtype, precision.shape[-1]
    eye = np.eye(size)
    raised = 1 + raise_of(size, dtype) * eye

    def one(parts):
        square, linear, scale = (tf.cast(part, tf.float64) for part in parts)
        matrix = eye + scale[:, tf.newaxis] * square * raised * scale
        root, log_det = _by_blocks(matrix)
        root *= scale
        mean = tf.linalg.matvec(root, tf.linalg.matvec(root, linear), transpose_a=True)
        return tuple(tf.cast(part, dtype) for part in (mean, tf.matmul(root, root, transpose_a=True), log_det))

    like = tuple(tf.TensorSpec(shape, dtype) for shape in (linear.shape[1:], precision.shape[1:], []))
    return tf.map_fn(one, (precision, linear, scale), fn_output_signature=like)


def raise_of(size, dtype):
    """By what share the diagonal of A is raised.

    Sums in float32 over rows of 20 kinds had eigenvalues of −8, −29 and −45 units of the diagonal's last place for 51,
    201 and 401 regressors: in proportion to P, as rounding that depends on the entry's own row and column.
    """
    return max(10, size / 2) * np.finfo(dtype.as_numpy_dtype).eps


def _by_blocks(matrix):
    """(R, ln det)."""
    size = matrix.shape[0]
    if size <= _SMALL:
        return _by_pivots(matrix)
    half = size // 2
    first, log_det = _by_blocks(matrix[:half, :half])
    w = tf.matmul(first, matrix[:half, half:])
    last, log_det_of_rest = _by_blocks(matrix[half:, half:] - tf.matmul(w, w, transpose_a=True))
    below = -tf.matmul(last, tf.matmul(w, first, transpose_a=True))
    upper = tf.pad(first, [[0, 0], [0, size - half]])
    return tf.concat([upper, tf.concat([below, last], 1)], 0), log_det + log_det_of_rest


def _by_pivots(matrix):
    """The elimination that makes M = L' D L'ᵀ upper triangular makes I the inverse of L', whose diagonal is 1."""
    size = matrix.shape[0]

    def one(p, pair):
        factors = tf.where(tf.range(size) > p, pair[:, p] / pair[p, p], 0)
        return p + 1, pair - factors[:, tf.newaxis] * pair[p]

    start = (tf.constant(0), tf.concat([matrix, tf.eye(size, dtype=matrix.dtype)], 1))
    _, pair = tf.while_loop(lambda p, _: p < size, one, start)
    pivots = tf.linalg.diag_part(pair[:, :size])
    return pair[:, size:] * tf.math.rsqrt(pivots)[:, tf.newaxis], tf.reduce_sum(tf.math.log(pivots))
