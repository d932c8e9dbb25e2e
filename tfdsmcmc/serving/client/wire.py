"""What a call of a served signature takes: the server's description of it, arrays that fit it, and seeds.

A server describes a signature by the type and the shape of each tensor, in JSON as TensorFlow's `SignatureDef` has it:

    {"inputs": {"x": {"dtype": "DT_FLOAT", "tensor_shape": {"dim": [{"size": "-1"}, {"size": "64"}]}}}, "outputs": …}

NumPy alone is used here: no tensor is made on the way to a server.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfdsmcmc import checks

_TYPES = {
    "DT_FLOAT": np.float32,
    "DT_DOUBLE": np.float64,
    "DT_INT32": np.int32,
    "DT_INT64": np.int64,
    "DT_UINT8": np.uint8,
    "DT_BOOL": np.bool_,
}
_FITTING = {"f": "biuf", "i": "iu", "u": "iu", "b": "b"}  # kinds of arrays that become an array of this kind
_ANSWERING = _FITTING | {"f": "iuf"}  # the same of answers, where true is no number


class Tensor(NamedTuple):
    """Type and shape of a tensor; None stands for an axis of any length, or for a shape of any rank."""

    dtype: np.dtype
    shape: tuple | None


class Signature(NamedTuple):
    """Inputs and outputs of a signature by name."""

    inputs: dict
    outputs: dict


def signatures(description) -> dict:
    """Reads the server's description of a model.

    Args:
      description: dict from a signature's name to its `SignatureDef` in JSON.

    Returns:
      dict from names to `Signature`. A signature with tensors of other types than numbers is left out, as is the one
      in which TensorFlow keeps what it runs when a model is loaded.

    Raises:
      ValueError: for what describes no signatures.
    """
    if not isinstance(description, dict):
        raise ValueError(f"Signatures must be described by name. Received: a {type(description).__name__}")
    found = {}
    for name, words in description.items():
        try:
            found[name] = Signature(*(_tensors(words.get(side, {})) for side in ("inputs", "outputs")))
        except KeyError:
            continue
        except (AttributeError, TypeError, ValueError):
            raise ValueError(f"A signature must describe its inputs and outputs. Received: {name}") from None
    return found


def units(signatures, x, packed) -> int:
    """D: the width of data as numbers.

    Packed data have ⌈D/8⌉ bytes, which does not tell it. Where nothing else does, it is the data's own width if that
    makes so many bytes; a width that is wrong by less the server refuses.

    Args:
      signatures: dict from names to `Signature`.
      x: data, array-like.
      packed: whether they will travel as bits.

    Raises:
      ValueError: where no signature tells it.
    """
    tensors = [tensor for s in signatures.values() for tensor in (s.inputs.get("x"), s.outputs.get("x")) if tensor]
    ends = [(tensor.dtype.kind, tensor.shape[-1]) for tensor in tensors if tensor.shape and tensor.shape[-1]]
    widths = {end for kind, end in ends if kind == "f"}
    if packed and not widths:
        own = _width(x)
        widths = {own if -(-own // 8) == end else 8 * end for kind, end in ends if kind == "u"}
    if len(widths) != 1:
        raise ValueError(f"The server must tell the width of the data. Received: the widths {sorted(widths)}")
    return widths.pop()


def fitted(values, tensors) -> dict:
    """Returns the inputs of a call as arrays of the types and shapes that a signature has.

    Args:
      values: dict of array-likes of numbers.
      tensors: dict of `Tensor`, of the same names.

    Raises:
      ValueError: for no numbers, another shape, no rows, entries that the type cannot hold, floating-point ones that
        are NaN or infinite in that type, and inputs with different numbers of rows.
    """
    arrays = {name: _fitted(name, values[name], tensor) for name, tensor in tensors.items()}
    rows = {name: len(arrays[name]) for name, tensor in tensors.items() if (tensor.shape or ())[:1] == (None,)}
    if len(set(rows.values())) > 1:
        raise ValueError(f"{', '.join(rows)} must have as many rows as each other. Received: {rows}")
    return arrays


def answered(values, tensors) -> dict:
    """Returns the outputs of a call as arrays of the types and shapes that a signature has.

    Args:
      values: dict of arrays or nested lists; others than the signature has are left out.
      tensors: dict of `Tensor`.

    Raises:
      KeyError: for an output that is absent.
      TypeError: for what is no dict.
      ValueError: for another kind, another shape, and entries that the type cannot hold.
    """
    return {name: _answered(name, values[name], tensor) for name, tensor in tensors.items()}


def seed_words(seed) -> np.ndarray:
    """Returns a seed as two int32, the same that `tfdsmcmc.random.as_seed` makes of it.

    Args:
      seed: an integer in [0, 2⁶⁴), of which the low 32 bits come first; or two int32.

    Raises:
      ValueError: for anything else.
    """
    words = "A seed is an integer in [0, 2**64), or two int32"
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        if not 0 <= int(seed) < 2**64:
            raise ValueError(f"{words}. Received: seed={seed!r}")
        return np.array([int(seed) & 0xFFFFFFFF, int(seed) >> 32], np.uint32).view(np.int32)
    pair = _int32(seed)
    if pair is None or pair.shape != (2,):
        raise ValueError(f"{words}. Received: seed={seed!r}")
    return pair


def seeds_of_rows(seeds) -> np.ndarray:
    """Returns a seed for each row, int32 of shape (n, 2).

    Args:
      seeds: n integers, or an array (n, 2) of int32.

    Raises:
      ValueError: for anything else.
    """
    pairs = _int32(seeds)
    if pairs is not None and pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs):
        return pairs
    try:
        listed = list(seeds)
    except TypeError:
        listed = []
    if not listed:
        raise ValueError(f"seeds must have a seed for each row. Received: seeds={seeds!r}")
    return np.stack([seed_words(seed) for seed in listed])


def _fitted(name, value, tensor):
    try:
        array = checks.numbers(value)
        array = array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of numbers. Received: {type(value).__name__}") from None
    if array.dtype.kind not in _FITTING[tensor.dtype.kind]:
        raise ValueError(f"{name} must have {tensor.dtype} entries. Received: dtype={array.dtype}")
    _check_shape(name, array.shape, tensor.shape)
    if array.size == 0:
        raise ValueError(f"{name} must have at least one row. Received: shape={array.shape}")
    with np.errstate(over="ignore"):
        cast = array.astype(tensor.dtype)
    floating = cast.dtype.kind == "f"
    lost = ~np.isfinite(cast) if floating else cast != array
    if lost.any():
        words = "be finite in" if floating else "fit"
        raise ValueError(f"{name} must {words} {cast.dtype}. Received: {int(lost.sum())} entries that do not")
    return cast


def _answered(name, value, tensor):
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError, RecursionError):
        raise ValueError(f"{name} must be an array. Received: a ragged or too deeply nested list") from None
    if array.dtype.kind not in _ANSWERING[tensor.dtype.kind]:
        raise ValueError(f"{name} must have {tensor.dtype} entries. Received: dtype={array.dtype}")
    _check_shape(name, array.shape, tensor.shape)
    with np.errstate(over="ignore"):
        cast = array.astype(tensor.dtype)
    lost = np.isinf(cast) != np.isinf(array) if cast.dtype.kind == "f" else cast != array
    if lost.any():
        raise ValueError(f"{name} must fit {cast.dtype}. Received: {int(lost.sum())} entries that do not")
    return cast


def _check_shape(name, shape, expected):
    if expected is None:
        return
    if len(shape) != len(expected) or any(size not in (None, length) for size, length in zip(expected, shape)):
        words = str(expected).replace("None", "any")
        raise ValueError(f"{name} must have the shape {words}. Received: shape={shape}")


def _width(x):
    """Length of the last axis; 0 for what has none, which the check of rows refuses."""
    try:
        return checks.numbers(x).shape[-1]
    except (TypeError, ValueError, OverflowError, IndexError):
        return 0


def _int32(value):
    """An integer array whose entries fit int32, as such; else None."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind not in "iu":
        return None
    cast = array.astype(np.int32)
    return cast if np.array_equal(cast, array) else None


def _tensors(words):
    return {name: Tensor(np.dtype(_TYPES[info["dtype"]]), _shape(info)) for name, info in words.items()}


def _shape(info):
    shape = info.get("tensor_shape", {})
    if shape.get("unknown_rank"):
        return None
    # JSON has 64-bit integers as strings, and leaves out an empty list and a zero
    sizes = [int(axis.get("size", 0)) for axis in shape.get("dim", [])]
    return tuple(None if size < 0 else size for size in sizes)
