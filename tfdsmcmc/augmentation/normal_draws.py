"""Draws from many normal laws that are given by their precisions.

    x ~ N(Λ⁻¹ b, Λ⁻¹):      Λ = UᵀU,  y = U⁻ᵀ b,  x = U⁻¹ (y + ε),  ε ~ N(0, I)

U is made row by row for a group of laws at once, whose number is the last axis, so that each operation is one loop over
contiguous memory. XLA has no Cholesky factorisation for a CPU but a general one, which takes some thirty times as long
for 200 unknowns. All is in float64.
"""

from __future__ import annotations

import tensorflow as tf

_GROUP = 8  # laws at a time
_ROWS = 25  # of a factor that are finished together, by what is above them, before they are finished one by one


def normal_draws(precision, linear, noise):
    """Draws of N(Λ⁻¹ b, Λ⁻¹) for each of several Λ and b.

    Args:
      precision: function of a range of laws, their numbers (G,) → Λ, (G, R, R); symmetric, of any float type.
      linear: b, (J, R).
      noise: ε, (J, R), standard normal.

    Returns:
      (J, R) float64; NaN where Λ is not positive definite.
    """
    laws, unknowns = linear.shape
    size = min(_GROUP, laws)
    groups = -(-laws // size)

    def draw(i, draws):
        numbers = tf.minimum(tf.range(size) + i * size, laws - 1)
        square, b, e = (tf.cast(part, tf.float64) for part in (
            precision(numbers), tf.gather(linear, numbers), tf.gather(noise, numbers)
        ))  # fmt: skip
        upper = _factor(tf.transpose(tf.concat([square, b[..., tf.newaxis]], 2), [1, 2, 0]), unknowns, size)
        solved = _back(upper[:, :unknowns], upper[:, unknowns] + tf.transpose(e), unknowns)
        return i + 1, draws.write(i, tf.transpose(solved))

    draws = tf.TensorArray(tf.float64, groups, element_shape=[size, unknowns])
    limits = {"maximum_iterations": groups, "parallel_iterations": 1}
    draws = tf.while_loop(lambda i, _: i < groups, draw, (tf.constant(0), draws), **limits)[1].stack()
    return tf.reshape(draws, [groups * size, unknowns])[:laws]


def _factor(square, unknowns, laws):
    """[U, U⁻ᵀb] of [Λ, b], (R, R + 1, G)."""
    upper = None
    for first in range(0, unknowns, _ROWS):
        count = min(_ROWS, unknowns - first)
        rows = tf.ensure_shape(square, [unknowns, unknowns + 1, laws])[first : first + count, first:]
        if upper is not None:
            rows = _less_those_above(rows, upper[:, first:], count)
        rows = tf.pad(_one_by_one(rows, count), [[0, 0], [first, 0], [0, 0]])
        upper = rows if upper is None else tf.concat([upper, rows], 0)
    return upper


def _less_those_above(rows, above, count):
    def subtract(k, rows):
        row = rows[k] - tf.reduce_sum(above * above[:, k][:, tf.newaxis], 0)
        return k + 1, tf.tensor_scatter_nd_update(rows, [[k]], row[tf.newaxis])

    return _loop(count, subtract, rows)


def _one_by_one(rows, count):
    width = rows.shape[1]

    def finish(k, rows):
        earlier = tf.where((tf.range(count) < k)[:, tf.newaxis, tf.newaxis], rows, 0.0)
        row = rows[k] - tf.reduce_sum(earlier * rows[:, k][:, tf.newaxis], 0)
        row = tf.where((tf.range(width) >= k)[:, tf.newaxis], row / tf.sqrt(row[k]), 0.0)
        return k + 1, tf.tensor_scatter_nd_update(rows, [[k]], row[tf.newaxis])

    return _loop(count, finish, rows)


def _back(upper, right, unknowns):
    """U⁻¹ of the right side, (R, G): x_k for k = R − 1, …, 0."""

    def solve(i, x):
        k = unknowns - 1 - i
        row = upper[k]
        known = tf.reduce_sum(row * tf.where((tf.range(unknowns) > k)[:, tf.newaxis], x, 0.0), 0)
        return i + 1, tf.tensor_scatter_nd_update(x, [[k]], ((x[k] - known) / row[k])[tf.newaxis])

    return _loop(unknowns, solve, right)


def _loop(count, body, value):
    limits = {"maximum_iterations": count, "parallel_iterations": 1}
    return tf.while_loop(lambda k, _: k < count, body, (tf.constant(0), value), **limits)[1]
