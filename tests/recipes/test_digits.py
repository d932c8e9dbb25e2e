"""The demo, cut short."""

import importlib
import os
import runpy
import sys
import warnings

import keras
import pytest
import tensorflow as tf

import tfdsmcmc as ds


@pytest.mark.slow
def test_the_demo_leaves_pictures_samples_and_a_saved_model(tmp_path, monkeypatch, capsys, request):
    recipe = request.config.rootpath / "recipes" / "digits_sbn.py"
    monkeypatch.syspath_prepend(str(recipe.parent))  # as when it is run
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(recipe), "--epochs", "3", "--posterior-samples", "2"])
    with warnings.catch_warnings(record=True) as warned:  # nothing that its reader cannot act on
        runpy.run_path(str(recipe), run_name="__main__")
    assert [str(warning.message) for warning in warned] == []
    printed = capsys.readouterr().out
    assert [line[:12] for line in printed.splitlines() if "epoch" in line] == [f"epoch {i} of 3" for i in (1, 2, 3)]
    assert "Test log-likelihood" in printed and "average over units" in printed
    pictures = {path.name for path in (tmp_path / "runs" / "digits").glob("*.png")}
    assert pictures == {"samples.png", "data.png", "features.png", "learning_curve.png", "completions.png"}
    assert isinstance(keras.saving.load_model(tmp_path / "runs" / "digits" / "model.keras"), ds.DeepGenerativeModel)
    served = tf.saved_model.load(str(tmp_path / "saved_models" / "digits" / "1"))
    assert served.signatures["sample"](num_samples=tf.constant(2), seed=tf.constant([0, 0]))["x"].shape == (2, 64)


def test_the_start_is_quiet_about_notes_alone(request, capfd, monkeypatch):
    """Notes go, whoever writes them; all else comes through, in order."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "recipes"))
    quiet_start = importlib.import_module("quiet").quiet_start
    notes = ["I0000 00:00:1.2 3 port.cc:153] on", "WARNING: All log messages before absl::InitializeLog() is called"]
    kept = ["E0000 00:00:1.2 3 file.cc:1] disk full", "Traceback", "WARNING: of another kind"]
    with pytest.raises(ZeroDivisionError), quiet_start():
        for line in (notes[0], kept[0], notes[1], *kept[1:]):
            os.write(2, f"{line}\n".encode())
        raise ZeroDivisionError
    os.write(2, f"{notes[0]}\n".encode())  # no longer held back
    assert capfd.readouterr().err.splitlines() == [*kept, notes[0]]
