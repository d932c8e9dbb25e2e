"""How the command line starts: without TensorFlow where nothing is computed, and without its log."""

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
