"""Binary rows in a file that are read where they lie: NAME.npy, more of them than memory holds.

A file holds NumPy arrays in the `.npy` format one after the other, as repeated calls of `np.save` on an open file write
them, so that `np.load` reads the first and nothing can be parted from what it belongs to:

    rows         uint8 (N, ⌈D/8⌉), bits along the features as by `np.packbits(x, axis=1)`; or (N, D), zeros and ones
    description  a text, JSON: {"shape": of a row, "packed": whether rows are bits, "labels": whether there are labels}
    labels       (N,), where there are labels

A file of the first array alone, as `np.save` writes it, is read as well.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import files
from tfdsmcmc._common import checks
from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.datasets.labels import label_array
from tfdsmcmc.datasets.mapped_rows import BLOCK, MappedRows, bytes_of_row

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import FilePath

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write(
    path: FilePath,
    rows: ArrayLike | Iterable[ArrayLike],
    shape: Sequence[int] | None = None,
    labels: ArrayLike | None = None,
    packed: bool = True,
) -> str:
    """Writes rows to a file, a block at a time, so that they need not fit into memory. See `pack`."""
    blocks = _blocks(rows)
    first = next(blocks, None)
    if first is None:
        raise ValueError("train must have at least one row. Received: no rows")
    units = first.shape[1]
    shape = row_shape((units,) if shape is None else shape, units)
    labels = None if labels is None else label_array("labels", labels)
    description = {"shape": shape, "packed": packed, "labels": labels is not None}

    with files.replacing(path) as temporary, temporary.open("wb") as file:
        file.write(_header(0, bytes_of_row(units, packed)))
        count = _write_blocks(file, first, blocks, packed)
        if labels is not None and len(labels) != count:
            raise ValueError(f"labels must be one for each of {count} rows. Received: shape={labels.shape}")
        np.save(file, np.array(json.dumps(description)), allow_pickle=False)
        if labels is not None:
            np.save(file, labels, allow_pickle=False)
        file.seek(0)
        file.write(_header(count, bytes_of_row(units, packed)))
    return str(path)


def read(path: FilePath, units: int | None = None) -> MappedRows:
    """Maps the rows of a file. See `open`."""
    try:
        rows = _read(path, units)
    except OSError:
        raise
    except Exception as error:  # damaged files fail in many ways, down to the tokens of a header
        raise ValueError(f"Not a file of mapped rows ({reason_of(error)}). Received: {path}") from None
    if units not in (None, rows.units):
        raise ValueError(f"The rows of {path} have {rows.units} units. Received: units={units!r}")
    rows.reopen = functools.partial(read, path.absolute(), units)
    return rows


def _read(path, units):
    """The rows as the file describes them, or where it does not, as they are of so many units."""
    stored, end = _map(path, 0)
    if end == path.stat().st_size:
        if units is None:
            return MappedRows(stored)
        packed = stored.ndim == 2 and (stored.shape[1] != units or units == 1 and bool((stored > 1).any()))
        return MappedRows(stored, (units,), packed)
    text, end = _map(path, end)
    description = json.loads(text.item())
    labels = None
    if description["labels"]:
        labels, end = _map(path, end)
    if end != path.stat().st_size:
        raise ValueError("there is more in it")
    return MappedRows(stored, description["shape"], description["packed"], labels)


def row_shape(shape: Sequence[int] | None, width: int) -> tuple[int, ...]:
    """The shape of a row as a tuple, which must have as many entries as the row."""
    shape = tuple(checks.positive_integer("shape", n) for n in np.atleast_1d(np.asarray(shape, object)))
    if math.prod(shape) != width:
        raise ValueError(f"shape must be of {width} features. Received: shape={shape}")
    return shape


def plain_array(name: str, x: ArrayLike) -> np.ndarray:
    """Complete rows as an array; what pandas has as objects as numbers."""
    if np.ma.is_masked(x):
        raise ValueError(f"{name} must be complete. Received: a masked array that hides entries")
    try:
        array = np.asarray(x)
        if array.dtype == object:
            array = checks.numbers(x)
            kinds = {getattr(kind, "numpy_dtype", kind) for kind in getattr(x, "dtypes", [])}
            if kinds == {np.dtype(np.uint8)} and not np.isnan(array).any():
                array = array.astype(np.uint8)
        return array
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers ({error}). Received: {type(x).__name__}") from None


def _blocks(rows):
    """Yields uint8 blocks (n, D) of zeros and ones, from an array or an iterable of such."""
    if hasattr(rows, "__array__") and not isinstance(rows, MappedRows):
        rows = plain_array("train", rows)
        if rows.ndim > 2:  # the rows of pictures would be taken for rows
            raise ValueError(f"train must be an array (rows, features). Received: shape={rows.shape}")
    if isinstance(rows, MappedRows) or (isinstance(rows, np.ndarray) and rows.ndim == 2):
        units = rows.units if isinstance(rows, MappedRows) else rows.shape[1]
        size = max(1, BLOCK // max(1, units))
        rows = map(lambda first, rows=rows: rows[first : first + size], range(0, len(rows), size))
    try:
        iterator = iter(rows)
    except TypeError:
        raise ValueError(f"train must be an array or an iterable of blocks. Received: {type(rows).__name__}") from None
    for block in iterator:
        block = plain_array("train", block)
        if block.ndim != 2 or not block.shape[1] or block.dtype.kind not in "biuf":
            raise ValueError(
                f"train must be blocks of numbers (rows, features). Received: {block.dtype} of shape {block.shape}"
            )
        if ((block != 0) & (block != 1)).any():
            raise ValueError(f"train must be zeros and ones in NAME.npy. Received: {block.dtype} values with others")
        if len(block):
            yield block.astype(np.uint8)


def _write_blocks(file, first, blocks, packed):
    """Writes the first block and the others; returns the number of rows."""
    count = 0
    for block in itertools.chain([first], blocks):
        if block.shape[1] != first.shape[1]:
            raise ValueError(f"train must be blocks of one width, {first.shape[1]}. Received: shape={block.shape}")
        file.write((np.packbits(block, axis=1) if packed else block).tobytes())
        count += len(block)
    return count


def _header(count, width):
    """The header of an array of bytes (count, width). NumPy leaves room in it for any count."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (count, width)})
    return header.getvalue()


def _map(path, start):
    """(the array that begins at a place in a file, the place where it ends)."""
    with path.open("rb") as file:
        file.seek(start)
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the .npy format")
        shape, by_column, kind = _HEADERS[version](file)
        start = file.tell()
    if kind.hasobject:
        raise ValueError("objects instead of numbers")
    end = start + math.prod(shape) * kind.itemsize
    if end > path.stat().st_size:
        raise ValueError("the file is truncated")
    return np.memmap(path, kind, "r", start, shape, "F" if by_column else "C"), end
