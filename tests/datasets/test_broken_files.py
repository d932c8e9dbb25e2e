"""What is no file of rows, or cannot become one, is refused."""

import builtins
import json

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.datasets.mapped import GREY, LABELS, X


def test_entries_are_checked_to_the_last_row(tmp_path, small_blocks):
    for row in (0, 20, 40):
        wrong = X.copy()
        wrong[row, 12] = 2
        np.save(tmp_path / "rows.npy", wrong)
        with pytest.raises(ValueError, match=f"other than 0 and 1 in row {row}"):
            ds.datasets.open(tmp_path / "rows.npy")
        bits = np.packbits(X, axis=1)
        bits[row, 1] |= 1
        np.save(tmp_path / "rows.npy", bits)
        with pytest.raises(ValueError, match=f"beyond the 13 units in row {row}"):
            ds.datasets.open(tmp_path / "rows.npy", units=13)


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        (X[:0], {}, "train must have at least one row"),
        (iter([]), {}, "train must have at least one row"),
        (X[0], {}, "train must be blocks of numbers"),
        (X.tolist(), {}, "train must be blocks of numbers"),
        (3, {}, "train must be an array or an iterable"),
        (X * 2, {}, "train must be zeros and ones"),
        (X * np.nan, {}, "train must be zeros and ones"),
        (GREY[0], {}, "train must be zeros and ones"),
        (np.array([["a"]]), {}, "train must be blocks of numbers"),
        ([X, X[:, :12]], {}, "train must be blocks of one width, 13"),
        ([X, X * 2], {}, "train must be zeros and ones"),
        (X, {"shape": (2, 7)}, "shape must be of 13 features"),
        (X, {"labels": np.arange(40)}, "labels must be one for each of 41 rows"),
        (X, {"labels": np.zeros((41, 1))}, r"labels must be an array \(rows,\)"),
        (X, {"labels": np.array([{}] * 41, object)}, "labels must be an array .* of numbers or texts"),
        (X.reshape(41, 13, 1), {}, r"train must be an array \(rows, features\)"),
        (X, {"packed": "no"}, "packed must be True or False"),
        (X, {"valid": X, "test": X}, "NAME.npy holds the rows train alone"),
    ],
)
def test_pack_refuses_what_are_no_binary_rows_and_leaves_the_old_file(tmp_path, rows, options, reason):
    path = tmp_path / "rows.npy"
    path.write_text("old")
    with pytest.raises(ValueError, match=f"^{reason}.*Received: "):
        ds.datasets.pack(path, rows, **options)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"] and path.read_text() == "old"


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "rows.npy"
    whole = builtins.open(ds.datasets.pack(path, X, labels=LABELS[0]), "rb").read()
    start = 128 + 41 * 2  # of the description
    changed = whole.replace(b"l\0\0\0a\0\0\0b\0\0\0e\0\0\0l\0\0\0s", b"l\0\0\0a\0\0\0b\0\0\0e\0\0\0l\0\0\0z")
    assert changed != whole
    header = bytes([*whole[:10], whole[10] ^ 0x15, *whole[11:]])  # whose tokens are none
    for broken in (
        b"",
        b"text",
        header,
        whole[:60],
        whole[:150],
        whole[: start + 60],
        whole[:-1],
        whole + b"\0",
        changed,
    ):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="Received: .*rows.npy"):
            ds.datasets.open(path)
    for x in (X.astype(np.float32), X[0], X[np.newaxis], np.array([{}], object), X[:0]):
        np.save(path, x, allow_pickle=True)
        with pytest.raises(ValueError, match="Received: .*rows.npy"):
            ds.datasets.open(path)
    with pytest.raises(FileNotFoundError):
        ds.datasets.open(tmp_path / "nothing.npy")


def test_a_description_of_other_rows_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    for change in ({"shape": [2, 9]}, {"shape": [12]}, {"packed": False}, {"shape": "13"}, {"labels": True}):
        with path.open("wb") as file:
            np.save(file, np.packbits(X, axis=1))
            np.save(file, np.array(json.dumps({"shape": [13], "packed": True, "labels": False} | change)))
        with pytest.raises(ValueError, match="Received: .*rows.npy"):
            ds.datasets.open(path)


@pytest.mark.parametrize("shape", [12, (3.9, 4.9), (0, 12), (-3, -4), "12", (5, 3)])
def test_shapes_of_rows_are_positive_integers(shape):
    for kind in (ds.datasets.GreyRows, ds.datasets.MappedRows):
        with pytest.raises(ValueError, match="Received: "):
            kind(X, shape)


def test_what_is_no_file_of_bits_is_told(tmp_path):
    grey = ds.datasets.GreyRows(np.eye(3, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"an array or an iterable of blocks\. Received: GreyRows"):
        ds.datasets.pack(tmp_path / "x.npy", grey)
    with pytest.raises(ValueError, match=r"Received: list"):
        ds.datasets.MappedRows([[1, 0]])
    with pytest.raises(ValueError, match=r"labels must be .*Received"):
        ds.datasets.pack(tmp_path / "x.npy", np.eye(2, dtype=np.uint8), labels=[[1], [1, 2]])
    with pytest.raises(ValueError, match=r"zeros and ones\. Received"):
        ds.rows.groups([[1, 0], [1]])
