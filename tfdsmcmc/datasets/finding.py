"""Finding a dataset, and making it binary."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from tfdsmcmc.datasets import packed
from tfdsmcmc.datasets.downloading import cache, download
from tfdsmcmc.datasets.originals import ORIGINALS
from tfdsmcmc.datasets.packed import SPLITS

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.datasets.packed import Split

Binarization: TypeAlias = Literal["dynamic", "threshold", "none"]

_DIGITS_THRESHOLD = 8  # of grey values from 0 to 16
_DIGITS_SPLIT = (1197, 1497)  # 1,197 rows to learn from, 300 to validate on, 300 to test


class Labels(NamedTuple):
    """The labels of a dataset's rows, an array (n,) for each split."""

    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray

    @property
    def train_and_valid(self) -> np.ndarray:
        """Those of both splits, in this order."""
        return np.concatenate([self.train, self.valid])


class Dataset(NamedTuple):
    """A dataset in memory.

    Attributes:
      name: its name.
      train: float32 (n, D); zeros and ones unless it was loaded as grey values.
      valid: likewise.
      test: likewise.
      shape: of a row, such as (28, 28).
      labels: `Labels`, or None where the data have none.
    """

    name: str
    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray
    shape: tuple[int, ...]
    labels: Labels | None = None

    @property
    def train_and_valid(self) -> np.ndarray:
        """The rows of both splits, in this order: what is learnt from where nothing is chosen by validation."""
        return np.concatenate([self.train, self.valid])


def names() -> list[str]:
    """The datasets that are known by name, sorted."""
    return sorted(["digits", *ORIGINALS])


def load(
    name: str,
    data_dir: FilePath | None = None,
    *,
    binarization: Binarization = "dynamic",
    seed: int = 0,
) -> Dataset:
    """Loads a dataset.

    `digits` comes with scikit-learn: 1,797 images of 8 × 8, a pixel is 1 from half of the full ink on (8 of 16), in
    an order and split that never change. Any other is sought as NAME.npz in `data_dir`, then in `$TFDSMCMC_DATA`,
    then in the Keras cache. A known one that is not there is downloaded, verified and packed into the Keras cache;
    your own are made with `pack`. The sources and splits stand in the module tfdsmcmc.datasets.originals.

    Args:
      name: see `names`; or that of a packed file of your own.
      data_dir: folder of packed files.
      binarization: of grey data, mnist and omniglot: "dynamic" draws each pixel as a Bernoulli variable of its
        intensity, "threshold" takes intensities of at least one half as 1, "none" leaves intensities in [0, 1].
      seed: non-negative integer, of the dynamic binarization.

    Returns:
      `Dataset`.

    Raises:
      ValueError: for an unknown name or binarization, or a file that is broken.
      FileNotFoundError: where the data are not at hand and cannot be downloaded; one line that says what to put where.

    Example:

    >>> import tfdsmcmc as ds
    >>> data = ds.datasets.load("digits")
    >>> data.train.shape, data.valid.shape, data.test.shape, data.shape
    ((1197, 64), (300, 64), (300, 64), (8, 8))
    """
    check_binarization(binarization, seed)
    if name == "digits":
        return _digits()
    stored = packed.read(file_of(name, data_dir))
    splits = [binarizer(stored.grey, binarization, seed, split)(stored.rows(split)) for split in SPLITS]
    labels = None if stored.labels is None else Labels(**stored.labels)
    return Dataset(name, *splits, stored.shape, labels)


def check_binarization(binarization: Binarization, seed: int) -> None:
    """Raises a ValueError for what `load` does not take."""
    if binarization not in ("dynamic", "threshold", "none"):
        raise ValueError(f"binarization is 'dynamic', 'threshold' or 'none'. Received: binarization={binarization!r}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a non-negative integer. Received: seed={seed!r}")


def binarizer(grey: bool, binarization: Binarization, seed: int, split: Split) -> Callable[[np.ndarray], np.ndarray]:
    """The function that makes float32 rows of the uint8 rows of a split: of all, or of a block after the one before."""
    seeds = dict(zip(SPLITS, np.random.SeedSequence(seed).spawn(len(SPLITS))))
    generator = np.random.Generator(np.random.Philox(seeds[split]))

    def drawn(x):
        return (generator.random(x.shape, np.float32) * 255 < x).astype(np.float32)

    if not grey:
        return lambda x: x.astype(np.float32)
    functions = {"dynamic": drawn, "threshold": lambda x: (x >= 128).astype(np.float32)}
    return functions.get(binarization, lambda x: x.astype(np.float32) / 255)


def file_of(name: str, data_dir: FilePath | None) -> pathlib.Path:
    """The packed file of a name; one that is not at hand is downloaded."""
    if isinstance(name, (str, os.PathLike)) and pathlib.Path(name).suffix == ".npz":
        path = pathlib.Path(name)
        raise ValueError(
            f"The splits of a file NAME.npz are found by its name and folder, {path.stem!r} and "
            f"data_dir={str(path.parent)!r}; rows alone are a file NAME.npy. Received: name={str(name)!r}"
        )
    if not isinstance(name, str) or pathlib.Path(name).name != name:
        raise ValueError(f"A dataset has one of the names {names()}. Received: name={name!r}")
    path = _find(name, data_dir)
    if path is None and name not in ORIGINALS:
        raise ValueError(
            f"The known datasets are {names()}; {name}.npz is not in data_dir or $TFDSMCMC_DATA. Rows of your own are "
            f"written there by datasets.pack. Received: name={name!r}, data_dir={data_dir!r}"
        )
    return pathlib.Path(path or download(name))


def _digits():
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.Generator(np.random.Philox(0)).permutation(len(digits.data))
    x = (digits.data >= _DIGITS_THRESHOLD).astype(np.float32)[order]
    labels = Labels(*np.split(digits.target[order], _DIGITS_SPLIT))
    return Dataset("digits", *np.split(x, _DIGITS_SPLIT), (8, 8), labels)


def _find(name, data_dir):
    folders = [data_dir, os.environ.get("TFDSMCMC_DATA"), cache()]
    paths = [pathlib.Path(folder) / f"{name}.npz" for folder in folders if folder]
    return next((path for path in paths if path.is_file()), None)
