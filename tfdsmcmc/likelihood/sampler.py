"""Importance samples of many rows by a compiled program, batch by batch and block by block.

A program draws a block, of a size that depends on neither n nor K, adds it to the sums and hands out its log-weights
for whatever else is made of them: the tail, or their mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks, loops
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.likelihood.draws import draw_chunk
from tfdsmcmc.programs import compiled, power_of_two, values_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.rows import Rows

_MOST_DRAWS = 2**30  # the programs count in int32
_BLOCK_ENTRIES = 2**17  # log-weights handed out at a time: 512 KiB


class Block:
    """What is known of a batch of b rows after some of the draws; arrays are fetched when they are asked for.

    Attributes:
      log_sums: (log Σ w, log Σ w²), each (b,) float64, over all draws so far.
      estimate: (value, standard_error, effective_sample_size), each (b,); right after the last block.
      log_weights: (draws, b), of the newest draws alone; −inf for those that a row has not asked for.
    """

    def __init__(
        self,
        so_far: WeightSums,
        estimate: tuple[tf.Tensor, tf.Tensor, tf.Tensor],
        log_weights: tf.Tensor,
        draws: int,
        rows: int,
    ):
        self._so_far, self._estimate, self._log_weights = so_far, estimate, log_weights
        self._draws, self._rows = draws, rows

    @property
    def log_sums(self) -> tuple[np.ndarray, ...]:
        return tuple(part.numpy()[: self._rows] for part in (self._so_far.log_total, self._so_far.log_squares))

    @property
    def estimate(self) -> tuple[np.ndarray, ...]:
        return tuple(part.numpy()[: self._rows] for part in self._estimate)

    @property
    def log_weights(self) -> np.ndarray:
        return self._log_weights.numpy()[: self._draws, : self._rows]


class Sampler:
    """Draws from the recognition network at given weights.

    Args:
      model: `DeepGenerativeModel`.
      weights: pair (θ, φ) of lists of arrays, or None for the model's own.
      batch_size: B, rows at a time.
      chunk: draws at a time.

    Raises:
      ValueError: for weights of other shapes.
    """

    batch_size: int

    def __init__(self, model: DirectedModel, weights: ThetaAndPhi | None, batch_size: int, chunk: int):
        self._weights = values_of(model, weights)
        self.batch_size, self._chunk = batch_size, chunk
        self._chunks = max(1, power_of_two(_BLOCK_ENTRIES // (batch_size * chunk) // 2 + 1))
        self._program = _program(model, chunk, self._chunks)

    def blocks(self, rows: Rows, num_samples: ArrayLike, seed: Seed) -> Iterator[Block]:
        """Yields a `Block` after each block of draws.

        Args:
          rows: `Rows` of arrays, at most B.
          num_samples: (b,) integers, the draws of each row.
          seed: int32 of shape (2,).
        """
        count, padded = len(rows.values), rows.padded(self.batch_size)
        wanted = np.pad(np.asarray(num_samples, np.int32), (0, self.batch_size - count), mode="edge")
        so_far, most = WeightSums.of_nothing([self.batch_size]), int(wanted.max())
        for first in range(0, -(-most // self._chunk), self._chunks):
            drawn = min(self._chunks * self._chunk, most - first * self._chunk)
            arguments = padded, tf.constant(wanted), seed, tf.constant(first), so_far
            so_far, estimate, log_weights = self._program(*self._weights, *arguments)
            yield Block(so_far, estimate, log_weights, drawn, count)


def checked_count(name: str, value: object) -> int:
    """Returns a number of draws; a ValueError for one that is not positive, or that a program cannot count."""
    value = checks.positive_integer(name, value)
    if value > _MOST_DRAWS:
        raise ValueError(f"{name} must be at most {_MOST_DRAWS:,}. Received: {name}={value}")
    return value


def _program(model, chunk, chunks):
    """The compiled block; one for each size."""

    def draw_block(generative, recognition, rows, num_samples, seed, first, so_far):
        def add(number, so_far, kept):
            arguments = rows, num_samples, seed, chunk, number
            _, log_weights = draw_chunk(generative, recognition, *arguments)
            so_far, _ = so_far.add(log_weights)
            return number + 1, so_far, kept.write(number - first, log_weights)

        end = tf.minimum(first + chunks, (tf.reduce_max(num_samples) + chunk - 1) // chunk)
        kept = tf.TensorArray(tf.float32, chunks, element_shape=[chunk, rows.values.shape[0]])
        _, so_far, kept = loops.while_loop(lambda number, *_: number < end, add, (first, so_far, kept))
        log_weights = tf.reshape(kept.stack(), [chunks * chunk, rows.values.shape[0]])
        return so_far, so_far.estimate(num_samples), log_weights

    return compiled(model, ("block of draws", chunk, chunks), draw_block)
