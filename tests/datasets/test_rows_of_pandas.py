"""Rows and labels as other libraries have them: frames, and arrays with a mask."""

import numpy as np
import pandas
import pytest

import tfdsmcmc as ds
from tests.datasets.mapped import GREY, X


def test_rows_and_labels_of_pandas(tmp_path):
    frame, names = pandas.DataFrame(X).astype("Int64"), pandas.Series([f"row {i}" for i in range(41)], dtype=object)
    for rows in (frame, frame.astype("boolean"), pandas.DataFrame(X)):
        path = ds.datasets.pack(tmp_path / "rows.npy", rows, labels=names)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open(path)), X)
        np.testing.assert_array_equal(ds.datasets.open(path).labels, names.to_numpy(str))
        ds.datasets.pack(tmp_path / "mine.npz", rows, rows, rows, labels=[names] * 3)
        np.testing.assert_array_equal(ds.datasets.load("mine", tmp_path).train, X)


@pytest.mark.parametrize(
    "write",
    [
        lambda path, x: ds.datasets.pack(path / "rows.npy", x),
        lambda path, x: ds.datasets.pack(path / "mine.npz", x, x, x),
        lambda path, x: ds.datasets.GreyRows(x),
    ],
)
def test_what_is_hidden_is_not_packed(tmp_path, write):
    masked = np.ma.array(X, mask=np.zeros(X.shape, bool))
    write(tmp_path, masked)
    masked[3, 4] = np.ma.masked
    missing = pandas.DataFrame(X).astype("Int64")
    missing.iloc[3, 4] = pandas.NA
    before = sorted(tmp_path.iterdir())
    for rows in (masked, missing):
        with pytest.raises(ValueError, match="Received: "):
            write(tmp_path, rows)
    assert sorted(tmp_path.iterdir()) == before


def test_grey_values_and_labels_as_pandas_has_them(tmp_path):
    grey = [pandas.DataFrame(x).astype("UInt8") for x in GREY]
    ds.datasets.pack(tmp_path / "grey.npz", *grey)
    np.testing.assert_array_equal(ds.datasets.packed.read(tmp_path / "grey.npz").arrays["train"], GREY[0])
    np.testing.assert_array_equal(ds.datasets.GreyRows(grey[1]).values, GREY[1])
    with pytest.raises(ValueError, match="Received: a masked array"):
        ds.datasets.pack(tmp_path / "rows.npy", X, labels=np.ma.array(np.arange(41), mask=np.arange(41) == 3))
