"""The packed file of a dataset: NAME.npz.

Keys `train`, `valid`, `test`, `n_features`, `shape`. Binary data are bit-packed along the features
(`np.packbits(x, axis=1)`), grey data plain uint8 from 0 to 255; the widths tell which. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import pathlib
import zipfile

import numpy as np

from tfdsmcmc import files

SPLITS = ("train", "valid", "test")


def pack(path, train, valid, test, shape=None):
    """Writes a dataset that `load` finds by the file's name.

    Args:
      path: file to write, NAME.npz.
      train: array (n, D): zeros and ones; or, for grey data, uint8 with other values too.
      valid: likewise.
      test: likewise.
      shape: of a row, such as (28, 28); (D,) by default.

    Returns:
      The path, a string.

    Raises:
      ValueError: for splits of different widths, without rows, or with other entries; nothing is written then.
    """
    path = pathlib.Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"A packed dataset is a file NAME.npz. Received: path={str(path)!r}")
    arrays = {name: _plain(name, x) for name, x in zip(SPLITS, (train, valid, test))}
    width = arrays["train"].shape[1]
    if any(x.shape[1] != width for x in arrays.values()):
        raise ValueError(f"The splits must have one width. Received: {[x.shape for x in arrays.values()]}")
    shape = _shape((width,) if shape is None else shape, width)
    if all(x.max() <= 1 for x in arrays.values()):
        arrays = {name: np.packbits(x, axis=1) for name, x in arrays.items()}

    with files.replacing(path) as temporary:
        np.savez_compressed(temporary, n_features=width, shape=np.array(shape), **arrays)
    return str(path)


def read(path):
    """Reads a packed file.

    Args:
      path: NAME.npz.

    Returns:
      (dict from split to uint8 array (n, D), shape, grey): entries are 0 and 1, or 0 to 255 where `grey`.

    Raises:
      ValueError: for a file that is unreadable, truncated, pickled, or laid out otherwise.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in SPLITS}
            width, shape = int(stored["n_features"]), tuple(int(n) for n in stored["shape"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zipfile.zlib.error) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"Not a packed dataset ({reason}). Received: {path}") from None
    widths = {array.shape[1] if array.ndim == 2 else None for array in arrays.values()}
    grey = widths == {width} and width > 1
    fits = (grey or widths == {-(-width // 8)}) and math.prod(shape) == width
    if not fits or any(array.dtype != np.uint8 or not len(array) for array in arrays.values()):
        found = {name: (array.shape, array.dtype.name) for name, array in arrays.items()}
        raise ValueError(f"Not the layout of a packed dataset, {width} features of shape {shape}. Received: {found}")
    if not grey:
        arrays = {name: np.unpackbits(array, axis=1, count=width) for name, array in arrays.items()}
    return arrays, shape, grey


def _plain(name, x):
    array = np.asarray(x)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be an array (rows, features) of one row or more. Received: shape={array.shape}")
    if array.dtype == np.uint8:
        return array
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be zeros and ones, or grey values of type uint8. Received: {array.dtype} values")
    return array.astype(np.uint8)


def _shape(shape, width):
    shape = tuple(int(n) for n in np.atleast_1d(shape))
    if math.prod(shape) != width:
        raise ValueError(f"A row has {width} features. Received: shape={shape}")
    return shape
