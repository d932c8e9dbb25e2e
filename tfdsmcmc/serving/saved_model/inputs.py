"""The inputs of signatures, and what a graph checks of them before it works.

    x                  float32 (n, D), or packed: uint8 (n, ⌈D/8⌉), eight entries a byte as `numpy.packbits` has them
    context            float32 (n, C), what the rows are given
    mask               bool (n, D), True where an entry is observed; or packed likewise
    num_samples        int32
    num_imputations    int32
    seed               int32 (2,)

In row-wise signatures the numbers are (n,) and the seeds (n, 2). A server answers a bad input with the error of the
check, which begins with the input's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.supports import Support

_OF_ROWS = ("mask", "context")
_ENTRIES = 2**27  # floats of the largest array that an answer may need at once: 512 MiB


class Data(NamedTuple):
    """What a model's data are.

    Attributes:
      units: D.
      support: of what values entries may have.
      widest: the widest array that a row needs.
      context: `rows.Context` of rows that are given one, else None.
    """

    units: int
    support: Support
    widest: int
    context: Context | None = None


class Budget(NamedTuple):
    """What a request may cost, in draws of the latents: rows · (row + count · each) is at most `draws`."""

    draws: int
    row: int
    each: int


def specs(names: Iterable[str], data: Data, rowwise: bool, packed: bool) -> dict[str, tf.TensorSpec]:
    """The specifications of some inputs, a dictionary of `tf.TensorSpec`.

    Args:
      names: of the inputs.
      data: `Data`.
      rowwise: whether the rows lead in every input.
      packed: whether data come as bits.
    """
    rows = [None] if rowwise else []
    width, kind = ((data.units + 7) // 8, tf.uint8) if packed else (data.units, None)
    known = {
        "x": ([None, width], kind or tf.float32),
        "mask": ([None, width], kind or tf.bool),
        "context": ([None, 0 if data.context is None else data.context.units], tf.float32),
        "num_samples": (rows, tf.int32),
        "num_imputations": (rows, tf.int32),
        "seed": ([*rows, 2], tf.int32),
    }
    return {name: tf.TensorSpec(*known[name], name=name) for name in names}


def checked(
    values: Mapping[str, tf.Tensor],
    data: Data,
    budget: Budget,
    rowwise: bool,
    packed: bool,
) -> dict[str, tf.Tensor]:
    """The inputs, each behind its checks; packed data come out as float32 and bool.

    Args:
      values: dictionary of tensors that fit the `specs`.
      data: `Data`.
      budget: `Budget`.
      rowwise: as in `specs`.
      packed: as in `specs`.
    """
    shapes = {name: spec.shape for name, spec in specs(values, data, rowwise, packed).items()}
    values = {name: tf.ensure_shape(value, shapes[name], name=name) for name, value in values.items()}
    if packed:
        bits = {name: _unpacked(values[name], data.units) for name in ("x", "mask") if name in values}
        values |= {name: tf.cast(b, tf.float32 if name == "x" else tf.bool) for name, b in bits.items()}
    first = "x" if "x" in values else next(iter(values))
    has_rows = rowwise or "x" in values
    rows = tf.cast(tf.shape(values[first])[0], tf.int64) if has_rows else tf.constant(1, tf.int64)
    checks = [_few_rows(first, rows, budget.draws // (budget.row + budget.each))]
    with_rows = [name for name in values if rowwise or has_rows and name in _OF_ROWS]
    checks += [_same_rows(name, values[name], first, rows) for name in with_rows]
    if "context" in values:
        if not has_rows:
            checks.append(_same_rows("context", values["context"], "num_samples", values["num_samples"]))
        checks.append(_entries("context", values["context"], None, data.context.support))
    with tf.control_dependencies(checks):
        most = (budget.draws // tf.maximum(rows, 1) - budget.row) // budget.each
        if "mask" in values or "x" not in values:  # all that is drawn is held at once
            most = tf.minimum(most, _ENTRIES // data.widest // tf.maximum(rows, 1))
        checks = [_counts(name, values[name], most) for name in values if name[:4] == "num_"]
        if not packed and "x" in values:
            checks.append(_entries("x", values["x"], values.get("mask"), data.support))
    with tf.control_dependencies(checks):
        return {name: tf.identity(value) for name, value in values.items()}


def _few_rows(name, rows, most):
    return _require(rows <= most, f"{name} must have at most {most} rows. Received: ", rows)


def _same_rows(name, value, first, rows):
    found = tf.cast(tf.shape(value)[0], rows.dtype)
    return _require(found == rows, f"{name} must have as many rows as {first}, ", rows, ". Received: ", found)


def _counts(name, value, most):
    """A count is at least 1, and in all not more than a server can do."""
    fits = (value >= 1) & (tf.cast(value, most.dtype) <= most)
    parts = f"{name} must be between 1 and ", most, " for so many rows. Received: ", _first(value, ~fits)
    return _require(tf.reduce_all(fits), *parts)


def _entries(name, x, mask, support):
    good = support.holds(x, mask)
    where = "" if mask is None else " where it is observed"
    return _require(tf.reduce_all(good), f"{name} must be {support.described}{where}. Received: ", _first(x, ~good))


def _first(values, where):
    """The first of the values at a True; 0 where there is none."""
    here = tf.concat([tf.reshape(tf.cast(where, tf.int32), [-1]), [1]], 0)
    return tf.concat([tf.reshape(values, [-1]), tf.zeros([1], values.dtype)], 0)[tf.argmax(here)]


def _require(condition, *parts):
    """An operation that fails with the parts as its message unless the condition holds."""
    text = tf.strings.join([part if isinstance(part, str) else tf.strings.as_string(part) for part in parts])
    return tf.debugging.Assert(condition, [text])


def _unpacked(packed, units):
    """uint8 (n, ⌈units/8⌉) to uint8 (n, units), the highest bit of a byte first."""
    shifts = tf.constant([7, 6, 5, 4, 3, 2, 1, 0], tf.uint8)
    bits = tf.bitwise.bitwise_and(tf.bitwise.right_shift(packed[..., tf.newaxis], shifts), tf.constant(1, tf.uint8))
    return tf.reshape(bits, [tf.shape(packed)[0], packed.shape[1] * 8])[:, :units]
