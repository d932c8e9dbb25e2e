"""Symmetric matrices as their wrapped diagonals, half of their entries: of sums of products, half of the work.

A (P, P) is kept as A_(i, i + s mod P) for s = 0, …, ⌊P/2⌋ and all i, (⌊P/2⌋ + 1, P): the diagonal first. Each entry
below the diagonal is that above it; for an even P the last s has all of its entries twice.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def count(size: int) -> int:
    """⌊P/2⌋ + 1, how many wrapped diagonals there are."""
    return size // 2 + 1


def places(size: int) -> np.ndarray:
    """Where each entry stands among the wrapped diagonals, one after the other, (P, P) int32."""
    first, second = np.indices((size, size))
    distance = (second - first) % size
    near = distance <= size // 2
    distance, start = np.where(near, distance, size - distance), np.where(near, first, second)
    return (distance * size + start).astype(np.int32)


def wrapped(matrix: tf.Tensor) -> tf.Tensor:
    """The wrapped diagonals (…, ⌊P/2⌋ + 1, P) of matrices (…, P, P)."""
    size = matrix.shape[-1]
    distance, first = np.indices((count(size), size))
    return _taken(matrix, first * size + (first + distance) % size)


def expanded(diagonals: tf.Tensor) -> tf.Tensor:
    """The matrices (…, P, P) of wrapped diagonals."""
    return _taken(diagonals, places(diagonals.shape[-1]))


def row(diagonals: tf.Tensor, size: int, p: int | tf.Tensor) -> tf.Tensor:
    """Row p, (P, …), of matrices of P rows whose diagonals stand one after the other in the first axis."""
    return tf.gather(diagonals, tf.gather(tf.constant(places(size)), p))


def products(r: tf.Tensor) -> tf.Tensor:
    """The wrapped diagonals (…, ⌊P/2⌋ + 1, P) of r rᵀ for r (…, P)."""
    return _products(r, tf.square(r))


def products_of_bits(r: tf.Tensor) -> tf.Tensor:
    """Those of E[y yᵀ] for independent zeros and ones y of the means r (…, P), of which y² = y."""
    return _products(r, r)


def counted(diagonals: tf.Tensor) -> tf.Tensor:
    """Each entry times how often it stands in the matrix: tr AB is the sum of A's entries, counted, times B's."""
    size = diagonals.shape[-1]
    often = np.full([count(size), 1], 2.0)
    often[0] = 1
    if size % 2 == 0:
        often[-1] = 1
    return diagonals * tf.constant(often, diagonals.dtype)


def flat(diagonals: tf.Tensor) -> tf.Tensor:
    """The diagonals one after the other, (…, (⌊P/2⌋ + 1)·P)."""
    lead = [-1 if n is None else n for n in diagonals.shape[:-2]]
    return tf.reshape(diagonals, [*lead, diagonals.shape[-2] * diagonals.shape[-1]])


def _products(r, squares):
    size = r.shape[-1]
    distance, first = np.indices((count(size), size))
    partners = tf.gather(r, tf.constant(((first + distance) % size)[1:].astype(np.int32)), axis=-1)
    return tf.concat([squares[..., tf.newaxis, :], r[..., tf.newaxis, :] * partners], -2)


def _taken(parts, index):
    """The entries of the last two axes, as one, at an index of two."""
    return tf.gather(flat(parts), tf.constant(index.astype(np.int32)), axis=-1)
