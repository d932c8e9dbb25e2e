"""The likelihood from both sides, of a tiny model."""

import json

import pytest

import tfdsmcmc as ds
from experiments.estimators.both_sides import main


@pytest.mark.slow
def test_both_sides(tmp_path):
    model = ds.models.from_name("SBN/SBN 4", units=64)
    model.compile("sgnht", jit_compile=False)
    model.save(tmp_path / "model.keras")
    options = "--dataset digits --rows 5 --samples 10 20 --steps 2 5 --runs 2".split()
    main(["--model", str(tmp_path / "model.keras"), *options, "--output", str(tmp_path / "out")])
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(results["simulated"]) == 6 and len(results["test"]) == 4
    assert -80 < results["test"]["annealing, 5 steps"]["log_likelihood"] < -20
    assert (tmp_path / "out" / "both_sides.png").exists()
