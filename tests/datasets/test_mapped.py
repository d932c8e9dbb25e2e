"""Rows that stay in their file: the file, and opening it by path and by name."""

import builtins
import json
import pathlib
import pickle
import re

import numpy as np
import pandas
import pytest

import tfdsmcmc as ds
from tfdsmcmc.datasets import mapped_file, mapped_rows

RNG = np.random.default_rng(1)
X = RNG.integers(0, 2, (41, 13)).astype(np.uint8)  # 13 is no multiple of 8
LABELS = [np.arange(41) % 7, np.arange(41) / 4, np.array([f"row {i}" for i in range(41)])]
GREY = [RNG.integers(0, 256, (rows, 12)).astype(np.uint8) for rows in (37, 3, 4)]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of few rows wherever rows are looked at, written or made binary."""
    for module in (mapped_file, mapped_rows, ds.datasets.opening):
        monkeypatch.setattr(module, "BLOCK", 60)


def blocks(x=X):
    yield from (x[:5], x[5:5], x[5:6], x[6:])


# ---- the file


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


def test_a_killed_pack_leaves_the_old_file(tmp_path):
    path = ds.datasets.pack(tmp_path / "rows.npy", X)

    def killed():
        yield X[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ds.datasets.pack(path, killed())
    assert [file.name for file in tmp_path.iterdir()] == ["rows.npy"]
    np.testing.assert_array_equal(np.asarray(ds.datasets.open(path)), X)


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


# ---- by name


def test_digits_by_name_are_those_of_load():
    data = ds.datasets.load("digits")
    for split in ("train", "valid", "test"):
        for _ in range(2):  # written, and found
            mapped = ds.datasets.open("digits", split)
            np.testing.assert_array_equal(np.asarray(mapped), getattr(data, split))
            np.testing.assert_array_equal(mapped.labels, getattr(data.labels, split))
            assert mapped.shape == (8, 8) and mapped.packed


def test_the_labels_of_digits_belong_to_their_rows():
    from sklearn.datasets import load_digits

    digits, data = load_digits(), ds.datasets.load("digits")
    of_row = {}
    for row, label in zip(digits.data >= 8, digits.target):
        of_row.setdefault(row.tobytes(), set()).add(label)
    for x, labels in zip((data.train, data.valid, data.test), data.labels):
        assert len(x) == len(labels)
        assert all(label in of_row[row.astype(bool).tobytes()] for row, label in zip(x, labels))


@pytest.mark.parametrize("labels", [None, [np.arange(len(x)) for x in (X, X[:3], X[3:5])]])
def test_a_packed_dataset_by_name(tmp_path, small_blocks, labels):
    splits = X, X[:3], X[3:5]
    ds.datasets.pack(tmp_path / "data" / "mine.npz", *splits, labels=labels)
    data = ds.datasets.load("mine", tmp_path / "data")
    (tmp_path / "data").chmod(0o500)  # nothing is written there
    for i, (split, x) in enumerate(zip(("train", "valid", "test"), splits)):
        mapped = ds.datasets.open("mine", split, tmp_path / "data")
        np.testing.assert_array_equal(np.asarray(mapped), x)
        if labels is None:
            assert mapped.labels is None and data.labels is None
        else:
            np.testing.assert_array_equal(mapped.labels, labels[i])
            np.testing.assert_array_equal(getattr(data.labels, split), labels[i])
    assert [file.name for file in (tmp_path / "data").iterdir()] == ["mine.npz"]
    (tmp_path / "data").chmod(0o700)


def test_a_dataset_that_changed_is_written_anew(tmp_path):
    for x in (X, 1 - X, X):
        ds.datasets.pack(tmp_path / "mine.npz", x, x, x)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open("mine", data_dir=tmp_path)), x)


@pytest.mark.parametrize("binarization", ["dynamic", "threshold"])
def test_grey_data_are_binarized_as_load_does_it_block_by_block(tmp_path, small_blocks, binarization):
    ds.datasets.pack(tmp_path / "grey.npz", *GREY, shape=(3, 4))
    for seed in (0, 1):
        data = ds.datasets.load("grey", tmp_path, binarization=binarization, seed=seed)
        for split in ("train", "test"):
            mapped = ds.datasets.open("grey", split, tmp_path, binarization=binarization, seed=seed)
            np.testing.assert_array_equal(np.asarray(mapped), getattr(data, split))
            assert mapped.shape == (3, 4)


def test_what_cannot_be_opened_is_refused(tmp_path):
    ds.datasets.pack(tmp_path / "mine.npz", X, X, X)
    for arguments, reason in (
        ({"name_or_path": "nope"}, "The known datasets are .*Received: name='nope'"),
        ({"name_or_path": "mine.npz"}, "by its name and folder, 'mine' and .*Received: name='mine.npz'"),
        ({"name_or_path": "some/mine.npz"}, "'mine' and data_dir='some'.*Received: name='some/mine.npz'"),
        ({"name_or_path": tmp_path / "mine.npz"}, "Not a file of mapped rows.*Received: .*mine.npz"),
        ({"name_or_path": None}, "A dataset has one of the names.*Received: name=None"),
        ({"split": "validation"}, "^split is one of .*Received: split="),
        ({"binarization": "none"}, "grey data are drawn or cut. Received: binarization="),
        ({"binarization": "sharp"}, "^binarization is .*Received: binarization="),
        ({"seed": -1}, "^seed must be .*Received: seed=-1"),
        ({"units": 13}, "^units is of a file of bits.*Received: units=13"),
    ):
        with pytest.raises(ValueError, match=reason):
            ds.datasets.open(**{"name_or_path": "mine", "data_dir": tmp_path, **arguments})


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (3, "labels must be three arrays"),
        ([X[:, 0]] * 2, "labels must be three arrays"),
        ([X[:, 0], X[:, 0], X[:3, 0]], "test_labels must be 41"),
        ([X, X, X], "train_labels must be an array"),
    ],
)
def test_labels_that_do_not_fit_the_splits_are_refused(tmp_path, labels, reason):
    with pytest.raises(ValueError, match=f"^{reason}.*Received: "):
        ds.datasets.pack(tmp_path / "new" / "mine.npz", X, X, X, labels=labels)
    assert not (tmp_path / "new").exists()
    np.savez(
        tmp_path / "mine.npz",
        **{f"{s}_labels": np.arange(3) for s in ("train", "valid", "test")},
        n_features=13,
        shape=(13,),
        **{s: np.packbits(X, axis=1) for s in ("train", "valid", "test")},
    )
    with pytest.raises(ValueError, match="Labels.*Received: "):
        ds.datasets.load("mine", tmp_path)


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


# ---- rows as other libraries have them


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


@pytest.mark.parametrize("shape", [12, (3.9, 4.9), (0, 12), (-3, -4), "12", (5, 3)])
def test_shapes_of_rows_are_positive_integers(shape):
    for kind in (ds.datasets.GreyRows, ds.datasets.MappedRows):
        with pytest.raises(ValueError, match="Received: "):
            kind(X, shape)


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


def test_packed_bits_of_a_single_unit(tmp_path):
    x = np.array([[1], [0], [1]], np.uint8)
    for stored in (np.packbits(x, axis=1), x):
        np.save(tmp_path / "x.npy", stored)
        np.testing.assert_array_equal(np.asarray(ds.datasets.open(tmp_path / "x.npy", units=1)), x)


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
