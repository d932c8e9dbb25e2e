"""Finding, binarizing and packing data."""

import pathlib

import numpy as np
import pytest

import tfdsmcmc as ds

RNG = np.random.default_rng(0)
BINARY = [RNG.integers(0, 2, (rows, 13)).astype(np.uint8) for rows in (7, 3, 4)]  # 13 is no multiple of 8
GREY = [RNG.integers(0, 256, (rows, 12)).astype(np.uint8) for rows in (7, 3, 4)]


# ---- digits


def test_digits_are_a_fixed_split_of_scikit_learns():
    from sklearn.datasets import load_digits

    data, again = ds.datasets.load("digits"), ds.datasets.load("digits")
    assert [len(x) for x in (data.train, data.valid, data.test)] == [1197, 300, 300]
    assert data.shape == (8, 8) and data.train.dtype == np.float32 and data.name == "digits"
    together = np.concatenate([data.train, data.valid, data.test])
    expected = (load_digits().data >= 8).astype(np.float32)
    # the same rows in another order: the split is disjoint
    np.testing.assert_array_equal(np.unique(together, axis=0), np.unique(expected, axis=0))
    np.testing.assert_array_equal(together.sum(0), expected.sum(0))
    np.testing.assert_array_equal(data.test, again.test)
    assert not np.array_equal(together, expected)


# ---- packed files


@pytest.mark.parametrize(("splits", "shape"), [(BINARY, (13,)), (GREY, (3, 4))])
def test_pack_and_load_round_trip(tmp_path, splits, shape):
    ds.datasets.pack(tmp_path / "mine.npz", *splits, shape)
    data = ds.datasets.load("mine", tmp_path, binarization="none")
    assert data.shape == shape and data.name == "mine"
    scale = 255 if splits is GREY else 1
    for given, loaded in zip(splits, (data.train, data.valid, data.test)):
        assert loaded.dtype == np.float32
        np.testing.assert_allclose(loaded * scale, given, atol=1e-4)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]


def test_floats_and_booleans_of_zeros_and_ones_are_packed(tmp_path):
    ds.datasets.pack(tmp_path / "mine.npz", *(x.astype(kind) for x, kind in zip(BINARY, (float, bool, int))))
    np.testing.assert_array_equal(ds.datasets.load("mine", tmp_path).test, BINARY[2])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((BINARY[0][:0], BINARY[1], BINARY[2]), "train must be an array .* of one row or more"),
        ((BINARY[0], GREY[1], BINARY[2]), "splits must have one width"),
        ((BINARY[0] * 0.5, BINARY[1], BINARY[2]), "train must be zeros and ones"),
        ((BINARY[0] * np.nan, BINARY[1], BINARY[2]), "train must be zeros and ones"),
        ((BINARY[0][0], BINARY[1], BINARY[2]), r"train must be an array \(rows, features\)"),
        (BINARY[:1], "rows alone go to NAME.npy"),
        ((*BINARY, (2, 7)), "shape must be of 13 features"),
        ((np.array([["a"]]), BINARY[1], BINARY[2]), "train must be zeros and ones"),
        ((GREY[0][:, :1], GREY[1][:, :1], GREY[2][:, :1]), "Grey rows have two features or more"),
    ],
)
def test_pack_refuses_what_is_no_dataset(tmp_path, arguments, reason):
    with pytest.raises(ValueError, match=f"{reason}.*Received: "):
        ds.datasets.pack(tmp_path / "new" / "mine.npz", *arguments)
    with pytest.raises(ValueError, match="NAME.npz or NAME.npy. Received: path="):
        ds.datasets.pack(tmp_path / "new" / "mine.txt", *BINARY)
    assert not (tmp_path / "new").exists()


def test_a_killed_pack_leaves_the_old_file(tmp_path, monkeypatch):
    path = pathlib.Path(ds.datasets.pack(tmp_path / "mine.npz", *BINARY))
    before = path.read_bytes()

    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    for function in ("os.replace", "numpy.savez_compressed"):
        with monkeypatch.context() as patch:
            patch.setattr(function, killed)
            with pytest.raises(KeyboardInterrupt):
                ds.datasets.pack(path, *GREY)
        assert [p.name for p in tmp_path.iterdir()] == ["mine.npz"] and path.read_bytes() == before


def test_broken_files_are_refused(tmp_path):
    path = pathlib.Path(ds.datasets.pack(tmp_path / "mine.npz", *BINARY))
    whole = path.read_bytes()
    for broken in (b"", b"text", whole[: len(whole) // 2], whole[:200] + b"\0" * 50 + whole[250:]):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match="Received: .*mine.npz"):
            ds.datasets.load("mine", tmp_path)


def test_other_layouts_and_pickles_are_refused(tmp_path):
    good = {"train": np.packbits(BINARY[0], 1), "valid": np.packbits(BINARY[1], 1), "test": np.packbits(BINARY[2], 1)}
    good |= {"n_features": 13, "shape": (13,)}
    victim = {"ran": False}

    class Malicious:
        def __reduce__(self):
            return (victim.update, ({"ran": True},))

    layout = "Not the layout of a packed dataset"
    for change, reason in (
        ({"n_features": 30}, f"{layout}, 30 features.*Received: "),
        ({"shape": (2, 7)}, rf"{layout}, 13 features of shape \(2, 7\). Received: "),
        ({"train": good["train"].astype(np.int32)}, rf"{layout}.*Received: .*'train': \(\(7, 2\), 'int32'\)"),
        ({"train": good["train"][:0]}, rf"{layout}.*Received: .*'train': \(\(0, 2\), 'uint8'\)"),
        ({"valid": good["valid"][0]}, rf"{layout}.*Received: .*'valid': \(\(2,\), 'uint8'\)"),
        ({"test": np.array([Malicious()], dtype=object)}, "Not a packed dataset .Object arrays.*Received: .*mine.npz"),
    ):
        np.savez(tmp_path / "mine.npz", **{**good, **change})
        with pytest.raises(ValueError, match=reason):
            ds.datasets.load("mine", tmp_path)
    np.savez(tmp_path / "mine.npz", **{k: v for k, v in good.items() if k != "shape"})
    with pytest.raises(ValueError, match="Received: .*mine.npz"):
        ds.datasets.load("mine", tmp_path)
    assert not victim["ran"]
    np.savez_compressed(tmp_path / "mine.npz", **good)
    whole = (tmp_path / "mine.npz").read_bytes()
    for at, value, reason in ((8, 9, "compression method"), (6, 1, "encrypted")):  # of each member and of its entry
        damaged = bytearray(whole)
        for mark, shift in ((b"PK\3\4", 0), (b"PK\1\2", 2)):
            for place in range(len(whole)):
                if whole.startswith(mark, place):
                    damaged[place + at + shift] = value
        (tmp_path / "mine.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=f"Not a packed dataset .*{reason}.*Received: .*mine.npz"):
            ds.datasets.load("mine", tmp_path)


# ---- finding


def test_folders_are_searched_in_order(tmp_path, monkeypatch):
    for i, folder in enumerate(("given", "environment", "keras/datasets/tfdsmcmc")):
        ds.datasets.pack(tmp_path / folder / "dna.npz", *[np.roll(x, i) for x in BINARY])
    monkeypatch.setenv("TFDSMCMC_DATA", str(tmp_path / "environment"))

    def found(data_dir=None):
        train = ds.datasets.load("dna", data_dir).train
        return next(i for i in range(3) if np.array_equal(train, np.roll(BINARY[0], i)))

    assert found(tmp_path / "given") == 0
    assert found(tmp_path / "empty") == 1
    assert found() == 1
    monkeypatch.delenv("TFDSMCMC_DATA")
    assert found() == 2


def test_unknown_names_are_refused_with_the_known_ones():
    for name in ("nope", "../digits", "", None, 3):
        with pytest.raises(ValueError, match="binarized_mnist.*Received: "):
            ds.datasets.load(name)
    assert ds.datasets.names() == sorted(ds.datasets.names()) and "digits" in ds.datasets.names()


# ---- binarizing


def test_dynamic_binarization_draws_by_intensity(tmp_path):
    """Each of 12 pixels is drawn 4,000 times; |z| > 6 has a probability of 2e-9 each. Pure black and white are
    certain."""
    grey = np.tile(np.array([0, 1, 20, 60, 100, 128, 150, 180, 200, 240, 254, 255], np.uint8), (4000, 1))
    ds.datasets.pack(tmp_path / "g.npz", grey, grey, grey[:9])
    data = ds.datasets.load("g", tmp_path, seed=1)
    p = grey[0] / 255
    assert set(np.unique(data.train)) == {0.0, 1.0}
    error = np.sqrt(p * (1 - p) / 4000)
    assert np.all(np.abs(data.train.mean(0) - p) <= 6 * error)
    np.testing.assert_array_equal(data.train, ds.datasets.load("g", tmp_path, seed=1).train)
    assert not np.array_equal(data.train, ds.datasets.load("g", tmp_path, seed=2).train)
    assert not np.array_equal(data.train, data.valid)
    np.testing.assert_array_equal(ds.datasets.load("g", tmp_path, binarization="threshold").test[0], grey[0] >= 128)
    for bad in ({"binarization": "sharp"}, {"seed": -1}, {"seed": 1.5}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))}.*Received: "):
            ds.datasets.load("g", tmp_path, **bad)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.array([1, 2, 3], object), "i"),
        (np.array(["a", "bc", "d"], object), "U"),
        (np.array(["a", "bc", "d"], np.dtypes.StringDType()), "U"),
        (np.array([b"a", b"b", b"c"], object), "S"),
        ([0.5, 1.5, 2.5], "f"),
    ],
)
def test_labels_are_numbers_or_texts(labels, kind):
    rows = np.zeros((3, 4), np.uint8)
    for made in (ds.datasets.GreyRows(rows, labels=labels), ds.datasets.MappedRows(rows, labels=labels)):
        assert made.labels.dtype.kind == kind and made.labels.tolist() == list(labels)


@pytest.mark.parametrize(
    "labels",
    [
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        ["a", None, "c"],
        np.array(["a", 1, "c"], object),
        np.array(["a", b"b", "c"], object),
        np.array(["2020"] * 3, "M8[Y]"),
        [[1], [2, 3], 4],
        [1.0, np.nan, 2.0],
    ],
)
def test_other_labels_are_refused(labels):
    rows = np.zeros((3, 4), np.uint8)
    for kind in (ds.datasets.GreyRows, ds.datasets.MappedRows):
        with pytest.raises(ValueError, match="labels must be .*Received: "):
            kind(rows, labels=labels)


def test_a_file_has_grey_splits_alone_or_binary_ones(tmp_path):
    grey, bits = np.array([[0, 200, 255]], np.uint8), np.array([[0, 1, 1]])
    for splits in ((grey, bits, bits), (grey, grey, bits.astype(bool)), (bits, grey, bits.astype(np.uint8))):
        with pytest.raises(ValueError, match="grey splits alone or binary ones alone.*Received: "):
            ds.datasets.pack(tmp_path / "mixed.npz", *splits)
    assert not list(tmp_path.iterdir())
    ds.datasets.pack(tmp_path / "grey.npz", grey, grey, 0 * grey)  # black is black, in grey and in bits
