"""Exact draws of PG(1, c) by rejection, for whole arrays.

A draw of PG(1, 2c) is X/4, where X has, for x > 0 and any n, the density

    f(x) = cosh(c) e^{−c²x/2} Σ_n (−1)^n a_n(x),    a_n(x) = π(n + ½) e^{−(n + ½)²π²x/2}
                                                   or  π(n + ½) (2/πx)^{3/2} e^{−2(n + ½)²/x}

The second form of a_n is used left of a point t and the first right of it. Either way the series is a_0 times

    1 − 3r + 5r³ − 7r⁶ + …,      r = e^{−4/x} on the left, e^{−π²x} on the right,

and r is below 0.036, so that float32 holds its sum in four terms, and a proposal with an envelope of a_0 e^{−c²x/2} is
accepted with the ratio of that sum to 1. On the right the envelope is the term itself, an exponential law. On the left,
with y = x^{−½}, it is 2√(2/π) e^{−y²/2 − c²/2y²} dy, whose logarithm is concave; its two envelopes are

    c < 2.1, t = ½      −c²/2y² below its tangent at y₁: a normal law of mean μ = c²/y₁³ and variance 1, y > t^{−½}
    c ≥ 2.1, t = 1.2    an inverse Gaussian law, by v = y − c/y with a density e^{−v²/2} (1 + v/√(v² + 4c)): |v| is
                        normal, and its sign + with probability (1 + |v|/√(v² + 4c))/2; refused where x > t

At least 94 of a hundred proposals are accepted, whatever c, and each round needs three uniform numbers for an entry. An
array is worked off in blocks that stay in the cache: one round for all entries, then rounds for those that are left, of
which each gathers up to a sixteenth of the block.

Sources: Polson, Scott and Windle, "Bayesian inference for logistic models using Pólya-Gamma latent variables", Journal
of the American Statistical Association 108 (2013), the two series; Devroye, "On exact simulation algorithms for some
distributions related to Jacobi theta functions", Statistics and Probability Letters 79 (2009), rejection from a_0;
Michael, Schucany and Haas, "Generating random variates using transformations with multiple roots", The American
Statistician 30 (1976), inverse Gaussian draws. The envelope by a tangent is derived here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed

_BLOCK = 8192
_SWITCH = 2.1  # c from which the inverse Gaussian envelope is used
_SMALL_T, _LARGE_T = 0.5, 1.2
_MOST = 1e9  # c: the law is a point beyond float32 there


def draws_of_one(tilt: tf.Tensor, seed: Seed) -> tf.Tensor:
    """Draws of PG(1, tilt).

    Args:
      tilt: float32 tensor of any shape.
      seed: int32 of shape (2,).

    Returns:
      Tensor of that shape; NaN where the tilt is NaN.
    """
    c = tf.minimum(tf.abs(tf.reshape(tilt, [-1])) / 2, _MOST)
    size = c.shape[0]
    if size is not None and size <= _BLOCK:
        draws = _block(c, max(size // 16, min(size, 16)), seed) if size else c
    else:
        draws = _in_blocks(c, seed)
    return tf.reshape(tf.where(tf.math.is_nan(tf.reshape(tilt, [-1])), math.nan, draws / 4), tf.shape(tilt))


def _in_blocks(c, seed):
    size = tf.shape(c)[0]
    blocks = -(-size // _BLOCK)
    c = tf.reshape(tf.pad(c, [[0, blocks * _BLOCK - size]]), [blocks, _BLOCK])

    def advance(i, draws):
        return i + 1, draws.write(i, _block(c[i], _BLOCK // 16, random.fold(seed, i)))

    draws = tf.TensorArray(c.dtype, blocks, element_shape=[_BLOCK])
    draws = loops.while_loop(lambda i, _: i < blocks, advance, (tf.constant(0), draws))[1]
    return tf.reshape(draws.stack(), [-1])[:size]


def _block(c, room, seed):
    """Draws of a block of static size: a round for all entries, then rounds for up to `room` of those left."""
    size = c.shape[0]
    c = tf.where(tf.math.is_nan(c), 0.0, c)
    first, later = tf.unstack(random.split(seed))
    values, accepted = _proposals(c, first)

    def again(number, values, open_):
        rank = _counts(open_)
        drawn = _until_accepted(tf.gather(c, _places(rank, room)), random.fold(later, number))
        here = open_ & (rank <= room)
        # of an open entry, its place among those gathered
        own = tf.clip_by_value(rank - 1, 0, room - 1)
        return number + 1, tf.where(here, tf.gather(drawn, own), values), open_ & ~here

    start = (tf.constant(0), values, ~accepted)
    shapes = (tf.TensorShape([]), tf.TensorShape([size]), tf.TensorShape([size]))
    return loops.while_loop(lambda number, _, open_: tf.reduce_any(open_), again, start, shapes)[1]


def _until_accepted(c, seed):
    """Draws for each c, in as many rounds as the last of them needs."""

    def one_round(number, values, open_):
        proposed, accepted = _proposals(c, random.fold(seed, number))
        return number + 1, tf.where(open_ & accepted, proposed, values), open_ & ~accepted

    start = (tf.constant(0), tf.zeros_like(c), tf.ones_like(c, tf.bool))
    return loops.while_loop(lambda number, _, open_: tf.reduce_any(open_), one_round, start)[1]


def _counts(flags):
    """How many flags are set up to each, (n,) int32, by products with triangles: XLA's own sums are ten times as slow.
    """
    size, width = flags.shape[0], 64
    rows = -(-size // width)
    flags = tf.reshape(tf.pad(tf.cast(flags, tf.float32), [[0, rows * width - size]]), [rows, width])
    within = tf.matmul(flags, tf.constant(np.triu(np.ones([width, width], np.float32))))
    before = tf.matmul(tf.constant(np.tril(np.ones([rows, rows], np.float32), -1)), within[:, -1:])
    return tf.reshape(tf.cast(within + before, tf.int32), [-1])[:size]


def _places(rank, room):
    """Where the counts reach 1, …, room, (room,), by bisection; the last place where they never do."""
    size, wanted = rank.shape[0], tf.range(1, room + 1)
    low = tf.zeros_like(wanted)
    step = 1 << (size - 1).bit_length()
    while step > 1:
        step //= 2
        probe = tf.minimum(low + step, size) - 1
        low = tf.where(tf.gather(rank, probe) < wanted, low + step, low)
    return tf.minimum(low, size - 1)


def _proposals(c, seed):
    """(X, whether it is accepted) for each c, (n,)."""
    which, place, keep = tf.unstack(random.open_uniform([3, c.shape[0]], seed))
    small = c < _SWITCH
    t = tf.where(small, _SMALL_T, _LARGE_T)
    rate = math.pi**2 / 8 + tf.square(c) / 2
    touch, mean = _tangent(c)
    tail = 0.5 * tf.math.erfc((_SMALL_T**-0.5 - mean) * math.sqrt(0.5))
    right_share = 1.0 / (1.0 + _left_over_right(c, tail))
    right = which < right_share
    side = (which - right_share) / (1.0 - right_share)  # on the left, a uniform number again

    # one inverse error function for the normal numbers of both envelopes
    centred = tf.where(small, tf.minimum(1.0 - 2.0 * place * tail, 1.0 - 2.0**-24), place)
    normal = math.sqrt(2) * tf.math.erfinv(centred)
    root = tf.sqrt(tf.square(normal) + 4 * c)
    outer = 0.5 * (normal + root)
    inverse_gaussian = tf.where(2 * side * root < root + normal, outer, c / outer)
    y = tf.where(small, mean + normal, inverse_gaussian)
    x = tf.where(right, t - tf.math.log(place) / rate, 1.0 / tf.square(y))

    share = touch / y
    loss = tf.where(small & ~right, -0.5 * tf.square(c / touch) * (tf.square(share) - 3 + 2 / share), 0.0)
    return x, (keep < tf.exp(loss) * _series(x, right)) & (right | (x <= t))


def _series(x, right):
    """Σ_n (−1)ⁿ a_n(x)/a_0(x), in the form of either side."""
    r = tf.exp(tf.where(right, -(math.pi**2) * x, -4 / x))
    return 1.0 - 3.0 * r + 5.0 * r**3 - 7.0 * r**6


def _tangent(c):
    """(y₁, μ): the tangent touches where the envelope is least, by a fit to the minimum."""
    touch = 1.866 + 0.0243 * tf.square(tf.minimum(c, _SWITCH))
    return touch, tf.square(c) / touch**3


def _left_over_right(c, tail):
    """The mass of the left envelope over that of the right one; `tail` is that of the cut normal law."""
    small, rate, (touch, mean) = c < _SWITCH, math.pi**2 / 8 + tf.square(c) / 2, _tangent(c)
    exponent = tf.where(small, tf.square(mean) / 2 - 1.5 * tf.square(c / touch), -c)
    exponent += rate * tf.where(small, _SMALL_T, _LARGE_T)
    return tf.where(small, 4 * tail, 2.0) * (2 / math.pi) * rate * tf.exp(exponent)
