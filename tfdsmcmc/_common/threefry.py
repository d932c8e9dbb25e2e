"""Threefry-2x32 with 20 rounds: the random words behind every seed and every draw.

    (y₀, y₁) = Threefry(key, counter),  all of them uint32

is a bijection of the counter for each key, so that words of one key and different counters never repeat a pair. It is
written in uint32 tensor operations, which XLA fuses into one loop, on a CPU many times faster than its stock
generators; the bits are the same jitted, unjitted, exported and on every device.

Source: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, and its published
known-answer vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import ArrayLike

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


def threefry_2x32(
    key: Sequence[ArrayLike], counter: Sequence[ArrayLike], operations: Any = tf.bitwise
) -> tuple[ArrayLike, ArrayLike]:  # fmt: skip
    """The block function.

    Args:
      key: two uint32 tensors.
      counter: two uint32 tensors that broadcast with the key.
      operations: `np` where they are arrays, of one axis at least.

    Returns:
      Two uint32 tensors.
    """
    xor = operations.bitwise_xor

    def rotate_left(x, distance):
        # The two parts have no bit in common, so that "xor" joins them as "or" does. TensorFlow, op by op, takes half
        # of the time for it, and a quarter for a product in place of the left shift. XLA makes the same of either.
        left = x * np.uint32(1 << distance)
        return xor(left, operations.right_shift(x, np.uint32(32 - distance)))

    key0, key1 = key
    keys = (key0, key1, xor(xor(key0, key1), _PARITY))
    x0, x1 = counter[0] + key0, counter[1] + key1
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x0 += x1
            x1 = xor(rotate_left(x1, rotation), x0)
        x0 += keys[(group + 1) % 3]
        x1 += keys[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


# One function rather than 150 operations wherever words are drawn: programs are traced several times as fast, XLA makes
# the same loops of it, and op by op a call costs half of what the operations do.
@tf.function(
    input_signature=[tf.TensorSpec([2], tf.int32), tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)],
    autograph=False,
)
def words(seed: tf.Tensor, low: tf.Tensor, high: int | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Two uint32 tensors (n,): the words of the counters (low_i, high) under a seed.

    Args:
      seed: int32 of shape (2,), the key.
      low: (n,) int32.
      high: int32 scalar.
    """
    if tf.executing_eagerly():
        return _eager_words(seed, low, high)
    key = tf.unstack(tf.bitcast(seed, tf.uint32))
    return threefry_2x32(key, (tf.bitcast(low, tf.uint32), tf.bitcast(high, tf.uint32)))


@tf.function(input_signature=[tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.int64)], autograph=False)
def word_pair(seed: tf.Tensor, counter: int | tf.Tensor) -> tf.Tensor:
    """int32 of shape (2,): the words of one counter, an int64 scalar, under a seed."""
    if tf.executing_eagerly():
        low, high = np.reshape(np.int64(counter), [1]).view(np.int32)
        return tf.bitcast(tf.concat(_eager_words(seed, low, high), 0), tf.int32)
    key = tf.unstack(tf.bitcast(seed, tf.uint32))
    low, high = tf.unstack(tf.bitcast(counter, tf.uint32))
    return tf.bitcast(tf.stack(threefry_2x32(key, (low, high))), tf.int32)


def _eager_words(seed, low, high):
    """`words` where TensorFlow was told to run functions eagerly: by NumPy, as 150 operations in turn take long."""
    key, low, high = (np.reshape(np.asarray(part, np.int32), [-1]).view(np.uint32) for part in (seed, low, high))
    return tuple(map(tf.constant, threefry_2x32((key[:1], key[1:]), (low, high), np)))
