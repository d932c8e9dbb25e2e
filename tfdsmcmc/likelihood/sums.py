"""Sums over importance weights, streamed over draws with a running maximum so that nothing overflows.

    m = max_k log w_k,      t = Σ_k exp(log w_k − m),      s = Σ_k exp(2 (log w_k − m))

    log p(x)                 ≈ m + log t − log K
    standard error             √((K s / t² − 1) / (K − 1))
    effective sample size      t² / s

Everything here is in tensors and runs in a graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random


class Sums(NamedTuple):
    """The three sums of each row: m, float32, and t and s, float64, each (1, B)."""

    maximum: tf.Tensor
    total: tf.Tensor
    squares: tf.Tensor


def of_nothing(rows) -> Sums:
    """The sums over no draws."""
    start = tf.zeros([1, rows])
    # in float32 what a chunk adds to a long sum would be lost
    zero = tf.cast(start, tf.float64)
    return Sums(start - np.inf, zero, zero)


def draw_chunk(generative, recognition, x, num_samples, seed, chunk, number):
    """Draws one chunk.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (B, D).
      num_samples: K, int32 scalar or (B,): draws from the K-th on, counted over all chunks, have the weight 0.
      seed: int32 of shape (2,), of all chunks.
      chunk: draws at a time, an integer.
      number: of the chunk, from 0.

    Returns:
      (z, log-weights): a list of (chunk, B, H_l), and (chunk, B).
    """
    z, log_q = recognition.sample_and_log_prob(x, chunk, random.fold(seed, number))
    log_weights = generative.log_joint(x, z) - log_q
    wanted = (number * chunk + tf.range(chunk))[:, tf.newaxis] < num_samples
    return z, tf.where(wanted, log_weights, -np.inf)


def add(log_weights, sums):
    """Adds a chunk's weights.

    Args:
      log_weights: (chunk, B).
      sums: `Sums` over the chunks before.

    Returns:
      (`Sums`, scale, ratio): what was summed before counts by the scale, (1, B), and a draw of the chunk by its ratio,
      (chunk, B), both relative to the new maximum.
    """
    maximum, total, squares = sums
    highest = tf.maximum(maximum, tf.reduce_max(log_weights, 0, keepdims=True))
    # where every weight so far is 0 the maximum is −∞: any finite reference will do
    reference = tf.where(tf.math.is_finite(highest), highest, 0.0)
    scale = tf.cast(tf.exp(maximum - reference), total.dtype)
    ratio = tf.exp(log_weights - reference)
    total = total * scale + tf.cast(tf.reduce_sum(ratio, 0, keepdims=True), total.dtype)
    squares = squares * scale**2 + tf.cast(tf.reduce_sum(ratio**2, 0, keepdims=True), total.dtype)
    return Sums(highest, total, squares), scale, ratio


def estimate(sums, num_samples):
    """(value, standard_error, effective_sample_size), each (B,), of the sums over K draws."""
    maximum, total, squares = (part[0] for part in sums)
    count = tf.cast(num_samples, total.dtype)
    value = tf.cast(maximum, total.dtype) + tf.math.log(total / count)
    excess = tf.maximum(count * squares / total**2 - 1.0, 0.0)
    found = value, tf.sqrt(excess / (count - 1.0)), total**2 / squares
    return tuple(tf.cast(part, maximum.dtype) for part in found)
