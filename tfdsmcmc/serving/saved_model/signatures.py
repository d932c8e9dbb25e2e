"""The signatures of a SavedModel.

    log_likelihood    x, num_samples, seed                → value, standard_error, effective_sample_size, each (n,)
    sample            num_samples, seed                   → x (num_samples, D)
    impute            x, mask, num_imputations, seed      → x (num_imputations, n, D)
    encode            x, num_samples, seed                → z_1 (n, H_1), …, z_L (n, H_L), effective_sample_size (n,)
    reconstruct       x, num_samples, seed                → x (n, D)

`NAME_rows` are row-wise twins of the first three, with the rows leading in every input and output: one seed for each
row, one draw for each seed of `sample_rows`, one imputation for each row of `impute_rows`. A row of theirs is computed
by itself, by what the plain signature does with that one row and that seed, so it does not matter what else is in the
batch. `NAME_packed`, for data of zeros and ones, take x and mask as bits. Of a model of rows given a context, all take
`context` besides, (n, C), a row for each of x, or for each draw of `sample`. `serving_default` is `log_likelihood`.
The standard error of one sample is not known: NaN. Of Boltzmann machines, belief networks and mixtures `log_likelihood`
gives shared_standard_error (n,) besides, the part of the standard error that is one error of all rows, that of log Z.

The inputs of signatures, of which in row-wise ones the numbers are (n,) and the seeds (n, 2):

    x                  float32 (n, D), or packed: uint8 (n, ⌈D/8⌉), eight entries a byte as `numpy.packbits` has them
    context            float32 (n, C), what the rows are given
    mask               bool (n, D), True where an entry is observed; or packed likewise
    num_samples        int32
    num_imputations    int32
    seed               int32 (2,)

A graph checks them before it works, and a server answers a bad one with the error of the check, which begins with its
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.serving.saved_model.content import Content
    from tfdsmcmc.supports import Support

INPUTS: dict[str, list[str]] = {
    "log_likelihood": ["x", "num_samples", "seed"],
    "sample": ["num_samples", "seed"],
    "impute": ["x", "mask", "num_imputations", "seed"],
    "encode": ["x", "num_samples", "seed"],
    "reconstruct": ["x", "num_samples", "seed"],
    "log_likelihood_rows": ["x", "num_samples", "seed"],
    "sample_rows": ["seed"],
    "impute_rows": ["x", "mask", "seed"],
}
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


def names(content: Content) -> list[str]:
    """The names of the signatures that there can be, `serving_default` apart."""
    found = [name for name in INPUTS if _plain(name) in content.names]
    return [*found, *[f"{name}_packed" for name in found if "x" in INPUTS[name] and content.data.support.bits]]


def signatures(content: Content, chosen: Iterable[str], max_draws: int) -> dict[str, Any]:
    """The chosen signatures as concrete functions, of requests of at most `max_draws` draws of the latents.

    Raises:
      ValueError: for a `max_draws` that small requests would pass.
    """
    data = content.data
    budgets = {name: (max_draws, *content.functions.costs(_plain(name))) for name in chosen}
    least = max(ROWS * (row + COUNT * each) for _, row, each in budgets.values())
    if least > max_draws:
        raise ValueError(f"max_draws must be at least {least} for these signatures. Received: max_draws={max_draws}")
    functions = {}  # each traced once for all signatures that call it
    for name in content.names:
        signature = list(specs(_inputs(name, data), data, False, False).values())
        functions[name] = tf.function(getattr(content.functions, name), input_signature=signature, autograph=False)
    return {name: _concrete(name, functions, data, budgets[name]) for name in chosen}


def _plain(name):
    return name.removesuffix("_packed").removesuffix("_rows")


def _inputs(name, data):
    return [*INPUTS[name.removesuffix("_packed")], *(["context"] if data.context is not None else [])]


def _concrete(name, functions, data, budget):
    kind = "_rows" in name, name.endswith("_packed")

    def run(**values):
        values = checked(values, data, budget, *kind)
        plain = functions[_plain(name)]
        return _row_by_row(_plain(name), plain, values) if kind[0] else plain(**values)

    return tf.function(run, autograph=False).get_concrete_function(**specs(_inputs(name, data), data, *kind))


def _row_by_row(name, function, values):
    """Each row by itself, by the function of that name."""

    def one_row(row):
        row = {key: value[tf.newaxis] if key in ("x", "mask", "context") else value for key, value in row.items()}
        row |= {"sample": {"num_samples": 1}, "impute": {"num_imputations": 1}}.get(name, {})
        return {key: value[0, 0] if name == "impute" else value[0] for key, value in function(**row).items()}

    outputs = function.get_concrete_function().structured_outputs
    return tf.map_fn(one_row, values, fn_output_signature=dict.fromkeys(outputs, tf.float32))


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
        those = " for so many rows" if has_rows else ""
        checks = [_counts(name, values[name], most, those) for name in values if name[:4] == "num_"]
        if not packed and "x" in values:
            checks.append(_entries("x", values["x"], values.get("mask"), data.support))
    with tf.control_dependencies(checks):
        return {name: tf.identity(value) for name, value in values.items()}


def _same_rows(name, value, first, rows):
    found = tf.cast(tf.shape(value)[0], rows.dtype)
    return _require(found == rows, f"{name} must have as many rows as {first}, ", rows, ". Received: ", found)


def _counts(name, value, most, those):
    fits = (value >= 1) & (tf.cast(value, most.dtype) <= most)
    parts = f"{name} must be between 1 and ", most, f"{those}. Received: ", _first(value, ~fits)
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
