"""Folders that are one's own for a while: locks, claims, and whether their holder has ended."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from tfdsmcmc import files

# A process that claims a folder.
CLAIMER = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("files", {module!r})
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)
with files.claimed(sys.argv[1]) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""


def test_a_folder_is_kept_from_others_until_its_holder_has_left(tmp_path):
    """Threads of one process too; who asks meanwhile waits."""
    order, inside = [], threading.Event()

    def second():
        inside.wait()
        with files.locked(tmp_path):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with files.locked(tmp_path):
        inside.set()
        thread.join(0.5)
        order.append("first")
    thread.join()
    assert order == ["first", "second"] and not list(tmp_path.iterdir())


def test_a_claim_is_of_one_at_a_time(tmp_path, monkeypatch):
    folder = tmp_path / "new"
    with files.claimed(folder) as first, files.claimed(folder) as second:
        assert first and not second
    with files.claimed(folder, wait=True) as again:
        assert again
    assert not list(folder.iterdir()) and [path.name for path in tmp_path.glob(".*")] == [".new.lock"]
    fcntl = pytest.importorskip("fcntl")

    def none(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.warns(RuntimeWarning, match="without locks"), files.claimed(folder) as mine:
        assert mine


def test_a_killed_process_gives_its_claim_back(tmp_path):
    command = [sys.executable, "-c", CLAIMER.format(module=files.__file__), str(tmp_path / "a")]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline().strip() == "True"
        with files.claimed(tmp_path / "a") as mine:
            assert not mine
    finally:
        other.kill()
        other.wait()
    with files.claimed(tmp_path / "a") as mine:
        assert mine


def test_a_writer_is_gone_when_its_process_has_ended():
    machine = files.writer().split("-")[0]
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert files.is_gone(f"{machine}-{ended.pid}") and files.is_gone(files.writer())
    assert not files.is_gone(f"{machine}-{os.getppid()}") and not files.is_gone(f"00000000-{ended.pid}")
    assert not any(map(files.is_gone, (None, "", machine, f"{machine}-x")))
