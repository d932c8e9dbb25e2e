"""Normal posteriors of many linear models whose unknowns are a priori standard normal but for a scale.

    Σ = S (I + S A S)⁻¹ S,     μ = Σ b,     ln det (I + S A S)         S = diag(s), A positive semidefinite

By the inverse root R of M = I + S A S, that is R = L⁻¹ where M = L Lᵀ, which all come from: M⁻¹ = Rᵀ R has a positive
diagonal however M is rounded. It is made of products of matrices, block by block,

    [A  B]         [R_A               0 ]
    [Bᵀ D]   R  =  [−R_S Wᵀ R_A     R_S],     W = R_A B,   S = D − Wᵀ W,     ln det = ln det A + ln det S

down to small blocks, from which one pivot after the other is eliminated; XLA on a CPU takes ten times as long for a
Cholesky factorisation. The root, not the inverse, of a block goes into the next one: an error of the size of the
condition number, where T = A⁻¹ B and D − Bᵀ T would have its square, which rows that are equal make as large as any.

All is in float64, so many matrices at a time as stay in the cache, and no second copy of all of them is made. The
diagonal of A is raised by some units in the last place of its type, as many as its rounding may take eigenvalues below
0: sums over rows in which regressors are equal are singular. The price is paid by what the rows leave open, a direction
u with A u = 0: its variance, v = s² a priori and rightly so a posteriori, becomes

    v / (1 + v r a),     r = max(10, P/2) 2⁻²³, a the diagonal of A there

for 201 regressors, r = 1.2·10⁻⁵, and a = 500, as ten thousand rows may give: 0.6 % less at v = 1, 6 % at 10 and 37 % at
100. Where weights are small a priori, as under priors that switch them off, it is nothing; under wide ones, draws of
what no row tells are too narrow. In float64 sums r would be 2·10⁻¹⁴, at more than twice the time of all products.

Source: Golub and Van Loan, "Matrix computations" (2013), sections 4.2 and 4.3; Higham, "Accuracy and stability of
numerical algorithms" (2002), chapters 10 and 14.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import loops
from tfdsmcmc.augmentation.shared import symmetric

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, TensorLike

_SMALL = 26  # rows of a block from which single pivots are eliminated
_CACHED = 2**15  # numbers of the matrices that are worked off together


def normal_posteriors(
    precision: tf.Tensor,
    linear: tf.Tensor,
    scale: tf.Tensor,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The means, covariances and determinants of several posteriors.

    Args:
      precision: A as wrapped diagonals (`symmetric`), (J, ⌊P/2⌋ + 1, P), positive semidefinite but for its rounding.
      linear: b, (J, P).
      scale: s, (J, P); 0 for an unknown that is 0.

    Returns:
      (μ (J, P), Σ as wrapped diagonals, ln det (I + S A S) (J,)), of the type of A.
    """

    def some(numbers):
        b, s = (tf.cast(tf.gather(part, numbers), tf.float64) for part in (linear, scale))
        root, log_det = inverse_root(scaled(symmetric.expanded(tf.gather(precision, numbers)), s))
        root *= s[:, tf.newaxis]
        mean = tf.linalg.matvec(root, tf.linalg.matvec(root, b), transpose_a=True)
        return tuple(tf.cast(part, precision.dtype) for part in (mean, symmetric.wrapped(_square(root)), log_det))

    like = tuple(tf.TensorSpec(shape, precision.dtype) for shape in (linear.shape, precision.shape, linear.shape[:1]))
    return in_groups(some, linear.shape, like)


def normal_draws(matrix: TensorLike, linear: TensorLike, noise: TensorLike) -> tf.Tensor:
    """Draws Rᵀ (R b + ε) of N(M⁻¹ b, M⁻¹), for M (…, P, P), b (…, P) and standard normal ε (…, P)."""
    root, _ = inverse_root(matrix)
    return tf.linalg.matvec(root, tf.linalg.matvec(root, linear) + noise, transpose_a=True)


def scaled(square: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """I + S A S in float64, the diagonal of A raised, for A (…, P, P) and s (…, P)."""
    size, scale = square.shape[-1], tf.cast(scale, tf.float64)
    eye = np.eye(size)
    raised = tf.cast(square, tf.float64) * (1 + raise_of(size, square.dtype) * eye)
    return eye + scale[..., tf.newaxis] * raised * scale[..., tf.newaxis, :]


def raise_of(size: int, dtype: tf.DType) -> float | np.floating[Any]:
    """r, by what share the diagonal of A is raised.

    Sums in float32 over rows of 20 kinds had eigenvalues of −8, −29 and −45 units of the diagonal's last place for 51,
    201 and 401 regressors: in proportion to P, as rounding that depends on the entry's own row and column.
    """
    return max(10, size / 2) * np.finfo(dtype.as_numpy_dtype).eps


def in_groups(function: Callable[[tf.Tensor], Nest], shape: Sequence[int] | tf.TensorShape, like: Nest) -> Nest:
    """What a function gives for the numbers of some of J matrices, for all of them.

    Args:
      function: (G,) int32 → tensors of G entries, a structure.
      shape: (J, P).
      like: `tf.TensorSpec` of the results for all J, a structure.
    """
    count, unknowns = shape
    size = min(count, max(1, _CACHED // unknowns**2))
    if size == count:
        return function(tf.range(count))
    groups = -(-count // size)
    own = tf.nest.map_structure(lambda spec: tf.TensorSpec([size, *spec.shape[1:]], spec.dtype), like)
    numbers = tf.reshape(tf.minimum(tf.range(groups * size), count - 1), [groups, size])
    found = loops.map_fn(function, numbers, fn_output_signature=own)
    return tf.nest.map_structure(lambda part: tf.reshape(part, [-1, *part.shape[2:]])[:count], found)


def inverse_root(matrix: TensorLike) -> tuple[tf.Tensor, tf.Tensor]:
    """(R, ln det) of positive definite matrices (…, P, P)."""
    size = matrix.shape[-1]
    if size <= _SMALL:
        return _by_pivots(matrix)
    half = size // 2
    first, log_det = inverse_root(matrix[..., :half, :half])
    w = tf.matmul(first, matrix[..., :half, half:])
    last, log_det_of_rest = inverse_root(matrix[..., half:, half:] - _square(w))
    below = -tf.matmul(last, tf.matmul(w, first, transpose_a=True))
    upper = tf.concat([first, tf.zeros_like(w)], -1)
    return tf.concat([upper, tf.concat([below, last], -1)], -2), log_det + log_det_of_rest


def _square(matrix):
    return tf.matmul(matrix, matrix, transpose_a=True)


def _by_pivots(matrix):
    """The elimination that makes M = L' D L'ᵀ upper triangular makes I the inverse of L', whose diagonal is 1."""
    size = matrix.shape[-1]

    def one(p, pair):
        pivot = pair[..., p, :]
        factors = tf.where(tf.range(size) > p, pair[..., p] / pivot[..., p, tf.newaxis], 0)
        return p + 1, pair - factors[..., tf.newaxis] * pivot[..., tf.newaxis, :]

    start = (tf.constant(0), tf.concat([matrix, tf.zeros_like(matrix) + np.eye(size)], -1))
    _, pair = loops.while_loop(lambda p, _: p < size, one, start)
    pivots = tf.linalg.diag_part(pair[..., :size])
    return pair[..., size:] * tf.math.rsqrt(pivots)[..., tf.newaxis], tf.reduce_sum(tf.math.log(pivots), -1)
