"""Files of kilobytes that would unpack to gigabytes are refused before they are unpacked."""

import zipfile

import h5py
import numpy as np
import pytest

from tfdsmcmc._common import archives
from tfdsmcmc.cli import main, tables
from tfdsmcmc.datasets import packed, parsing
from tfdsmcmc.posterior import store


@pytest.fixture
def bomb(tmp_path, monkeypatch):
    """Four megabytes of zeros in some kilobytes; an archive of one megabyte may be as dense."""
    monkeypatch.setattr(archives, "_FREE", 2**20)

    def make(name, size=2**22):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("train.npy", bytes(size))
        assert (tmp_path / name).stat().st_size < size / 100
        return tmp_path / name

    return make


def test_what_unpacks_to_too_much_is_refused(bomb, capsys):
    for read, name in ((packed.read, "a.npz"), (parsing.read_arrays, "b.npz"), (tables.read, "c.npz")):
        with pytest.raises(ValueError, match=r"unpack to 4,194,304 bytes. Received: .*npz, of [\d,]+ bytes"):
            read(bomb(name))
    assert main(["sample", str(bomb("model.keras")), "rows.npy"]) != 0
    assert "unpack to 4,194,304 bytes. Received: " in capsys.readouterr().err


def test_small_and_honest_archives_are_left_to_their_readers(bomb, tmp_path):
    archives.check(bomb("small.npz", 2**19))
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "honest.npz", x=rng.integers(0, 256, 2**22, np.uint8))
    archives.check(tmp_path / "honest.npz")
    (tmp_path / "none.npz").write_bytes(b"no archive")
    archives.check(tmp_path / "none.npz")
    with pytest.raises(ValueError, match="Not a packed dataset.*Received: "):
        packed.read(bomb("small.npz", 2**19))


def test_a_header_that_states_more_than_there_is(tmp_path):
    """An array of 4 TB in an entry of some bytes: NumPy asks for its memory first."""
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        with archive.open("train.npy", "w") as entry:
            np.lib.format.write_array_header_1_0(entry, {"descr": "|u1", "fortran_order": False, "shape": (2**42, 1)})
    with pytest.raises(ValueError, match="Not a packed dataset.*Received: "):
        packed.read(tmp_path / "a.npz")


def test_weights_that_state_more_than_their_file(tmp_path):
    """8 GiB of zeros that no chunk of the file has: refused, not made."""
    path = tmp_path / "sample_000000001.h5"
    with h5py.File(path, "w") as file:
        for group in ("theta", "phi"):
            file.create_group(group).create_dataset("0", (2**31,), "f4", chunks=(2**20,), compression="gzip")
        file.attrs["step"] = 1
    with pytest.raises(ValueError, match="weights of 17,179,869,184 bytes, more than the file.*Received: .*sample_"):
        store.read_sample(path)


def test_entries_that_are_no_arrays(tmp_path):
    """NumPy hands them out as bytes, which have no shape."""
    path = tmp_path / "a.npz"
    np.savez(path, n_features=np.array(8), shape=np.array([8]))
    with zipfile.ZipFile(path, "a") as archive:
        for split in ("train", "valid", "test"):
            archive.writestr(f"{split}.npy", b"no array")
            archive.writestr(f"{split}_data.npy", b"no array")
    for read in (packed.read, parsing.read_arrays, tables.read):
        with pytest.raises(ValueError, match="is no array.*Received: "):
            read(path)
