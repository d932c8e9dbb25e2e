"""Rows that stay in their file: written, opened by path, taken from, and sent as their file."""

import pathlib
import pickle
import re

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.datasets.mapped import LABELS, X, blocks
from tfdsmcmc.datasets import mapped_rows


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("labels", [None, *LABELS])
@pytest.mark.parametrize("rows", [X, X.astype(bool), X.astype(float), blocks, lambda: list(blocks())])
def test_what_is_packed_is_what_is_opened(tmp_path, small_blocks, packed, labels, rows):
    rows = rows() if callable(rows) else rows
    path = ds.datasets.pack(tmp_path / "new" / "rows.npy", rows, shape=(13, 1), labels=labels, packed=packed)
    mapped = ds.datasets.open(path)
    assert (mapped.num_rows, len(mapped), mapped.units, mapped.shape, mapped.packed) == (41, 41, 13, (13, 1), packed)
    np.testing.assert_array_equal(np.asarray(mapped), X)
    assert (mapped.labels is None) == (labels is None)
    if labels is not None:
        np.testing.assert_array_equal(mapped.labels, labels)
        assert mapped.labels.dtype == labels.dtype
    # NumPy alone reads the rows
    stored = np.load(path)
    np.testing.assert_array_equal(stored, np.packbits(X, axis=1) if packed else X)
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["rows.npy"]


@pytest.mark.parametrize("packed", [True, False])
def test_taking_rows_and_parts(tmp_path, packed):
    mapped = ds.datasets.open(ds.datasets.pack(tmp_path / "rows.npy", X, labels=LABELS[0], packed=packed))
    for index in (slice(3, 20, 4), np.array([40, 0, 7, 7]), [2, 1], np.int32([5]), slice(None)):
        taken = mapped.take(index)
        assert taken.dtype == np.uint8 and type(taken) is np.ndarray and taken.flags.writeable
        np.testing.assert_array_equal(taken, X[index])
    part = mapped[4::3]
    np.testing.assert_array_equal(np.asarray(part, np.float32), X[4::3])
    np.testing.assert_array_equal(part[1:].labels, LABELS[0][4::3][1:])
    np.testing.assert_array_equal(part.take([1, 0]), X[[7, 4]])
    again = ds.datasets.open(ds.datasets.pack(tmp_path / "part.npy", part, labels=part.labels))
    np.testing.assert_array_equal(np.asarray(again), X[4::3])
    for bad, reason in ((3, "chosen by a slice"), (slice(41, None), "At least one row"), ("a", "chosen by a slice")):
        with pytest.raises(ValueError, match=f"{reason}.*Received: .*{re.escape(repr(bad))}"):
            mapped[bad]


def test_one_unit(tmp_path):
    """One byte is the width of a row both with bits and without: what the file says counts."""
    for packed in (True, False):
        path = ds.datasets.pack(tmp_path / "rows.npy", X[:, :1], packed=packed)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open(path)), X[:, :1])


def test_packed_bits_of_a_single_unit(tmp_path):
    x = np.array([[1], [0], [1]], np.uint8)
    for stored in (np.packbits(x, axis=1), x):
        np.save(tmp_path / "x.npy", stored)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open(tmp_path / "x.npy", units=1)), x)


def test_files_of_numpy_alone(tmp_path, small_blocks):
    path = tmp_path / "rows.npy"
    for x in (X, X.astype(bool), np.asfortranarray(X)):
        np.save(path, x)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open(path)), X)
        assert ds.datasets.open(path, units=13).shape == (13,)
    np.save(path, np.packbits(X, axis=1))
    mapped = ds.datasets.open(str(path), units=13)
    assert mapped.packed and mapped.labels is None
    np.testing.assert_array_equal(np.asarray(mapped), X)
    for units in (None, 12, 2, 17, 100):  # of 12 there would be a bit beyond the last unit
        with pytest.raises(ValueError, match="Received: .*rows.npy"):
            ds.datasets.open(path, units=units)
    ds.datasets.pack(path, X)
    with pytest.raises(ValueError, match="13 units. Received: units=12"):
        ds.datasets.open(path, units=12)


def test_a_file_has_no_splits(tmp_path):
    """Its rows must not pass for those of a test split, or for rows that are drawn anew."""
    path = ds.datasets.pack(tmp_path / "rows.npy", X)
    assert len(ds.datasets.open(path, "train")) == len(X)
    for given in ({"split": "test"}, {"binarization": "each_epoch"}, {"seed": 3}):
        with pytest.raises(ValueError, match=f"has no {next(iter(given))}. Received: "):
            ds.datasets.open(path, **given)


def test_labels_are_an_array():
    for rows in (mapped_rows.MappedRows(X, labels=X[:, 0].tolist()), ds.datasets.GreyRows(X, labels=X[:, 0].tolist())):
        np.testing.assert_array_equal(rows.labels[[0, 2]], X[[0, 2], 0])
    with pytest.raises(ValueError, match="shape must be a positive integer. Received: shape=-1"):
        ds.datasets.GreyRows(X, shape=(-1, -13))


def test_a_killed_pack_leaves_the_old_file(tmp_path):
    path = ds.datasets.pack(tmp_path / "rows.npy", X)

    def killed():
        yield X[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ds.datasets.pack(path, killed())
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"]
    np.testing.assert_array_equal(np.asarray(ds.datasets.open(path)), X)


def test_rows_travel_as_their_file(tmp_path):
    """Parts too, of any step; a file that is changed meanwhile is looked at again."""
    x = np.repeat(X, 50, axis=0)
    path = ds.datasets.pack(tmp_path / "rows.npy", x, labels=np.arange(len(x)))
    mapped = ds.datasets.open(path)
    for part in (slice(None), slice(3, 900, 2), slice(None, None, -1), slice(40, 2, -3)):
        sent = pickle.dumps(mapped[part][1:])
        assert len(sent) < 1000
        found = pickle.loads(sent)
        np.testing.assert_array_equal(np.asarray(found), x[part][1:])
        np.testing.assert_array_equal(found.labels, np.arange(len(x))[part][1:])
    np.save(tmp_path / "bits.npy", np.packbits(X, axis=1))
    bits = pickle.loads(pickle.dumps(ds.datasets.open(tmp_path / "bits.npy", units=13)))
    np.testing.assert_array_equal(np.asarray(bits), X)
    in_memory = pickle.loads(pickle.dumps(mapped_rows.MappedRows(X)))
    np.testing.assert_array_equal(np.asarray(in_memory), X)
    pathlib.Path(path).write_bytes(b"other")
    with pytest.raises(ValueError, match="Received: .*rows.npy"):
        pickle.loads(sent)


def test_pickled_rows_of_a_file_that_has_changed_are_refused(tmp_path):
    x = np.eye(40, 6, dtype=np.uint8)
    ds.datasets.pack(tmp_path / "x.npy", x)
    sent = pickle.dumps(ds.datasets.open(tmp_path / "x.npy")[10:40])
    assert len(pickle.loads(sent)) == 30
    reopened, (reopen, places, _) = ds.datasets.open(tmp_path / "x.npy")[10:40].__reduce__()
    assert len(reopened(reopen, places)) == 30, "as pickles from before have it"
    ds.datasets.pack(tmp_path / "x.npy", x[:20])
    with pytest.raises(ValueError, match=r"30 of them\. Received: 10"):
        pickle.loads(sent)
