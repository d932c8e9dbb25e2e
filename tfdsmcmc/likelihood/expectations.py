"""Posterior expectations of functions of z, by self-normalised importance sampling.

    E[f(z) given x] ≈ Σ_k w_k f(z_k) / Σ_k w_k,      w_k = p(x, z_k; θ) / q(z_k given x; φ),      z_k ~ q

with the estimate of log p(x) that the same weights give (see `importance`). All sums are streamed over the draws, and
everything here is in tensors and runs in a graph.

Source: Owen, "Monte Carlo theory, methods and examples" (2013), section 9.2.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.likelihood import sums


def expectations(generative, recognition, x, num_samples, seed, chunk, function=None, widths=()):
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
        z, log_weights = sums.draw_chunk(generative, recognition, *arguments)
        so_far, scale, ratio = sums.add(log_weights, so_far)
        if function is not None:
            # the chunk's own draws have used fold(seed, number)
            values = function(z, random.fold(random.stream(seed, "functions of the latents"), number))
            added = [tf.einsum("kb,kbw->bw", ratio, value) for value in values]
            means = [mean * scale[0][:, tf.newaxis] + tf.cast(a, mean.dtype) for mean, a in zip(means, added)]
        return number + 1, so_far, means

    rows = tf.shape(x)[0]
    row_shape = tf.TensorShape([1, x.shape[0]])
    invariants = (
        tf.TensorShape([]),
        sums.Sums(row_shape, row_shape, row_shape),
        [tf.TensorShape([x.shape[0], width]) for width in widths],
    )
    # in float32 what a chunk adds to a long sum would be lost
    nothing = [tf.zeros([rows, width], tf.float64) for width in widths]
    _, totals, means = tf.while_loop(
        lambda number, *_: number * chunk < num_samples,
        add,
        (tf.constant(0), sums.of_nothing(rows), nothing),
        shape_invariants=invariants,
    )
    total = totals.total[0][:, tf.newaxis]
    return sums.estimate(totals, num_samples), [tf.cast(mean / total, x.dtype) for mean in means]
