"""Gibbs sampling by augmentation, cut short."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.augmentation.gibbs import main


@pytest.mark.slow
def test_two_layers(monkeypatch, tmp_path, capsys):
    """Their learning is cut off after a sweep and goes on; what is finished is not run again."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        short = ("--dataset", "digits", "--architectures", "5-3", "--burn-in", 2, "--sweeps", 3, "--layer-sweeps", 2)
        sizes = ("--rows", 300, "--without-validation", "--test-rows", 40, "--annealing-steps", 20, "--output", "out")
        main([*map(str, (*short, *sizes, *arguments))])
        return capsys.readouterr().out

    own = tmp_path / "out" / "digits_5-3_column_training_rows"
    assert "not finished" in run("--hours", 0) and not (tmp_path / "out" / "results.jsonl").exists()
    layers = (own / "layers.weights.h5").stat().st_mtime_ns
    run()
    assert (own / "layers.weights.h5").stat().st_mtime_ns == layers
    assert [json.loads(line)["sweep"] for line in (own / "log.jsonl").read_text().splitlines()] == [1, 2, 3, 4, 5]
    (line,) = (json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines())
    assert line["name"] == own.name and line["rows"] == 300 and line["last"]["effective_sample_size"] <= 5
    assert all(np.isfinite(line[part]["log_likelihood"]) for part in ("last", "mean"))
    assert [0 <= used <= width for used, width in zip(line["units_in_use"], (5, 3), strict=True)] == [True, True]
    assert line["harmonic_mean"] > line["last"]["log_likelihood"] - 5
    assert len(ds.posterior.load(own / "posterior").samples) == 3
    scales = ds.augmentation.column_scales(keras.saving.load_model(own / "model.keras"))
    assert [len(part) for part in scales] == [5, 3] and all((part > 0).all() for part in scales)
    assert run() == "" and len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 1
