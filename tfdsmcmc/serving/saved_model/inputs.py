"""The inputs of signatures: what they are, and what a graph checks of them before it works.

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

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.supports import Support

ROWS, COUNT = 2, 3  # of an example: its rows, and its counts
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


def specs(names: Iterable[str], data: Data, rowwise: bool, packed: bool) -> dict[str, tf.TensorSpec]:
    """Inputs by name, `rowwise` with the rows leading in each, `packed` with data as bits."""
    rows = [None] if rowwise else []
    width = (data.units + 7) // 8 if packed else data.units
    known = {
        "x": ([None, width], tf.uint8 if packed else tf.float32),
        "mask": ([None, width], tf.uint8 if packed else tf.bool),
        "context": ([None, 0 if data.context is None else data.context.units], tf.float32),
        "num_samples": (rows, tf.int32),
        "num_imputations": (rows, tf.int32),
        "seed": ([*rows, 2], tf.int32),
    }
    return {name: tf.TensorSpec(*known[name], name=name) for name in names}


def example(found: Mapping[str, tf.TensorSpec], data: Data) -> dict[str, np.ndarray]:
    """Arrays that fit some `specs`, to try a SavedModel with; packed data are the same data, packed."""

    def array(name, spec):
        shape = [ROWS if size is None else size for size in spec.shape]
        if name == "x":
            return data.support.mode(np.float32(places % 3 == 0))
        if name == "mask":
            return data.support.whole(places % 2 == 0)
        if name == "seed":
            return np.arange(np.prod(shape)).reshape(shape) + 1
        if name == "context":
            count = ROWS if "x" in found or found["seed"].shape.rank == 2 else COUNT
            pattern = np.arange(count * data.context.units).reshape(count, -1) % 3 == 0
            return data.context.support.mode(np.float32(pattern))
        return np.full(shape, COUNT)

    places, made = np.arange(ROWS * data.units).reshape(ROWS, data.units), {}
    for name, spec in found.items():
        value = array(name, spec)
        value = np.packbits(value > 0, axis=1) if spec.dtype == tf.uint8 else value
        made[name] = value.astype(spec.dtype.as_numpy_dtype)
    return made


def checked(
    values: Mapping[str, tf.Tensor], data: Data, budget: tuple[int, int, int], rowwise: bool, packed: bool
) -> dict[str, tf.Tensor]:
    """Tensors that fit the `specs`, each behind its checks; packed data come out as float32 and bool.

    Of a budget (draws, row, each) of draws of the latents, rows · (row + count · each) is at most `draws`.
    """
    draws, row, each = budget
    shapes = {name: spec.shape for name, spec in specs(values, data, rowwise, packed).items()}
    values = {name: tf.ensure_shape(value, shapes[name], name=name) for name, value in values.items()}
    if packed:
        bits = {name: _unpacked(values[name], data.units) for name in ("x", "mask") if name in values}
        values |= {name: tf.cast(b, tf.float32 if name == "x" else tf.bool) for name, b in bits.items()}
    first = "x" if "x" in values else next(iter(values))
    has_rows = rowwise or "x" in values
    rows = tf.cast(tf.shape(values[first])[0], tf.int64) if has_rows else tf.constant(1, tf.int64)
    most = draws // (row + each)
    checks = [_require(rows <= most, f"{first} must have at most {most} rows. Received: ", rows)]
    checks += [
        _same_rows(n, values[n], first, rows) for n in values if rowwise or has_rows and n in ("mask", "context")
    ]
    if "context" in values:
        if not has_rows:
            checks.append(_same_rows("context", values["context"], "num_samples", values["num_samples"]))
        checks.append(_entries("context", values["context"], None, data.context.support))
    with tf.control_dependencies(checks):
        most = (draws // tf.maximum(rows, 1) - row) // each
        if "mask" in values or "x" not in values:  # all that is drawn is held at once
            most = tf.minimum(most, _ENTRIES // data.widest // tf.maximum(rows, 1))
        checks = [_counts(name, values[name], most) for name in values if name[:4] == "num_"]
        if not packed and "x" in values:
            checks.append(_entries("x", values["x"], values.get("mask"), data.support))
    with tf.control_dependencies(checks):
        return {name: tf.identity(value) for name, value in values.items()}


def _same_rows(name, value, first, rows):
    found = tf.cast(tf.shape(value)[0], rows.dtype)
    return _require(found == rows, f"{name} must have as many rows as {first}, ", rows, ". Received: ", found)


def _counts(name, value, most):
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
    bits = tf.bitwise.right_shift(packed[..., tf.newaxis], tf.constant([7, 6, 5, 4, 3, 2, 1, 0], tf.uint8)) & 1
    return tf.reshape(bits, [tf.shape(packed)[0], packed.shape[1] * 8])[:, :units]
