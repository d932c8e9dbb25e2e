"""The public originals: where they are, how to read them, and how to know that they are right.

What counts is the content: the number of rows of each split and, where it is known, the SHA-256 of its rows, packed as
in a packed file and sorted, so that a source with the same rows in another order is the same dataset. Files whose own
digest is published are checked for that as well.

Sources:

- mnist: LeCun, Bottou, Bengio and Haffner, 1998. Training data are the first 50,000 of the official 60,000.
- binarized_mnist: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011;
  binarization of Salakhutdinov and Murray, ICML 2008. The test split is sorted by digit.
- caltech101_silhouettes_28: Marlin, Swersky, Chen and de Freitas, "Inductive principles for restricted Boltzmann
  machine learning", AISTATS 2010, split 1; rows turned upright; the object is 0.
- omniglot: Lake, Salakhutdinov and Tenenbaum, NIPS 2013; the images of 28 × 28 and the split of Burda, Grosse and
  Salakhutdinov, "Importance weighted autoencoders", ICLR 2016; grey.
- adult, connect4, dna, mushrooms, nips_0_12, ocr_letters, rcv1, web: splits of Larochelle, Bengio and Turian,
  "Tractable multivariate binary density estimation and the restricted Boltzmann forest", Neural Computation 22, 2010,
  which Larochelle and Murray, 2011, use as well. The data are those of Kohavi and Becker (adult) and of Tromp
  (connect4), Statlog (dna) and Schlimmer (mushrooms), all in the UCI repository; of Roweis (nips_0_12); of Taskar,
  Guestrin and Koller, 2003 (ocr_letters); of Lewis, Yang, Rose and Li, 2004 (rcv1); of Platt, 1998 (web).

The eight are found in up to three places: the comma-separated copies of the density-estimation collection of the UCLA
StarAI laboratory, where its split is this one (its dna has another); the archives that accompany Germain, Gregor,
Murray and Larochelle, "MADE: Masked autoencoder for distribution estimation", ICML 2015; Larochelle's own files.
"""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdsmcmc.datasets.packed import SPLITS
from tfdsmcmc.datasets.parsing import (
    read_arrays,
    read_characters,
    read_idx,
    read_labelled_text,
    read_libsvm,
    read_silhouettes,
    read_text,
)

if TYPE_CHECKING:
    from tfdsmcmc.datasets.packed import Split

_DENSITY = (
    "https://raw.githubusercontent.com/UCLA-StarAI/Density-Estimation-Datasets/"
    "37d53c1a8ba488d0a39e8c64bd3387577080b143/datasets"
)
_MADE = "https://raw.githubusercontent.com/mgermain/MADE/514849eb9451311c02049f9e2d9a17fac589996a/datasets"
_MADE_RELEASE = "https://github.com/mgermain/MADE/releases/download/ICML2015"
_LAROCHELLE = "http://www.cs.toronto.edu/~larocheh/public/datasets"
_MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist"
_CALTECH = "https://people.cs.umass.edu/~marlin/data/caltech101_silhouettes_28_split1.mat"
_CALTECH_DIGEST = "eb6735e8d84b1850fabc5590124aab1755e90c9fd28123584324398405e1e42a"
_OMNIGLOT = "https://raw.githubusercontent.com/yburda/iwae/master/datasets/OMNIGLOT/chardata.mat"


class Source(NamedTuple):
    """A place where a dataset is published.

    Attributes:
      urls: the files it consists of; their last parts differ.
      read: function from the files' paths to a dict from split to uint8 array.
      file_digests: SHA-256 of the files, where they are published.
    """

    urls: tuple[str, ...]
    read: Callable[..., dict[str, np.ndarray]]
    file_digests: tuple[str, ...] = ()


class Original(NamedTuple):
    """A public dataset.

    Attributes:
      sources: where it is, in the order in which they are tried.
      shape: of a row.
      sizes: dict from split to the number of its rows.
      digests: dict from split to the SHA-256 of its sorted packed rows; empty where no published copy was at hand.
    """

    sources: tuple[Source, ...]
    shape: tuple[int, ...]
    sizes: dict[Split, int]
    digests: dict[Split, str] = {}


def verify(name: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Raises a ValueError, which names the split, where the rows are not those of the dataset."""
    original = ORIGINALS[name]
    for split, rows in original.sizes.items():
        shape, expected = arrays[split].shape, (rows, math.prod(original.shape))
        if shape != expected:
            raise ValueError(f"The {split} split of {name} is published as {expected}. Received: {split} {shape}")
    for split, digest in original.digests.items():
        if content_digest(arrays[split]) != digest:
            shape = arrays[split].shape
            raise ValueError(f"The {split} rows of {name} are not the published ones. Received: {split} {shape}")


def content_digest(x: np.ndarray) -> str:
    """SHA-256 of the rows, bit-packed where they are binary, in sorted order."""
    packed = np.packbits(x, axis=1) if x.max() <= 1 else x
    return hashlib.sha256(b"".join(sorted(row.tobytes() for row in np.ascontiguousarray(packed)))).hexdigest()


def _density(name):
    return Source(tuple(f"{_DENSITY}/{name}/{name}.{split}.data" for split in SPLITS), read_text)


def _made(name, folder=_MADE):
    return Source((f"{folder}/{name}.npz",), read_arrays)


def _larochelle(pattern, read):
    return Source(tuple(f"{_LAROCHELLE}/{pattern.format(split)}" for split in SPLITS), read)


def _libsvm(width):
    return functools.partial(read_libsvm, width=width)


def _by_split(*values):
    return dict(zip(SPLITS, values))


ORIGINALS: dict[str, Original] = {
    "mnist": Original(
        (Source((f"{_MNIST}/train-images-idx3-ubyte.gz", f"{_MNIST}/t10k-images-idx3-ubyte.gz"), read_idx),),
        (28, 28),
        _by_split(50000, 10000, 10000),
        _by_split(
            "0b2320f4851bb95f24424b109f9b92c7fd563a04ec35d658b95bf08f7e84d64c",
            "aaabee041d65a13be997a7ae3c7c63bb8499b127322c269848a4bb5a60b5a8dc",
            "426afedf4383f0cdb3da8ea95bbbc5ee9a584969f2ac07e9cc4218d0c8d50e80",
        ),
    ),
    "binarized_mnist": Original(
        (
            _density("binarized_mnist"),
            _larochelle("binarized_mnist/binarized_mnist_{}.amat", read_text),
        ),
        (28, 28),
        _by_split(50000, 10000, 10000),
        _by_split(
            "aae6de292e6b68d898acf52062a1ac62907fc7ab417c59582d6523a1da0f9a61",
            "d10b4edf2e0765693846b51a5895f81f69fa37b6459b7f665bfa9c8cc9723622",
            "87ff96664646cc41575aeb3ae4fbbabc1475ca3d42be4659d7a829d9f22c845a",
        ),
    ),
    "caltech101_silhouettes_28": Original(
        (Source((_CALTECH,), read_silhouettes, (_CALTECH_DIGEST,)),),
        (28, 28),
        _by_split(4100, 2264, 2307),
        _by_split(
            "c38919a6b8ca38ecb4d9f99057e3735d914eab9307ba4f85469de6eab7f97288",
            "5ad9ace4e5f94d6b1b8377ff5706aafaa69c0722505cc739de777141e32b3fd0",
            "21405317341aca202b784db97f19aecf8ad24c0d46b3be74b686b48c86038813",
        ),
    ),
    "omniglot": Original(
        (Source((_OMNIGLOT,), read_characters),),
        (28, 28),
        _by_split(23000, 1345, 8070),
    ),
    "adult": Original(
        (
            _density("adult"),
            _made("adult"),
            _larochelle("adult/a5a_{}.libsvm", _libsvm(123)),
        ),
        (123,),
        _by_split(5000, 1414, 26147),
        _by_split(
            "05a2f2360f58bc94e6ce24da1c5a4d9b919f0f789f44b5732e5988a9660ecd7f",
            "089d992826f3d2b329cc297726eb11a4400e0cdf88281a31d0ddbcaa50b72ecc",
            "da8f06c5dd0926c534fadf31e2a1f64d11ad783a18d839ad6e0d72c7a90a9b5f",
        ),
    ),
    "connect4": Original(
        (
            _made("connect4"),
            _larochelle("connect-4/connect-4_{}.libsvm", _libsvm(126)),
        ),
        (126,),
        _by_split(16000, 4000, 47557),
    ),
    "dna": Original(
        (
            _made("dna"),
            _larochelle("dna/dna_scale_{}.libsvm", _libsvm(180)),
        ),
        (180,),
        _by_split(1400, 600, 1186),
        _by_split(
            "46918e88b24d5ddd4c81dabff6cd1808ba177b5c342adcf770840ccf1c7d3984",
            "1f67d901fdc3ce6df9469d25c81c9f9e9d96956ec15221ea21c9727cde0173f3",
            "bb7d0812242a73e0e2765c9b59d0ff284dcdb89472833f3f7e7f2076e49f604f",
        ),
    ),
    "mushrooms": Original(
        (
            _made("mushrooms"),
            _larochelle("mushrooms/mushrooms_{}.libsvm", _libsvm(112)),
        ),
        (112,),
        _by_split(2000, 500, 5624),
    ),
    "nips_0_12": Original(
        (
            _made("nips"),
            _larochelle("nips-0-12/nips-0-12_all_shuffled_bidon_target_{}.amat", read_labelled_text),
        ),
        (500,),
        _by_split(400, 100, 1240),
    ),
    "ocr_letters": Original(
        (
            _density("ocr_letters"),
            _made("ocr_letters"),
        ),
        (16, 8),
        _by_split(32152, 10000, 10000),
        _by_split(
            "e918519b67bd266466ba9a5dd4328f24a0b39f2fc7bfc48076614906bb92e42b",
            "5bb2aafc08bdb335fa23f1638e52c254c490c7d2ab1c366871e089b0b86e37ca",
            "4e8b68ccef3e2844a437411e91846d2c44e888fc7f4662c1d4d43b58fac26af4",
        ),
    ),
    "rcv1": Original(
        (
            _made("rcv1", _MADE_RELEASE),
            _larochelle("rcv1/rcv1_all_subset.binary_{}_voc_150.amat", read_labelled_text),
        ),
        (150,),
        _by_split(40000, 10000, 150000),
    ),
    "web": Original(
        (
            _made("web"),
            _larochelle("web/w6a_{}.libsvm", _libsvm(300)),
        ),
        (300,),
        _by_split(14000, 3188, 32561),
    ),
}
