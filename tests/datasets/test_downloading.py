"""Downloading, with a stand-in for the network."""

import hashlib
import pathlib
import shutil

import numpy as np
import pytest
import scipy.io

import tfdsmcmc as ds
from tests.datasets import published
from tfdsmcmc.datasets import downloading, originals, packed
from tfdsmcmc.datasets.originals import ORIGINALS

FETCH = downloading._fetch  # before the stand-in takes its place
SPLITS = published.rows(np.random.default_rng(1), (7, 3, 4), 123)


@pytest.fixture
def small(monkeypatch):
    """Makes adult's original the rows of SPLITS."""
    sizes = dict(zip(packed.SPLITS, map(len, SPLITS)))
    digests = dict(zip(packed.SPLITS, map(originals.content_digest, SPLITS)))
    monkeypatch.setitem(ORIGINALS, "adult", ORIGINALS["adult"]._replace(sizes=sizes, digests=digests))


@pytest.fixture
def serve(monkeypatch, tmp_path):
    """A function that serves rows as the files of one of adult's sources, and of no other; gives the URLs asked for."""

    def start(number, splits):
        urls, asked = ORIGINALS["adult"].sources[number].urls, []
        published.write(urls, splits, tmp_path / "server")

        def fetch(url, folder, digest):
            asked.append(url)
            if url not in urls:
                raise OSError(f"no {url}")
            return shutil.copy(tmp_path / "server" / url.rsplit("/", 1)[1], folder)

        monkeypatch.setattr(downloading, "_fetch", fetch)
        return asked

    return start


@pytest.mark.parametrize("name", sorted(ORIGINALS))
def test_offline_one_line_says_what_to_put_where(name, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        ds.datasets.load(name)
    message = str(raised.value)
    assert len(message.splitlines()) == 1 and message.startswith(f"{name} cannot be downloaded (no network")
    assert f"{name}.npz" in message and "data_dir" in message and "$TFDSMCMC_DATA" in message
    assert all(url in message for source in ORIGINALS[name].sources for url in source.urls)
    assert message.endswith(str(tmp_path / "keras" / "datasets" / "tfdsmcmc" / "originals" / name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_first_source_that_answers_is_verified_packed_and_found_again(number, small, serve, monkeypatch, tmp_path):
    asked = serve(number, [SPLITS[0][::-1], *SPLITS[1:]])  # another order is the same content
    np.testing.assert_array_equal(ds.datasets.load("adult").train, SPLITS[0][::-1])
    sources = ORIGINALS["adult"].sources
    assert asked == [*(source.urls[0] for source in sources[:number]), *sources[number].urls]
    monkeypatch.setattr(downloading, "_fetch", None)
    np.testing.assert_array_equal(ds.datasets.load("adult").valid, SPLITS[1])
    assert [path.name for path in (tmp_path / "keras").rglob("*") if path.is_file()] == ["adult.npz"]


def test_a_source_that_answers_with_something_else_is_refused(small, serve, tmp_path):
    changed = SPLITS[2].copy()
    changed[0, 0] ^= 1
    for splits, split in (([*SPLITS[:2], changed], "test"), ([SPLITS[0], SPLITS[1][:-1], SPLITS[2]], "valid")):
        asked = serve(0, splits)
        with pytest.raises(ValueError, match=f"published.*Received: {split}"):
            ds.datasets.load("adult")
        assert asked == list(ORIGINALS["adult"].sources[0].urls)
    assert not (tmp_path / "keras").exists()
    serve(0, SPLITS)  # nothing wrong was left behind
    np.testing.assert_array_equal(ds.datasets.load("adult").test, SPLITS[2])


def test_files_put_by_hand_are_used_and_stay(small, tmp_path):
    folder = tmp_path / "keras" / "datasets" / "tfdsmcmc" / "originals" / "adult"
    published.write(ORIGINALS["adult"].sources[2].urls, SPLITS, folder)
    (folder / "adult.train.data").write_text("one of three files of another source")
    np.testing.assert_array_equal(ds.datasets.load("adult").test, SPLITS[2])
    assert sorted(path.name for path in folder.iterdir()) == [
        *("a5a_test.libsvm", "a5a_train.libsvm", "a5a_valid.libsvm", "adult.train.data")
    ]


def test_omniglot_is_binarized_like_mnist(monkeypatch, tmp_path):
    rng = np.random.default_rng(2)
    images, test = rng.random((784, 1400)), rng.random((784, 5))
    scipy.io.savemat(tmp_path / "chardata.mat", {"data": images, "testdata": test})
    monkeypatch.setattr(downloading, "_fetch", lambda url, folder, digest: tmp_path / url.rsplit("/", 1)[1])
    with pytest.raises(ValueError, match="The train split of omniglot.*Received: train"):
        ds.datasets.load("omniglot")
    sizes = {"train": 55, "valid": 1345, "test": 5}
    monkeypatch.setitem(ORIGINALS, "omniglot", ORIGINALS["omniglot"]._replace(sizes=sizes))
    intensities = ds.datasets.load("omniglot", binarization="none")
    upright = test.T.reshape(5, 28, 28).transpose(0, 2, 1).reshape(5, 784)
    np.testing.assert_allclose(intensities.test, upright, atol=0.5 / 255 + 1e-6)
    assert intensities.shape == (28, 28)
    drawn = ds.datasets.load("omniglot").valid
    assert set(np.unique(drawn)) == {0, 1}
    # the sum of 784 × 1,345 draws; |z| > 6 has a probability of 2e-9
    p = intensities.valid.astype(np.float64)
    assert abs(drawn.sum(dtype=np.float64) - p.sum()) < 6 * np.sqrt((p * (1 - p)).sum())


def test_files_are_fetched_through_keras(tmp_path):
    """From a file: address, which needs no network."""
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "there" / "a.data").write_text("0,1\n")
    url = (tmp_path / "there" / "a.data").as_uri()
    fetched = pathlib.Path(FETCH(url, tmp_path / "here", None))
    assert fetched == tmp_path / "here" / "a.data" and fetched.read_text() == "0,1\n"
    digest = hashlib.sha256(b"0,1\n").hexdigest()
    assert pathlib.Path(FETCH(url, tmp_path, digest)).read_text() == "0,1\n"
    with pytest.raises(Exception, match="hash|incomplete"):
        FETCH(url, tmp_path / "here", "0" * 64)
