"""How the command line starts: without TensorFlow where nothing is computed, and without its log; and how it ends."""

import os
import subprocess
import sys

import pytest


def run(*words, options=()):
    return subprocess.run([sys.executable, *options, "-m", "tfdsmcmc", *words], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--help"], 0, "A first session"),
        (["fit", "--help"], 0, "tens of thousands of rows"),
        (["datasets"], 0, "binarized_mnist"),
        (["fti"], 2, ""),
    ],
)
def test_what_computes_nothing_imports_no_tensorflow(words, status, said):
    ended = run(*words, options=["-Ximporttime"])
    assert ended.returncode == status and said in " ".join(ended.stdout.split())
    imported = {line.split("|")[-1].strip() for line in ended.stderr.splitlines() if line.startswith("import time:")}
    assert "tfdsmcmc.cli.arguments" in imported
    assert not imported & {"tensorflow", "keras", "tensorflow_probability", "h5py", "tfdsmcmc.public"}


def test_nothing_of_tensorflows_log_is_seen(tmp_path):
    ended = run("sample", str(tmp_path / "none.keras"), "x.npy")
    assert ended.returncode == 2
    assert [line for line in ended.stderr.splitlines() if "none.keras" not in line] == []


@pytest.mark.parametrize("buffered", [True, False])
def test_it_ends_silently_where_nobody_reads_on(buffered):
    """As `datasets | head -1` may end; with the status that shells give to a broken pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    command = [sys.executable, "-m", "tfdsmcmc", "datasets"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_what_cannot_be_written_is_told_in_one_line():
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-m", "tfdsmcmc", "datasets"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert ended.returncode == 2 and ended.stderr.startswith("datasets: ") and len(ended.stderr.splitlines()) == 1
