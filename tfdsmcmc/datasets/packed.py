"""The packed file of a dataset: NAME.npz.

Keys `train`, `valid`, `test`, `n_features`, `shape`, and `train_labels`, `valid_labels`, `test_labels` where the data
have labels. Binary data are bit-packed along the features (`np.packbits(x, axis=1)`), grey data plain uint8 from 0 to
255; the widths tell which. Nothing is ever unpickled.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from tfdsmcmc import files
from tfdsmcmc._common import archives, checks
from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.datasets import mapped_file
from tfdsmcmc.datasets.labels import label_array
from tfdsmcmc.datasets.mapped_file import row_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import FilePath

Split: TypeAlias = Literal["train", "valid", "test"]

SPLITS: tuple[Split, ...] = ("train", "valid", "test")


class Packed(NamedTuple):
    """What a packed file holds of some splits.

    Attributes:
      arrays: dict from split to uint8 array as it is stored: (n, ⌈D/8⌉) bits, or (n, D) where `grey`.
      labels: dict from split to array (n,); None where the data have none.
      shape: of a row.
      grey: whether entries are 0 to 255, not bits.
    """

    arrays: dict[str, np.ndarray]
    labels: dict[str, np.ndarray] | None
    shape: tuple[int, ...]
    grey: bool

    def rows(self, split: str) -> np.ndarray:
        """The rows of a split, uint8 (n, D): zeros and ones, or 0 to 255 where `grey`."""
        stored = self.arrays[split]
        return stored if self.grey else np.unpackbits(stored, axis=1, count=math.prod(self.shape))


def pack(
    path: FilePath,
    train: ArrayLike | Iterable[ArrayLike],
    valid: ArrayLike | None = None,
    test: ArrayLike | None = None,
    shape: Sequence[int] | None = None,
    labels: ArrayLike | Sequence[ArrayLike] | None = None,
    packed: bool = True,
) -> str:
    """Writes rows to a file: the splits of a dataset that `load` and `open` find by name, or rows that `open` maps.

    Args:
      path: file to write: NAME.npz of a dataset in three splits; NAME.npy of rows that need not fit into memory.
      train: array (n, D): zeros and ones; or, in NAME.npz, uint8 with other values too, grey. For NAME.npy also an
        iterable of blocks (n_i, D), which is gone through once and written a block at a time.
      valid: like `train`; only in NAME.npz.
      test: likewise.
      shape: of a row, such as (28, 28); (D,) by default.
      labels: (n,) numbers or texts, those of the rows; for NAME.npz three such arrays, of `train`, `valid` and `test`.
      packed: of NAME.npy, whether eight units share a byte; otherwise each has its own.

    Returns:
      The path, a string.

    Raises:
      ValueError: for splits or blocks of different widths, without rows, or with other entries; labels that do not fit.
        The file is not touched then.

    Example:

    >>> import tempfile, numpy as np, tfdsmcmc as ds
    >>> blocks = (np.random.default_rng(i).integers(0, 2, (100, 20)) for i in range(5))
    >>> path = ds.datasets.pack(f"{tempfile.mkdtemp()}/rows.npy", blocks)
    >>> rows = ds.datasets.open(path)
    >>> rows.num_rows, rows.units, rows.take([3, 400]).shape
    (500, 20, (2, 20))
    """
    path, packed = pathlib.Path(path), checks.boolean("packed", packed)
    if path.suffix == ".npy":
        if valid is not None or test is not None:
            raise ValueError("NAME.npy holds the rows train alone. Received: valid or test as well")
        return mapped_file.write(path, train, shape, labels, packed)
    if path.suffix != ".npz":
        raise ValueError(f"A packed dataset is a file NAME.npz or NAME.npy. Received: path={str(path)!r}")
    if not packed:
        raise ValueError("packed=False is of NAME.npy. Received: packed=False with NAME.npz")
    if valid is None or test is None:
        found = f"valid of type {type(valid).__name__}, test of type {type(test).__name__}"
        raise ValueError(f"NAME.npz holds train, valid and test; rows alone go to NAME.npy. Received: {found}")
    arrays = {name: _plain(name, x) for name, x in zip(SPLITS, (train, valid, test))}
    width = arrays["train"].shape[1]
    if any(x.shape[1] != width for x in arrays.values()):
        raise ValueError(f"The splits must have one width. Received: {[x.shape for x in arrays.values()]}")
    largest = {name: int(x.max()) for name, x in arrays.items()}
    if max(largest.values()) > 1 and 1 in largest.values():
        raise ValueError(
            "A file has grey splits alone or binary ones alone: among grey values a one is 1/255. "
            f"Received: splits whose largest values are {largest}"
        )
    shape = row_shape((width,) if shape is None else shape, width)
    labels = {} if labels is None else _labels_of(labels, arrays)
    if all(x.max() <= 1 for x in arrays.values()):
        arrays = {name: np.packbits(x, axis=1) for name, x in arrays.items()}
    elif width == 1:  # as wide as a byte of bits, for which it would be read
        raise ValueError("Grey rows have two features or more. Received: shape=(1,)")

    with files.replacing(path) as temporary:
        np.savez_compressed(temporary, n_features=width, shape=np.array(shape), **arrays, **labels)
    return str(path)


def read(path: FilePath, splits: Sequence[str] = SPLITS) -> Packed:
    """Reads a packed file.

    Args:
      path: NAME.npz.
      splits: those to read.

    Raises:
      ValueError: for a file that is unreadable, truncated, pickled, or laid out otherwise, or would unpack to far more
        than it is.
    """
    archives.check(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: archives.array(stored, name) for name in splits}
            width, shape = int(stored["n_features"]), tuple(int(n) for n in stored["shape"])
            labelled = all(_key(name) in stored for name in splits)
            labels = {name: archives.array(stored, _key(name)) for name in splits} if labelled else None
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"Not a packed dataset ({reason_of(error)}). Received: {path}") from None
    widths = {array.shape[1] if array.ndim == 2 else None for array in arrays.values()}
    grey = widths == {width} and width > 1
    fits = (grey or widths == {-(-width // 8)}) and math.prod(shape) == width
    if not fits or any(array.dtype != np.uint8 or not len(array) for array in arrays.values()):
        found = {name: (array.shape, array.dtype.name) for name, array in arrays.items()}
        raise ValueError(f"Not the layout of a packed dataset, {width} features of shape {shape}. Received: {found}")
    if labels and any(labels[name].shape != (len(arrays[name]),) for name in splits):
        found = {name: array.shape for name, array in labels.items()}
        raise ValueError(f"Labels are one for each row of {path}. Received: {found}")
    return Packed(arrays, labels, shape, grey)


def _key(split):
    return f"{split}_labels"


def _labels_of(labels, arrays):
    """The labels of the splits by their keys in the file."""
    if not isinstance(labels, (tuple, list)) or len(labels) != len(SPLITS):
        raise ValueError(f"labels must be three arrays, of {', '.join(SPLITS)}. Received: {type(labels).__name__}")
    found = {_key(name): label_array(_key(name), x) for name, x in zip(SPLITS, labels)}
    for name, x in arrays.items():
        if len(found[_key(name)]) != len(x):
            raise ValueError(f"{_key(name)} must be {len(x)}. Received: shape={found[_key(name)].shape}")
    return found


def _plain(name, x):
    array = mapped_file.plain_array(name, x)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be an array (rows, features) of one row or more. Received: shape={array.shape}")
    if array.dtype == np.uint8:
        return array
    numeric = np.issubdtype(array.dtype, np.number) or array.dtype == bool
    wrong = array[~np.isin(array, (0, 1))]
    if not numeric or wrong.size:
        first = f", the first other one {wrong[0]!r}" if wrong.size else ""
        raise ValueError(
            f"{name} must be zeros and ones, or grey values of type uint8. Received: {array.dtype} values{first}"
        )
    return array.astype(np.uint8)
