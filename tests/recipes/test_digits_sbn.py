"""The demo, cut short."""

import runpy
import sys

import keras
import pytest
import tensorflow as tf

import tfdsmcmc as ds


@pytest.mark.slow
def test_the_demo_leaves_pictures_samples_and_a_saved_model(tmp_path, monkeypatch, capsys, request):
    recipe = request.config.rootpath / "recipes" / "digits_sbn.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(recipe), "--epochs", "3", "--posterior-samples", "2"])
    runpy.run_path(str(recipe), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Test log-likelihood" in printed and "predictive, 2 samples" in printed
    pictures = {path.name for path in (tmp_path / "runs" / "digits").glob("*.png")}
    assert pictures == {"samples.png", "data.png", "features.png", "learning_curve.png", "completions.png"}
    assert isinstance(keras.saving.load_model(tmp_path / "runs" / "digits" / "model.keras"), ds.DeepGenerativeModel)
    served = tf.saved_model.load(str(tmp_path / "saved_models" / "digits" / "1"))
    assert served.signatures["sample"](num_samples=tf.constant(2), seed=tf.constant([0, 0]))["x"].shape == (2, 64)
