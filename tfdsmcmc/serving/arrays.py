"""What a served signature takes and gives, and arrays that fit it: the one check of a request before a graph.

The client checks what it sends by it, and the server what it receives. A graph that is given a float for an integer, a
ragged list or a mask of fewer rows either fails in the words of an operation or, worse, broadcasts. What only the model
knows, that data are binary or how large a count may be, its graph asserts (`saved_model.inputs`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks

_KINDS = {"f": "numbers", "i": "integers", "u": "integers", "b": "true or false"}
_TAKEN = {"f": "fiub", "i": "iu", "u": "iu", "b": "b"}  # kinds of array that a tensor of each kind takes


class BadRequest(ValueError):
    """A request that the model cannot answer; its message is meant for whoever sent it."""


class Signature(NamedTuple):
    """Inputs and outputs of a signature by name, each a `tf.TensorSpec`."""

    inputs: dict[str, tf.TensorSpec]
    outputs: dict[str, tf.TensorSpec]


def signatures_of(definitions: Mapping[str, Any]) -> dict[str, Signature]:
    """A dict from names to `Signature`, without what TensorFlow keeps among them for itself.

    Args:
      definitions: dict from names to TensorFlow's `SignatureDef`.

    Raises:
      TypeError: for a tensor of no type.
    """
    return {
        name: Signature(_specs(definition.inputs), _specs(definition.outputs))
        for name, definition in definitions.items()
        if not name.startswith("__")
    }


def arrays_of(signature: str, values: Any, specs: Mapping[str, tf.TensorSpec]) -> dict[str, np.ndarray]:
    """The values of a signature's inputs as arrays.

    Args:
      signature: its name.
      values: for each input an array-like, or for a single input that alone.
      specs: for each input its `tf.TensorSpec`.

    Raises:
      BadRequest: for a value that is missing, unknown, empty, or of another type, shape or range; for inputs of
        unequally many rows; for numbers that are not finite, but where a mask of the same shape is False.
    """
    if len(specs) == 1 and not isinstance(values, dict):
        values = {next(iter(specs)): values}
    if not isinstance(values, dict):
        raise BadRequest(f"inputs must give a value to each of {sorted(specs)} by name. Received: {kind(values)}")
    for odd, fault in ((set(specs) - set(values), "missing"), (set(values) - set(specs), "unknown")):
        if odd:
            takes, found = f"{signature} takes {sorted(specs)}", sorted(map(str, values))
            raise BadRequest(f"{are(odd)} {fault}: {takes}. Received: {found}")
    arrays = {name: array_of(name, values[name], spec) for name, spec in specs.items()}
    for name, array in arrays.items():
        if array.size == 0:
            raise BadRequest(f"{name} must have at least one row. Received: shape={array.shape}")
    _check_rows(arrays, specs)
    _check_finite(arrays)
    return arrays


def array_of(name: str, value: Any, spec: tf.TensorSpec) -> np.ndarray:
    """A value as an array of the type and shape of a `tf.TensorSpec`; numbers too large for float32 are infinite.

    Raises:
      BadRequest: for another type or shape, and for integers out of range.
    """
    wanted, shape = np.dtype(spec.dtype.as_numpy_dtype), f"{name} must {_shape(spec.shape)}"
    try:
        array = checks.numbers(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise BadRequest(f"{shape}. Received: a ragged or too deeply nested list") from None
    if array.dtype == object and wanted.kind == "f" and all(isinstance(entry, Real) for entry in array.flat):
        with contextlib.suppress(OverflowError):
            array = array.astype(np.float64)
    mixed = wanted.kind != "b" and _has_booleans(value)
    if mixed or array.size and array.dtype.kind not in _TAKEN.get(wanted.kind, ""):
        found = kind(value) if array.ndim == 0 else "true or false among numbers" if mixed else _entries(array)
        raise BadRequest(f"{name} must be {_KINDS.get(wanted.kind, 'of another type')} ({wanted}). Received: {found}")
    if not spec.shape.is_compatible_with(array.shape):
        raise BadRequest(f"{shape}. Received: {'an empty list' if array.shape == (0,) else f'shape={array.shape}'}")
    if wanted.kind in "iu" and array.size:
        low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
        least, most = int(array.min()), int(array.max())
        if least < low or most > high:
            raise BadRequest(f"{name} must be between {low} and {high}. Received: {least if least < low else most}")
    with np.errstate(over="ignore"):
        return array.astype(wanted)


def has_rows(spec: tf.TensorSpec) -> bool:
    """Whether the leading axis of a `tf.TensorSpec` may have any length."""
    return spec.shape.rank is not None and spec.shape.rank > 0 and spec.shape[0] is None


def are(names: Iterable[object]) -> str:
    """a is, or a and b are."""
    names = sorted(map(str, names))
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


def kind(value: object) -> str:
    """A single value in the words of JSON."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:60]


def _specs(infos):
    return {name: tf.TensorSpec(tf.TensorShape(info.tensor_shape), info.dtype, name) for name, info in infos.items()}


def _has_booleans(value):
    """Whether true or false stands in a list, where NumPy makes a number of it among numbers."""
    return isinstance(value, (list, bool)) and bool in set(map(type, np.asarray(value, object).flat))


def _check_rows(arrays, specs):
    """Inputs with rows have equally many: a graph would repeat a single one."""
    rows = {name: len(arrays[name]) for name, spec in sorted(specs.items()) if has_rows(spec)}
    if len(set(rows.values())) > 1:
        raise BadRequest(f"{' and '.join(rows)} must have equally many rows. Received: {rows}")


def _check_finite(arrays):
    """Numbers are finite, but where a mask of the same shape is False: what stands there has no influence."""
    masks = [array for array in arrays.values() if array.dtype == bool]
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            continue
        seen = np.ones(array.shape, bool)
        for mask in masks:
            seen &= mask if mask.shape == array.shape else True
        if bad := int((~np.isfinite(array) & seen).sum()):
            found = f"{bad} entries that are NaN or infinite"
            raise BadRequest(f"{name} must be finite in {array.dtype}. Received: {found}")


def _shape(shape):
    """have the shape (rows, 3) for a shape (None, 3)."""
    if shape.rank is None:
        return "be an array, of any rank"
    sizes = ["rows" if i == 0 and size is None else str(size) for i, size in enumerate(shape)]
    return f"have the shape ({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _entries(array):
    kinds = {"U": "strings", "S": "strings", "f": "floats", "b": "true or false", "O": "null, objects or huge integers"}
    return f"entries that are {kinds.get(array.dtype.kind, array.dtype)}"
