"""Rows that stay in their file, opened by the name of a dataset."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.datasets.mapped import GREY, X


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
