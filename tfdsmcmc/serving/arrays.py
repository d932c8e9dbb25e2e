"""What a served signature takes and gives, and arrays that fit it: the one check of a request before a graph.

The client checks what it sends by it, and the server what it receives. A graph that is given a float for an integer, a
ragged list or a mask of fewer rows either fails in the words of an operation or, worse, broadcasts. What only the model
knows, that data are binary or how large a count may be, its graph asserts (`saved_model.signatures`).
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Mapping
from numbers import Real
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks

_KINDS = {"f": "numbers", "i": "integers", "u": "integers", "b": "true or false"}
_TAKEN = {"f": "fiub", "i": "iu", "u": "iu", "b": "b"}  # kinds of array that a tensor of each kind takes
_FOUND = {"U": "strings", "S": "strings", "f": "floats", "b": "true or false", "O": "null, objects or huge integers"}


class BadRequest(ValueError):
    """A request that the model cannot answer; its message is meant for whoever sent it."""


class Signature(NamedTuple):
    """Inputs and outputs of a signature by name, each a `tf.TensorSpec`."""

    inputs: dict[str, tf.TensorSpec]
    outputs: dict[str, tf.TensorSpec]


def optional(module: str) -> ModuleType:
    """Imports a module of the extra `serving`; an ImportError says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(f"This needs {package}: pip install tfdsmcmc[serving]. ({error})") from error


def signatures_of(definitions: Mapping[str, Any]) -> dict[str, Signature]:
    """Of TensorFlow's `SignatureDef`s by name, without what it keeps among them for itself.

    Raises:
      TypeError: for a tensor of no type.
    """

    def specs(infos):
        return {key: tf.TensorSpec(tf.TensorShape(info.tensor_shape), info.dtype, key) for key, info in infos.items()}

    found = {name: definition for name, definition in definitions.items() if not name.startswith("__")}
    return {name: Signature(specs(definition.inputs), specs(definition.outputs)) for name, definition in found.items()}


def arrays_of(signature: str, values: Any, specs: Mapping[str, tf.TensorSpec]) -> dict[str, np.ndarray]:
    """The values of a signature's inputs as arrays: an array-like by name for each, for a single input that alone.

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
            are = f"{' and '.join(sorted(map(str, odd)))} {'is' if len(odd) == 1 else 'are'} {fault}"
            raise BadRequest(f"{are}: {signature} takes {sorted(specs)}. Received: {sorted(map(str, values))}")
    arrays = {name: array_of(name, values[name], spec) for name, spec in specs.items()}
    for name, array in arrays.items():
        if array.size == 0:
            raise BadRequest(f"{name} must have at least one row. Received: shape={array.shape}")
    # a graph would repeat a single row
    rows = {name: len(arrays[name]) for name, spec in sorted(specs.items()) if has_rows(spec)}
    if len(set(rows.values())) > 1:
        raise BadRequest(f"{' and '.join(rows)} must have equally many rows. Received: {rows}")
    for name, array in arrays.items():
        seen = np.all([m for m in arrays.values() if m.dtype == bool and m.shape == array.shape] or [True], 0)
        if array.dtype.kind == "f" and (bad := int((~np.isfinite(array) & seen).sum())):
            words = f"{bad} entries that are NaN or infinite"
            raise BadRequest(f"{name} must be finite in {array.dtype}. Received: {words}")
    return arrays


def array_of(name: str, value: Any, spec: tf.TensorSpec) -> np.ndarray:
    """A value as an array of the type and shape of a `tf.TensorSpec`; numbers too large for float32 are infinite.

    Raises:
      BadRequest: for another type or shape, and for integers out of range.
    """
    wanted, rank = np.dtype(spec.dtype.as_numpy_dtype), spec.shape.rank
    sizes = ["rows" if i == 0 and size is None else str(size) for i, size in enumerate(spec.shape if rank else ())]
    tall = f"have the shape ({', '.join(sizes)}{',' * (rank == 1)})"
    shape = f"{name} must {'be an array, of any rank' if rank is None else tall}"
    try:
        array = checks.numbers(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        found = str(error) if hasattr(value, "to_numpy") else "a ragged or too deeply nested list"
        raise BadRequest(f"{shape}. Received: {found}") from None
    if array.dtype == object and wanted.kind == "f" and all(isinstance(entry, Real) for entry in array.flat):
        with contextlib.suppress(OverflowError):
            array = array.astype(np.float64)
    # NumPy makes a number of true or false among numbers
    mixed = wanted.kind != "b" and isinstance(value, (list, tuple, bool)) and _has_booleans(value)
    if mixed or array.size and array.dtype.kind not in _TAKEN.get(wanted.kind, ""):
        of = "true or false among numbers" if mixed else f"entries that are {_FOUND.get(array.dtype.kind, array.dtype)}"
        needed = f"{name} must be {_KINDS.get(wanted.kind, 'of another type')} ({wanted})"
        raise BadRequest(f"{needed}. Received: {of if array.ndim else kind(value)}")
    if not spec.shape.is_compatible_with(array.shape):
        raise BadRequest(f"{shape}. Received: {'an empty list' if array.shape == (0,) else f'shape={array.shape}'}")
    if wanted.kind in "iu" and array.size:
        low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
        for found in (int(array.min()), int(array.max())):
            if not low <= found <= high:
                raise BadRequest(f"{name} must be between {low} and {high}. Received: {found}")
    with np.errstate(over="ignore"):
        return array.astype(wanted)


def size_of(arrays: Mapping[str, np.ndarray], outputs: Mapping[str, tf.TensorSpec]) -> int | None:
    """The numbers of an answer of a signature of `saved_model.signatures`; None where its shapes do not tell.

    Args:
      arrays: its inputs.
      outputs: `tf.TensorSpec`s, whose unknown lengths are those of imputations and rows, of draws or of rows.
    """
    lengths = [len(arrays[name]) for name in ("x", "seed") if name in arrays and arrays[name].ndim == 2][:1]
    count = arrays.get("num_imputations" if lengths else "num_samples")  # beside the rows, or alone
    lengths += [int(count)] if count is not None and count.ndim == 0 else []
    if any(spec.shape.rank is None or list(spec.shape).count(None) != len(lengths) for spec in outputs.values()):
        return None
    widths = [[size for size in spec.shape if size is not None] for spec in outputs.values()]
    return math.prod(lengths) * sum(map(math.prod, widths))


def has_rows(spec: tf.TensorSpec) -> bool:
    """Whether the leading axis of a `tf.TensorSpec` may have any length."""
    return spec.shape.rank is not None and spec.shape.rank > 0 and spec.shape[0] is None


def _has_booleans(value):
    return not {bool, np.bool_}.isdisjoint(map(type, np.asarray(value, object).flat))


def kind(value: object) -> str:
    """A single value in the words of JSON."""
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    return "null" if value is None else repr(value)[:60]
