"""The run on MNIST with a few random rows: what it leaves, and that a second start goes on where the first ended."""

import json

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.mnist.__main__ import main


@pytest.mark.slow
def test_it_records_a_run_and_resumes_it(tmp_path):
    rng = np.random.default_rng(0)
    splits = [(rng.random((rows, 784)) < 0.1).astype(np.uint8) for rows in (60, 20, 30)]
    ds.datasets.pack(tmp_path / "binarized_mnist.npz", *splits, (28, 28))
    sizes = "--architecture 3-2 --batch-size 20 --test-rows 10 --test-samples 20 --posterior-samples 2 --burn-in 0"
    folders = ["--data-dir", str(tmp_path), "--output", str(tmp_path / "run")]

    def run(epochs):
        main([*sizes.split(), *folders, "--epochs", str(epochs)])
        log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
        return log, json.loads((tmp_path / "run" / "results.json").read_text())

    log, results = run(1)
    assert [line["steps"] for line in log] == [3] and results["posterior_samples"] == 1
    log, results = run(2)
    assert [line["steps"] for line in log] == [3, 6] and results["posterior_samples"] == 2
    assert results["rows"] == 10 and results["steps"] == 6
    for estimate in ("last_weights", "mean_of_weights", "predictive"):
        assert np.isfinite(results[estimate]["log_likelihood"])
    pictures = {path.name for path in (tmp_path / "run").glob("*.png")}
    assert pictures == {"learning_curve.png", "samples.png", "features.png"}
    assert (tmp_path / "run" / "model.keras").is_file()
