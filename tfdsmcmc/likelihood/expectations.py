"""Posterior expectations of functions of z, by self-normalised importance sampling.

    E[f(z) given x] ≈ Σ_k w_k f(z_k) / Σ_k w_k,      w_k = p(x, z_k; θ) / q(z_k given x; φ),      z_k ~ q

with the estimate of log p(x) that the same weights give (see `importance`). All sums are streamed over the draws, and
everything here is in tensors and runs in a graph.

Source: Owen, "Monte Carlo theory, methods and examples" (2013), section 9.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.likelihood.draws import draw_chunk
from tfdsmcmc.rows import as_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


def expectations(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    x: tf.Tensor | Rows,
    num_samples: int | tf.Tensor,
    seed: Seed,
    chunk: int,
    function: Callable[..., Sequence[tf.Tensor]] | None = None,
    widths: Sequence[int] = (),
) -> tuple[tuple[tf.Tensor, tf.Tensor, tf.Tensor], list[tf.Tensor]]:
    """log p(x) and the posterior expectations of functions of z, at the networks' present weights.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (B, D).
      num_samples: K, int32 scalar.
      seed: int32 of shape (2,).
      chunk: draws held at a time, an integer.
      function: of z, a list of (chunk, B, H_l), and a seed; it returns a list of (chunk, B, width). By default none.
      widths: of what it returns, integers.

    Returns:
      ((value, standard_error, effective_sample_size), means): each (B,), and a list of (B, width).
    """

    def add(number, so_far, means):
        arguments = x, num_samples, seed, chunk, number
        z, log_weights = draw_chunk(generative, recognition, *arguments)
        so_far, shift = so_far.add(log_weights)
        if function is not None:
            # the chunk's own draws have used fold(seed, number)
            values = function(z, random.fold(random.stream(seed, "functions of the latents"), number))
            means = [shift.carry(mean, value) for mean, value in zip(means, values)]
        return number + 1, so_far, means

    values = as_rows(x).values
    rows, row_shape = tf.shape(values)[0], tf.TensorShape(values.shape[:1])
    invariants = (
        tf.TensorShape([]),
        WeightSums(row_shape, row_shape, row_shape),
        [tf.TensorShape([values.shape[0], width]) for width in widths],
    )
    nothing = [tf.zeros([rows, width], tf.float64) for width in widths]
    _, totals, means = loops.while_loop(
        lambda number, *_: number * chunk < num_samples,
        add,
        (tf.constant(0), WeightSums.of_nothing([rows]), nothing),
        shape_invariants=invariants,
    )
    total = totals.total[:, tf.newaxis]
    return totals.estimate(num_samples), [tf.cast(mean / total, tf.float32) for mean in means]
