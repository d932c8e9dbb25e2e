"""One chunk of importance samples from the recognition network; in tensors, for a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


def draw_chunk(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    x: TensorLike | Rows,
    num_samples: int | tf.Tensor,
    seed: Seed,
    chunk: int,
    number: int | tf.Tensor,
) -> tuple[list[tf.Tensor], tf.Tensor]:
    """Draws one chunk.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (B, D), a tensor or `Rows`.
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
