"""Rows in files as a source."""

import itertools

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.conformance.sources import CASES, run_source_test
from tfdsmcmc.rows import ArraySource, FileSource, rows_of, source_of
from tfdsmcmc.supports import Binary, Real

COMPLETE = ("binary", "groups", "one row")
X = np.random.default_rng(0).integers(0, 2, (50, 13)).astype(np.uint8)


@pytest.mark.parametrize("packed", [True, False])
def test_mapped_rows_keep_the_contract(tmp_path, packed):
    names = (tmp_path / f"{i}.npy" for i in itertools.count())

    def make(x, support):
        return source_of("x", ds.datasets.open(ds.datasets.pack(next(names), x, packed=packed)), 3, support)

    run_source_test(make, COMPLETE)


@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_a_memory_mapped_array_keeps_the_contract(tmp_path, kind):
    names = (tmp_path / f"{i}.npy" for i in itertools.count())

    def make(x, support):
        path = next(names)
        np.save(path, x.astype(kind))
        source = source_of("x", np.load(path, mmap_mode="r"), 3, support)
        assert isinstance(source, FileSource)
        return source

    run_source_test(make, COMPLETE)


def test_rows_of_a_model_of_real_values_are_floats(tmp_path):
    """The same rows, of the same kind and with the same checksum, as from an array."""
    x = CASES["binary"][0]
    source = source_of("x", ds.datasets.open(ds.datasets.pack(tmp_path / "a.npy", x)), 3, Real())
    assert source.take(np.array([2, 0])).values.dtype == np.float32
    assert source.checksum == ArraySource(rows_of("x", x, 3, Real())).checksum


def test_nothing_is_held_on_the_device_and_a_part_is_a_source_too(tmp_path):
    mapped = ds.datasets.open(ds.datasets.pack(tmp_path / "a.npy", X))
    source = source_of("x", mapped[10:40:3], 13, Binary())
    assert not source.on_device and source.complete and source.num_rows == 10
    np.testing.assert_array_equal(source.all().values, X[10:40:3])


def test_files_that_do_not_fit_are_refused(tmp_path):
    path = ds.datasets.pack(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match="width 12.*Received: .*13"):
        source_of("x", ds.datasets.open(path), 12, Binary())
    with pytest.raises(ValueError, match="mask is for arrays. Received: "):
        source_of("x", ds.datasets.open(path), 13, Binary(), mask=np.ones((50, 13), bool))
    np.save(tmp_path / "b.npy", X + np.uint8(1))
    with pytest.raises(ValueError, match="Received: entries other than 0 and 1"):
        source_of("x", np.load(tmp_path / "b.npy", mmap_mode="r"), 13, Binary())


def test_an_array_in_a_file_that_has_a_mask_or_floats_is_read_into_memory(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.save(tmp_path / "b.npy", np.where(X == 1, np.nan, 0.0))
    mask = X == 0
    masked = source_of("x", np.load(tmp_path / "a.npy", mmap_mode="r"), 13, Binary(), mask)
    floats = source_of("x", np.load(tmp_path / "b.npy", mmap_mode="r"), 13, Binary())
    for source in (masked, floats):
        assert isinstance(source, ArraySource)
        np.testing.assert_array_equal(source.all().observed, mask)
