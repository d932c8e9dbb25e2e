"""Draws from Poisson laws, by inversion.

    k = m + t_i,   i the least with Σ_{j ≤ i} p(m + t_j) ≥ u,      t = 0, 1, −1, 2, −2, …

where m = ⌊λ⌋ is a mode and u is uniform. Any order of the values is right; this one takes some ten standard deviations
at most, √λ each. The probabilities are from p(m) by their ratios, p(k + 1)/p(k) = λ/(k + 1). With δ = (λ − m)/m

    log p(m) = −½ log 2πm − m (δ − log(1 + δ)) − 1/12m + 1/360m³ − …        for m ≥ 10

by Stirling's series, in which no large numbers cancel. Draws are off by the rounding of float32, some 10⁻⁶ in the
probability of a value.

Source: derived here; inversion from the mode is in Devroye, "Non-uniform random variate generation" (1986), X.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike

LARGEST_RATE = 2.0**24 - 2.0**16  # ten standard deviations above it float32 still has all whole numbers
_SMALL = 10.0
_NEGLIGIBLE = 1e-12


def poisson(rate: TensorLike, seed: Seed) -> tf.Tensor:
    """A draw of the Poisson law of each rate, float32; no gradient passes through it.

    Args:
      rate: λ ≥ 0, of any shape; at most 2²⁴ − 2¹⁶, as which larger rates count.
      seed: integer, or int32 tensor of shape (2,).
    """
    rate = tf.clip_by_value(tf.stop_gradient(tf.convert_to_tensor(rate, tf.float32)), 1e-30, LARGEST_RATE)
    mode = tf.floor(rate)
    first = tf.exp(_log_probability_of_mode(rate, mode))
    left = random.open_uniform(tf.shape(rate), seed) - first

    def one_further(i, up, down, left, drawn):
        open_ = _is_open(left, up, down)
        up = up * rate / (mode + i)
        down = down * (mode - i + 1.0) / rate
        after_up = left - up
        after_down = after_up - down
        drawn = tf.where(open_, mode + i, drawn)
        drawn = tf.where(open_ & (after_up > 0) & (after_down <= 0), mode - i, drawn)
        return i + 1.0, up, down, tf.where(open_, after_down, left), drawn

    def unfinished(i, up, down, left, drawn):
        return tf.reduce_any(_is_open(left, up, down))

    state = (tf.constant(1.0), first, first, left, mode)
    *_, left, drawn = loops.while_loop(unfinished, one_further, state)
    return tf.where(left > 0, mode, drawn)  # u may be above what the rounded probabilities of all values come to


def _is_open(left, up, down):
    """Where further values may be drawn."""
    return (left > 0) & (up + down > _NEGLIGIBLE)


def _log_probability_of_mode(rate, mode):
    large = mode >= _SMALL
    m = tf.where(large, mode, _SMALL)
    near = tf.where(large, (rate - m) / m, 0.0)
    series = 1.0 / (12.0 * m) - 1.0 / (360.0 * m**3)
    stirling = -0.5 * tf.math.log(2.0 * math.pi * m) - m * (near - tf.math.log1p(near)) - series
    return tf.where(large, stirling, mode * tf.math.log(rate) - rate - tf.math.lgamma(mode + 1.0))
