"""Readers of the formats in which the originals are published.

Each takes the paths of the files that a source consists of and returns a dict from split to uint8 array (n, D). A file
that is not what its reader expects raises a ValueError: nothing is rounded to 0 or 1, clipped, or left out silently.
"""

from __future__ import annotations

import gzip
import pathlib
import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common import archives
from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.datasets.packed import SPLITS

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

_OMNIGLOT_VALID = 1345
_OMNIGLOT_SEED = 123


def read_text(train: FilePath, valid: FilePath, test: FilePath) -> dict[str, np.ndarray]:
    """Three text files, a row a line, zeros and ones with commas or spaces between them."""
    return {split: _digits(path, _lines(path)) for split, path in zip(SPLITS, (train, valid, test))}


def read_labelled_text(train: FilePath, valid: FilePath, test: FilePath) -> dict[str, np.ndarray]:
    """Three text files, a row a line, zeros and ones and then a label, which is left out, with spaces between them."""
    rows = {path: [line.rsplit(None, 1)[0] for line in _lines(path)] for path in (train, valid, test)}
    return {split: _digits(path, rows[path]) for split, path in zip(SPLITS, (train, valid, test))}


def read_libsvm(train: FilePath, valid: FilePath, test: FilePath, *, width: int) -> dict[str, np.ndarray]:
    """Three text files, a row a line: a label, which is left out, and index:value of what is not 0, from index 1 on."""
    return {split: _libsvm(path, width) for split, path in zip(SPLITS, (train, valid, test))}


def read_arrays(path: FilePath) -> dict[str, np.ndarray]:
    """One NumPy archive with the keys train_data, valid_data and test_data, zeros and ones of any numeric type."""
    archives.check(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {split: archives.array(stored, f"{split}_data") for split in SPLITS}
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"Not an archive of three splits ({reason_of(error)}). Received: {path}") from None
    return {split: _binary(path, x) for split, x in arrays.items()}


def read_idx(train: FilePath, test: FilePath) -> dict[str, np.ndarray]:
    """The two image files of MNIST in IDX format, gzipped; the last 10,000 training images are for validation."""
    images, held_out = (_idx(path) for path in (train, test))
    return {"train": images[:50000], "valid": images[50000:], "test": held_out}


def read_silhouettes(path: FilePath) -> dict[str, np.ndarray]:
    """The MATLAB file of the silhouettes, whose images lie column by column."""
    content = _matlab(path, ("train_data", "val_data", "test_data"))
    return {split: _binary(path, _turned(path, x)) for split, x in zip(SPLITS, content)}


def read_characters(path: FilePath) -> dict[str, np.ndarray]:
    """The MATLAB file of omniglot: an image a column, its pixels column by column, intensities from 0 to 1.

    Intensities are stored as grey values from 0 to 255, so that they change by 1/510 at most. The training images are
    shuffled, and the last 1,345 are for validation, as in the programs published with the paper: the same permutation,
    that of NumPy's RandomState(123), whose numbers never change. So results on the validation split compare too.
    """
    images, test = (_turned(path, x.T) for x in _matlab(path, ("data", "testdata")))
    for x in (images, test):
        if not ((x >= 0) & (x <= 1)).all():
            raise ValueError(f"Intensities lie in [0, 1]. Received: {path} with others")
    images, test = (np.rint(x * 255.0).astype(np.uint8) for x in (images, test))
    images = images[np.random.RandomState(_OMNIGLOT_SEED).permutation(len(images))]
    return {"train": images[:-_OMNIGLOT_VALID], "valid": images[-_OMNIGLOT_VALID:], "test": test}


def _lines(path):
    """The lines of a text file that are not blank; any byte is a character, so that no file fails to be decoded."""
    lines = pathlib.Path(path).read_text(encoding="latin-1").splitlines()
    return [line for line in lines if line.strip()]


def _digits(path, lines):
    """Rows from lines of single digits: joined and read at once, for the largest file has 22 million of them."""
    lines = [line.translate({ord(separator): None for separator in ", \t"}) for line in lines]
    if len({len(line) for line in lines}) != 1:
        raise ValueError(f"Not text of rows of one width. Received: {path}")
    characters = np.frombuffer("".join(lines).encode("latin-1"), np.uint8).reshape(len(lines), -1)
    return _binary(path, characters - np.uint8(ord("0")))  # other characters wrap to above 1


def _libsvm(path, width):
    lines = _lines(path)
    x = np.zeros((len(lines), width))
    for number, line in enumerate(lines):
        try:
            pairs = [pair.split(":") for pair in line.partition("#")[0].split()[1:]]
            indices, values = [int(index) for index, _ in pairs], [float(value) for _, value in pairs]
        except ValueError:
            raise ValueError(f"Not text of a label and index:value. Received: {path}, row {number + 1}") from None
        if not all(1 <= index <= width for index in indices):
            raise ValueError(f"The indices go from 1 to {width}. Received: {path}, row {number + 1}")
        x[number, np.array(indices, int) - 1] = values
    return _binary(path, x)


def _idx(path):
    try:
        content = gzip.decompress(pathlib.Path(path).read_bytes())
        magic, count, height, width = struct.unpack(">IIII", content[:16])
    except (OSError, EOFError, struct.error, zlib.error):
        raise ValueError(f"Not a gzipped IDX file. Received: {path}") from None
    if magic != 2051 or len(content) != 16 + count * height * width:
        raise ValueError(f"Not an IDX file of images. Received: {path}")
    return np.frombuffer(content, np.uint8, offset=16).reshape(count, height * width)


def _matlab(path, keys):
    import scipy.io

    try:
        content = scipy.io.loadmat(path)
        return [content[key] for key in keys]
    except Exception as error:  # the reader raises whatever a broken file leads it to
        raise ValueError(f"Not a MATLAB file with {', '.join(keys)} ({reason_of(error)}). Received: {path}") from None


def _turned(path, x):
    """Rows of 28 × 28 pixels column by column, to row by row."""
    if x.ndim != 2 or x.shape[1] != 784:
        raise ValueError(f"Images have 784 pixels. Received: {path} with {x.shape}")
    return x.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784)


def _binary(path, x):
    if x.ndim != 2 or not ((x == 0) | (x == 1)).all():
        raise ValueError(f"The data are rows of zeros and ones. Received: {path} with others")
    return x.astype(np.uint8)
