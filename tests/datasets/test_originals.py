"""The registry of originals, and the real files where they are at hand."""

import math
import os
import pathlib

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.datasets import published
from tfdsmcmc.datasets import originals, packed
from tfdsmcmc.datasets.originals import ORIGINALS

REAL = os.environ.get("TFDSMCMC_DATA")

# features and rows, from the tables of the papers
PUBLISHED = {
    "mnist": (784, 50000, 10000, 10000),
    "binarized_mnist": (784, 50000, 10000, 10000),
    "caltech101_silhouettes_28": (784, 4100, 2264, 2307),
    "omniglot": (784, 24345 - 1345, 1345, 8070),
    "adult": (123, 5000, 1414, 26147),
    "connect4": (126, 16000, 4000, 47557),
    "dna": (180, 1400, 600, 1186),
    "mushrooms": (112, 2000, 500, 5624),
    "nips_0_12": (500, 400, 100, 1240),
    "ocr_letters": (128, 32152, 10000, 10000),
    "rcv1": (150, 40000, 10000, 150000),
    "web": (300, 14000, 3188, 32561),
}


def test_all_are_listed_with_the_published_sizes():
    assert ds.datasets.names() == sorted([*PUBLISHED, "digits"])
    for name, (width, *sizes) in PUBLISHED.items():
        original = ORIGINALS[name]
        assert math.prod(original.shape) == width
        assert list(original.sizes) == list(packed.SPLITS) and list(original.sizes.values()) == sizes


def test_sources_and_digests_are_well_formed():
    for name, original in ORIGINALS.items():
        assert original.sources
        assert set(original.digests) in (set(), set(packed.SPLITS))
        files = [url.rsplit("/", 1)[1] for source in original.sources for url in source.urls]
        assert all(files) and len(set(files)) == len(files), name  # put side by side into one folder they stay apart
        digests = [*original.digests.values(), *(d for source in original.sources for d in source.file_digests)]
        assert all(len(digest) == 64 and int(digest, 16) >= 0 for digest in digests)
        for source in original.sources:
            assert callable(source.read) and len(source.file_digests) in (0, len(source.urls))
            assert all(url.startswith("http") and "{" not in url for url in source.urls)


BINARY_SOURCES = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name, original in ORIGINALS.items()
    for number in range(len(original.sources))
    if name not in ("mnist", "omniglot")
]


@pytest.mark.parametrize(("name", "number"), BINARY_SOURCES)
def test_each_source_has_the_reader_of_its_format(name, number, tmp_path):
    """Rows of the real width, written in the format of the source's files, come back as they were."""
    source, width = ORIGINALS[name].sources[number], math.prod(ORIGINALS[name].shape)
    splits = published.rows(np.random.default_rng(number), (6, 3, 4), width)
    published.write(source.urls, splits, tmp_path / "files")
    arrays = source.read(*(tmp_path / "files" / url.rsplit("/", 1)[1] for url in source.urls))
    for split, x in zip(packed.SPLITS, splits):
        np.testing.assert_array_equal(arrays[split], x)


def test_wrong_sizes_and_rows_are_refused_by_the_name_of_the_split(monkeypatch):
    x = dict(zip(packed.SPLITS, published.rows(np.random.default_rng(3), (7, 4, 5), 123)))
    sizes = {split: len(rows) for split, rows in x.items()}
    digests = {split: originals.content_digest(rows) for split, rows in x.items()}
    for known in ({}, digests):
        monkeypatch.setitem(ORIGINALS, "adult", ORIGINALS["adult"]._replace(sizes=sizes, digests=known))
        originals.verify("adult", x)
        originals.verify("adult", {split: rows[::-1] for split, rows in x.items()})  # another order, the same content
        for split in packed.SPLITS:
            for wrong in (x[split][:-1], x[split][:, 1:], x[split].T):
                with pytest.raises(ValueError, match=f"The {split} split of adult.*Received: {split}"):
                    originals.verify("adult", {**x, split: wrong})
    for split in packed.SPLITS:
        changed = x[split].copy()
        changed[1, 2] ^= 1
        with pytest.raises(ValueError, match=f"The {split} rows of adult.*published.*Received: {split}"):
            originals.verify("adult", {**x, split: changed})


@pytest.mark.skipif(REAL is None, reason="$TFDSMCMC_DATA names no folder of packed files")
@pytest.mark.parametrize("name", sorted(ORIGINALS))
def test_the_files_at_hand_are_the_published_data(name):
    path = pathlib.Path(REAL) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    stored = packed.read(path)
    originals.verify(name, {split: stored.rows(split) for split in packed.SPLITS})
    assert stored.shape == ORIGINALS[name].shape
    assert stored.grey == (name in ("mnist", "omniglot"))
