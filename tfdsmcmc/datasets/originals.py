"""The public originals: where they are, how to read them, and how to know that they are right.

What counts is the content: for each split the SHA-256 of its rows, packed as in a packed file and sorted, so that a
source with the same rows in another order is the same dataset. Files whose own digest is published are checked for
that as well.

Sources:

- mnist: LeCun, Bottou, Bengio and Haffner, 1998. Training data are the first 50,000 of the official 60,000.
- binarized_mnist: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011;
  binarization of Salakhutdinov and Murray, ICML 2008. The test split is sorted by digit.
- caltech101_silhouettes_28: Marlin, Swersky, Chen and de Freitas, "Inductive principles for restricted Boltzmann
  machine learning", AISTATS 2010, split 1; rows turned upright; the object is 0.
- ocr_letters: Taskar, Guestrin and Koller, 2003; adult: Kohavi and Becker, UCI. Splits of Larochelle and Murray, 2011.
- dna: Statlog, UCI; the split of Larochelle and Murray cannot be made from the public original, so there is no
  download.
"""

from __future__ import annotations

import gzip
import hashlib
import pathlib
import struct
from typing import NamedTuple

import numpy as np

from tfdsmcmc.datasets.packed import SPLITS

_DENSITY = (
    "https://raw.githubusercontent.com/UCLA-StarAI/Density-Estimation-Datasets/"
    "37d53c1a8ba488d0a39e8c64bd3387577080b143/datasets"
)
_MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist"
_CALTECH = "https://people.cs.umass.edu/~marlin/data/caltech101_silhouettes_28_split1.mat"


class Original(NamedTuple):
    """A public dataset.

    Attributes:
      urls: files to download; empty where the split cannot be made from a public original.
      read: function from their paths to a dict from split to uint8 array.
      shape: of a row.
      digests: dict from split to the SHA-256 of its sorted packed rows.
      file_digests: SHA-256 of the files, where they are published.
    """

    urls: tuple[str, ...]
    read: object
    shape: tuple[int, ...]
    digests: dict[str, str]
    file_digests: tuple[str, ...] = ()


def read_text(train, valid, test):
    """Three text files, a row a line, zeros and ones with commas or spaces between them."""
    arrays = {}
    for name, path in zip(SPLITS, (train, valid, test)):
        lines = pathlib.Path(path).read_text().replace(",", " ").splitlines()
        arrays[name] = np.array([line.split() for line in lines if line.strip()], np.uint8)
    return arrays


def read_idx(train, test):
    """The two image files of MNIST in IDX format, gzipped; the last 10,000 training images are for validation."""
    images, held_out = (_idx(path) for path in (train, test))
    return {"train": images[:50000], "valid": images[50000:], "test": held_out}


def read_silhouettes(path):
    """The MATLAB file of the silhouettes, whose images lie column by column."""
    import scipy.io

    content = scipy.io.loadmat(path)
    keys = {"train": "train_data", "valid": "val_data", "test": "test_data"}
    return {
        name: content[key].reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784).astype(np.uint8)
        for name, key in keys.items()
    }


def verify(name, arrays):
    """Raises a ValueError where the rows are not those of the dataset."""
    for split, digest in ORIGINALS[name].digests.items():
        if content_digest(arrays[split]) != digest:
            shape = arrays[split].shape
            raise ValueError(f"The downloaded rows of {name} are not the published ones. Received: {split} {shape}")


def content_digest(x):
    """SHA-256 of the rows, bit-packed where they are binary, in sorted order."""
    packed = np.packbits(x, axis=1) if x.max() <= 1 else x
    return hashlib.sha256(b"".join(sorted(row.tobytes() for row in np.ascontiguousarray(packed)))).hexdigest()


def _idx(path):
    content = gzip.decompress(pathlib.Path(path).read_bytes())
    magic, count, height, width = struct.unpack(">IIII", content[:16])
    if magic != 2051 or len(content) != 16 + count * height * width:
        raise ValueError(f"Not an IDX file of images. Received: {path}")
    return np.frombuffer(content, np.uint8, offset=16).reshape(count, height * width)


def _density(name):
    return tuple(f"{_DENSITY}/{name}/{name}.{split}.data" for split in SPLITS)


def _digests(*values):
    return dict(zip(SPLITS, values))


ORIGINALS = {
    "mnist": Original(
        (f"{_MNIST}/train-images-idx3-ubyte.gz", f"{_MNIST}/t10k-images-idx3-ubyte.gz"),
        read_idx,
        (28, 28),
        _digests(
            "0b2320f4851bb95f24424b109f9b92c7fd563a04ec35d658b95bf08f7e84d64c",
            "aaabee041d65a13be997a7ae3c7c63bb8499b127322c269848a4bb5a60b5a8dc",
            "426afedf4383f0cdb3da8ea95bbbc5ee9a584969f2ac07e9cc4218d0c8d50e80",
        ),
    ),
    "binarized_mnist": Original(
        _density("binarized_mnist"),
        read_text,
        (28, 28),
        _digests(
            "aae6de292e6b68d898acf52062a1ac62907fc7ab417c59582d6523a1da0f9a61",
            "d10b4edf2e0765693846b51a5895f81f69fa37b6459b7f665bfa9c8cc9723622",
            "87ff96664646cc41575aeb3ae4fbbabc1475ca3d42be4659d7a829d9f22c845a",
        ),
    ),
    "caltech101_silhouettes_28": Original(
        (_CALTECH,),
        read_silhouettes,
        (28, 28),
        _digests(
            "c38919a6b8ca38ecb4d9f99057e3735d914eab9307ba4f85469de6eab7f97288",
            "5ad9ace4e5f94d6b1b8377ff5706aafaa69c0722505cc739de777141e32b3fd0",
            "21405317341aca202b784db97f19aecf8ad24c0d46b3be74b686b48c86038813",
        ),
        ("eb6735e8d84b1850fabc5590124aab1755e90c9fd28123584324398405e1e42a",),
    ),
    "ocr_letters": Original(
        _density("ocr_letters"),
        read_text,
        (16, 8),
        _digests(
            "e918519b67bd266466ba9a5dd4328f24a0b39f2fc7bfc48076614906bb92e42b",
            "5bb2aafc08bdb335fa23f1638e52c254c490c7d2ab1c366871e089b0b86e37ca",
            "4e8b68ccef3e2844a437411e91846d2c44e888fc7f4662c1d4d43b58fac26af4",
        ),
    ),
    "adult": Original(
        _density("adult"),
        read_text,
        (123,),
        _digests(
            "05a2f2360f58bc94e6ce24da1c5a4d9b919f0f789f44b5732e5988a9660ecd7f",
            "089d992826f3d2b329cc297726eb11a4400e0cdf88281a31d0ddbcaa50b72ecc",
            "da8f06c5dd0926c534fadf31e2a1f64d11ad783a18d839ad6e0d72c7a90a9b5f",
        ),
    ),
    "dna": Original(
        (),
        None,
        (180,),
        _digests(
            "46918e88b24d5ddd4c81dabff6cd1808ba177b5c342adcf770840ccf1c7d3984",
            "1f67d901fdc3ce6df9469d25c81c9f9e9d96956ec15221ea21c9727cde0173f3",
            "bb7d0812242a73e0e2765c9b59d0ff284dcdb89472833f3f7e7f2076e49f604f",
        ),
    ),
}
