"""Rows by the name of their dataset or by their file, left where they are."""

from __future__ import annotations

import hashlib
import os
import pathlib
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.datasets import mapped_file, packed
from tfdsmcmc.datasets.downloading import cache
from tfdsmcmc.datasets.finding import binarizer, check_binarization, file_of, load
from tfdsmcmc.datasets.grey_rows import GreyRows
from tfdsmcmc.datasets.mapped_rows import BLOCK
from tfdsmcmc.datasets.packed import SPLITS

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.datasets.finding import Binarization
    from tfdsmcmc.datasets.mapped_rows import MappedRows
    from tfdsmcmc.datasets.packed import Split

_DEFAULTS = {"split": "train", "binarization": "dynamic", "seed": 0}  # of what says which rows of a dataset they are


@overload
def open(
    name_or_path: FilePath,
    split: Split = ...,
    data_dir: FilePath | None = ...,
    *,
    units: int | None = ...,
    binarization: Literal["dynamic", "threshold"] = ...,
    seed: int = ...,
) -> MappedRows: ...
@overload
def open(
    name_or_path: FilePath,
    split: Split = ...,
    data_dir: FilePath | None = ...,
    *,
    units: int | None = ...,
    binarization: Literal["each_epoch"],
    seed: int = ...,
) -> GreyRows: ...
def open(
    name_or_path: FilePath,
    split: Split = "train",
    data_dir: FilePath | None = None,
    *,
    units: int | None = None,
    binarization: Binarization | Literal["each_epoch"] = "dynamic",
    seed: int = 0,
) -> MappedRows | GreyRows:
    """Opens rows of zeros and ones that stay in their file: `fit`, `evaluate` and the like read them as they need them.

    A dataset by its name is found as `load` finds it. Its rows are those that `load` gives; they are written once to a
    file of bits in the folder `mapped` of the Keras cache, which is known by the content of the packed file.

    Args:
      name_or_path: name of a dataset; or the path of a file NAME.npy, as `pack` or `np.save` writes it.
      split: of a dataset, "train", "valid" or "test".
      data_dir: of a dataset, folder of packed files.
      units: of a file that `np.save` has written, the number D of units where bits share bytes as by
        `np.packbits(x, axis=1)`.
      binarization: of grey data, "dynamic" or "threshold" as in `load`; or "each_epoch" for rows whose zeros and ones
        `fit` draws anew in each epoch, from the model's seed.
      seed: non-negative integer, of the dynamic binarization.

    Returns:
      `MappedRows`; of "each_epoch" `GreyRows`, in memory.

    Raises:
      ValueError: for an unknown name, split or binarization, a file that is broken or holds something else, or a
        split, binarization or seed with a file NAME.npy.
      FileNotFoundError: where there is no such file, or the data are not at hand and cannot be downloaded.

    Example:

    >>> import tfdsmcmc as ds
    >>> rows = ds.datasets.open("digits", split="test")
    >>> rows.num_rows, rows.shape, rows.labels[:3].tolist(), rows.take([5, 2]).dtype
    (300, (8, 8), [2, 3, 3], dtype('uint8'))
    """
    if isinstance(name_or_path, os.PathLike) or str(name_or_path).endswith(".npy"):
        given = {"split": split, "binarization": binarization, "seed": seed}
        others = {name: value for name, value in given.items() if value != _DEFAULTS[name]}
        if others:
            raise ValueError(f"A file NAME.npy has no {', '.join(others)}. Received: {others}")
        return mapped_file.read(pathlib.Path(name_or_path), units)
    if units is not None:
        raise ValueError(f"units is of a file of bits NAME.npy. Received: units={units!r} with {name_or_path!r}")
    checks.one_of("split", split, SPLITS)
    if binarization == "each_epoch":
        return _grey(name_or_path, split, data_dir)
    check_binarization(binarization, seed)
    if binarization == "none":
        raise ValueError("Mapped rows are zeros and ones: grey data are drawn or cut. Received: binarization='none'")
    if name_or_path == "digits":
        data = load("digits")
        return _mapped("digits", split, "1", data.shape, [getattr(data, split)], getattr(data.labels, split))
    path = file_of(name_or_path, data_dir)
    digest = _digest(path)
    for known in (digest, f"{digest}-{binarization}-{seed}"):  # of binary data, of grey
        if (file := _file(path.stem, split, known)).exists():
            return mapped_file.read(file)
    stored = packed.read(path, (split,))
    known = f"{digest}-{binarization}-{seed}" if stored.grey else digest
    labels = None if stored.labels is None else stored.labels[split]
    return _mapped(path.stem, split, known, stored.shape, _blocks(stored, split, binarization, seed), labels)


def _grey(name, split, data_dir):
    """The intensities of a split; those of binary data are 0 and 255."""
    if name == "digits":
        data = load(name)
        return GreyRows((255 * getattr(data, split)).astype(np.uint8), data.shape, getattr(data.labels, split))
    stored = packed.read(file_of(name, data_dir), (split,))
    values = stored.rows(split)
    labels = None if stored.labels is None else stored.labels[split]
    return GreyRows(values if stored.grey else values * np.uint8(255), stored.shape, labels)


def _mapped(name, split, known, shape, blocks, labels):
    """The rows of a split in the cache, written there unless they are."""
    file = _file(name, split, known)
    if not file.exists():
        mapped_file.write(file, blocks, shape, labels)
    return mapped_file.read(file)


def _file(name, split, known):
    return cache() / "mapped" / f"{name}-{split}-{known}.npy"


def _digest(path):
    """The first digits of a file's SHA-256."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()[:16]


def _blocks(stored, split, binarization, seed):
    """Yields the rows of a split as `load` makes them, some at a time."""
    rows, function = stored.arrays[split], binarizer(stored.grey, binarization, seed, split)
    size = max(1, BLOCK // rows.shape[1] // 8)
    for first in range(0, len(rows), size):
        yield function(stored._replace(arrays={split: rows[first : first + size]}).rows(split))
