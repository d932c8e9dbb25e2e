"""Readers of published formats, on small files written here."""

import gzip
import struct

import numpy as np
import pytest
import scipy.io

from tests.datasets import published
from tfdsmcmc.datasets import parsing
from tfdsmcmc.datasets.packed import SPLITS

RNG = np.random.default_rng(0)
BINARY = published.rows(RNG, (7, 3, 4), 13)


def three(folder, contents):
    paths = [folder / split for split in SPLITS]
    for path, content in zip(paths, contents):
        path.write_text(content)
    return paths


def assert_equal(arrays, expected=BINARY):
    assert list(arrays) == list(SPLITS)
    for split, x in zip(SPLITS, expected):
        assert arrays[split].dtype == np.uint8
        np.testing.assert_array_equal(arrays[split], x)


# ---- text


@pytest.mark.parametrize("separator", [",", " ", "\t", " , "])
def test_text_with_commas_or_spaces(tmp_path, separator):
    contents = ["\n".join(separator.join(map(str, row)) for row in x) + "\n\n" for x in BINARY]
    assert_equal(parsing.read_text(*three(tmp_path, contents)))


@pytest.mark.parametrize("label", ["0", "1", "-1", "25", "3.5"])
def test_the_label_is_left_out(tmp_path, label):
    contents = ["".join(" ".join(map(str, row)) + f"  {label} \r\n" for row in x) for x in BINARY]
    assert_equal(parsing.read_labelled_text(*three(tmp_path, contents)))


@pytest.mark.parametrize("content", ["", "\n", "0 1\n1\n", "0 2\n", "0 -1\n", "0.0 1.0\n", "0 a\n", "ÿ 1\n", "0 / 1\n"])
def test_other_text_is_refused(tmp_path, content):
    paths = three(tmp_path, ["0 1\n", "1 1\n", content])
    with pytest.raises(ValueError, match="Received: .*test"):
        parsing.read_text(*paths)


# ---- index:value


def test_libsvm_text(tmp_path):
    """By hand: explicit zeros, indices out of order, comments, a row of zeros."""
    contents = ["+1 1:1 3:1.0 5:1\n-1 4:1 2:1\n", "2\n\n3 5:1  1:0 \n", "1 2:1 # 3:1\n"]
    expected = [
        np.array([[1, 0, 1, 0, 1], [0, 1, 0, 1, 0]]),
        np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1]]),
        np.array([[0, 1, 0, 0, 0]]),
    ]
    assert_equal(parsing.read_libsvm(*three(tmp_path, contents), width=5), expected)


@pytest.mark.parametrize("row", ["1 0:1", "1 6:1", "1 -1:1", "1 2:2", "1 2:0.5", "1 2", "1 a:1", "1 2:nan", "1 2:1:1"])
def test_other_libsvm_text_is_refused(tmp_path, row):
    paths = three(tmp_path, ["1 1:1\n", f"1 1:1\n{row}\n", "1 1:1\n"])
    with pytest.raises(ValueError, match="Received: .*valid"):
        parsing.read_libsvm(*paths, width=5)


# ---- archives


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, bool])
def test_archives(tmp_path, kind):
    np.savez(tmp_path / "a.npz", inputsize=13, **{f"{s}_data": x.astype(kind) for s, x in zip(SPLITS, BINARY)})
    assert_equal(parsing.read_arrays(tmp_path / "a.npz"))


def test_other_archives_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    good = {f"{split}_data": x.astype(np.float32) for split, x in zip(SPLITS, BINARY)}
    for change in ({"valid_data": BINARY[1] * 0.5}, {"test_data": BINARY[2][0]}, {"train_data": BINARY[0] * np.nan}):
        np.savez(path, **{**good, **change})
        with pytest.raises(ValueError, match="Received: .*a.npz"):
            parsing.read_arrays(path)
    np.savez(path, **{**good, "test_data": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="Received: .*a.npz"):
        parsing.read_arrays(path)
    np.savez(path, train_data=BINARY[0], valid_data=BINARY[1])
    with pytest.raises(ValueError, match="test_data.*Received: .*a.npz"):
        parsing.read_arrays(path)
    np.save(tmp_path / "one.npy", BINARY[0])
    for content in (b"", b"<html>moved</html>", (tmp_path / "one.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="Received: .*a.npz"):
            parsing.read_arrays(path)


# ---- images


def test_idx_files(tmp_path):
    images = RNG.integers(0, 256, (50003, 4)).astype(np.uint8)
    header = struct.pack(">IIII", 2051, len(images), 2, 2)
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(header + images.tobytes(), 1))
    assert_equal(parsing.read_idx(path, path), [images[:50000], images[50000:], images])
    for content in (gzip.compress(header + images[:-1].tobytes(), 1), gzip.compress(b"short"), b"<html>moved</html>"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="Received: .*images.gz"):
            parsing.read_idx(path, path)


def test_silhouettes_are_turned_upright(tmp_path):
    upright = [x.reshape(-1, 784) for x in published.rows(RNG, (3, 1, 2), 784)]
    published.silhouettes(tmp_path / "s.mat", upright)
    assert_equal(parsing.read_silhouettes(tmp_path / "s.mat"), upright)


def characters(path, images, test, **more):
    scipy.io.savemat(path, {"data": images.T, "testdata": test.T, **more})


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_characters_are_turned_upright_shuffled_and_stored_as_grey_values(tmp_path, kind):
    """Against the definition, pixel by pixel: row r and column c of an image lie at 28 c + r of the file."""
    images, test = RNG.random((1400, 784)).astype(kind), RNG.random((3, 784)).astype(kind)
    images[0, :3] = test[0, :3] = 0, 1, 0.5
    characters(tmp_path / "chardata.mat", images, test, target=np.eye(3))
    arrays = parsing.read_characters(tmp_path / "chardata.mat")
    assert [len(arrays[split]) for split in SPLITS] == [55, 1345, 3]
    together = np.concatenate([arrays["train"], arrays["valid"]])
    order = np.random.RandomState(123).permutation(1400)
    for r, c in ((0, 0), (0, 1), (1, 0), (3, 25), (27, 27)):
        expected = np.rint(255.0 * images[order, 28 * c + r])
        np.testing.assert_array_equal(together[:, 28 * r + c], expected)
        np.testing.assert_array_equal(arrays["test"][:, 28 * r + c], np.rint(255.0 * test[:, 28 * c + r]))
    assert together.dtype == np.uint8 and {0, 255} <= set(np.unique(together))


def test_the_permutation_of_the_characters_is_the_published_one():
    """Of all 24,345: where NumPy's old generator changed, the validation split would change silently."""
    assert np.random.RandomState(123).permutation(24345)[[0, 1, 23000, -1]].tolist() == [17795, 4791, 16589, 19966]


def test_other_characters_are_refused(tmp_path):
    path = tmp_path / "chardata.mat"
    good, nan = RNG.random((1400, 784)), np.full((3, 784), np.nan)
    for images, test in ((good * 255, good), (good, -good), (good, nan), (good[:, :783], good), (good.T, good.T)):
        characters(path, images, test)
        with pytest.raises(ValueError, match="Received: .*chardata.mat"):
            parsing.read_characters(path)
    scipy.io.savemat(path, {"data": good.T})
    with pytest.raises(ValueError, match="testdata.*Received: .*chardata.mat"):
        parsing.read_characters(path)
    for content in (b"", b"<html>moved</html>" * 20):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="Received: .*chardata.mat"):
            parsing.read_characters(path)
