"""No room on the disk: an error before anything is written, no segmentation fault at the end of the process."""

import errno
import os
import subprocess
import sys

import keras
import pytest

from tests.oracles import tiny_model
from tfdsmcmc import files


def test_weights_ask_for_room_before_they_are_written(tmp_path, monkeypatch):
    model = tiny_model((2,), units=4)
    model.compile("sgnht", jit_compile=False)
    path = tmp_path / "new" / "model.weights.h5"
    asked = []

    def full(descriptor, start, size):
        asked.append(size)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        patch.setattr(keras.Model, "save_weights", lambda *_, **__: pytest.fail("written"))
        with pytest.raises(OSError, match=f"No space left on device: [0-9,]+ bytes are needed: '{path.parent}'"):
            model.save_weights(path)
    assert not list(tmp_path.iterdir())
    model.save_weights(path)
    assert path.stat().st_size <= asked[0]


def test_room_that_there_is(tmp_path):
    files.check_room(tmp_path / "a", 2**20)
    assert list((tmp_path / "a").iterdir()) == []
    with pytest.raises(OSError, match="bytes are needed"):
        files.check_room(tmp_path, 2**60)


@pytest.mark.slow
def test_a_process_that_found_no_room_ends_as_others_do(tmp_path):
    """Its files may have 20,000 bytes: HDF5, which cannot close a larger one, ended such a process by signal 11."""
    program = f"""
import resource, signal
import tfdsmcmc as ds
model = ds.models.from_name("SBN/SBN 60-40", units=300)
model.compile("sgnht", jit_compile=False)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    model.save_weights({str(tmp_path / "model.weights.h5")!r})
except OSError as error:
    print("told:", error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "told: File too large: " in done.stdout and not list(tmp_path.iterdir())
