"""The recipes that take a learnt model, with a tiny one."""

import json
import runpy
import sys

import pytest

import tfdsmcmc as ds


@pytest.fixture
def model_file(tmp_path):
    model = ds.models.from_name("SBN/SBN 4", units=64)
    model.compile("sgnht", jit_compile=False)
    model.save(tmp_path / "model.keras")
    return str(tmp_path / "model.keras")


def run(request, monkeypatch, name, *arguments):
    path = request.config.rootpath / "recipes" / name
    monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.slow
def test_both_sides(tmp_path, monkeypatch, request, model_file):
    options = ("--rows", 5, "--samples", 10, 20, "--steps", 2, 5, "--runs", 2, "--output", tmp_path / "out")
    run(request, monkeypatch, "both_sides.py", "--model", model_file, "--dataset", "digits", *options)
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(results["simulated"]) == 6 and len(results["test"]) == 4
    assert -80 < results["test"]["annealing, 5 steps"]["log_likelihood"] < -20
    assert (tmp_path / "out" / "both_sides.png").exists()


@pytest.mark.slow
def test_completions(tmp_path, monkeypatch, request, model_file):
    options = ("--pictures", 2, "--completions", 2, "--output", tmp_path / "completions.png")
    run(request, monkeypatch, "completions.py", "--model", model_file, "--dataset", "digits", *options)
    assert (tmp_path / "completions.png").stat().st_size > 1000
