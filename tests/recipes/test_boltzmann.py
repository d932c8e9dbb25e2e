"""The recipes of Boltzmann machines and deep belief networks, cut short."""

import importlib
import json
import runpy
import sys

import keras
import numpy as np
import pytest

import tfdsmcmc as ds


@pytest.fixture
def run(monkeypatch, request, tmp_path):
    """Runs a recipe with arguments, in an empty folder."""
    folder = request.config.rootpath / "recipes"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(tmp_path)

    def call(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(folder / name), run_name="__main__")

    return call


SHORT = ("--dataset", "digits", "--runs", 20, "--annealing-steps", 40)


@pytest.mark.slow
def test_machines(run, tmp_path, capsys):
    """Two machines, one of growing steps; what is finished is not run again, and the table has a line of each."""
    models = ("--models", "CD1(8)", "CD25(30)", "--epochs", 2, "--every", 1)
    run("rbm_mnist.py", *SHORT, *models, "--output", "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert [(line["model"], line["epochs"]) for line in lines] == [("CD1(8)", 2), ("CD25(30)", 25)]
    small, large = lines
    for line in lines:
        made = {path.name for path in (tmp_path / "out" / line["model"]).glob("*.png")}
        assert made == {"chains.png", "features.png", "log_partition.png", "log_partition_steps.png", "samples.png"}
    assert abs(small["below"]["log_partition"] - small["exact"]) < 6 * small["below"]["standard_error"]
    assert (small["starts_above"], large["starts_above"]) == ("exact", "chains") and "exact" not in large
    rbm = keras.saving.load_model(tmp_path / "out" / "CD25(30)" / "rbm.keras")
    assert int(rbm.run.state.carried.updates) == 25 * 15
    data = ds.datasets.load("digits")
    assert rbm.unnormalized_log_prob(data.test).mean() == pytest.approx(large["test"]["unnormalized"])
    capsys.readouterr()
    run("rbm_mnist.py", *SHORT, *models, "--output", "out")
    assert capsys.readouterr().out.count("\n| CD") == 2
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_machine_that_runs_out_of_time(run, tmp_path):
    """It is measured and shown, not counted as finished, and goes on."""
    arguments = (*SHORT, "--models", "CD1(8)", "--epochs", 3, "--output", "out")
    run("rbm_mnist.py", *arguments, "--hours", 0)
    assert not (tmp_path / "out" / "results.jsonl").exists()
    run("rbm_mnist.py", *arguments)
    lines = (tmp_path / "out" / "CD1(8)" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3]


def test_the_rate_falls_as_the_steps_grow(request, monkeypatch):
    """RATE/T from each growth on; a fifth of it in the first five epochs."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "recipes"))
    recipe = importlib.import_module("rbm_mnist")
    rate = recipe.rate_of(10, ds.boltzmann.GrowingSteps(2, 25))
    known = ((0, 0.01), (19, 0.01), (20, 0.005), (49, 0.01 / 3), (50, 0.05 / 3), (60, 0.05 / 4), (999, 0.002))
    for step, expected in known:
        assert float(rate(step)) == pytest.approx(expected)
    assert [float(recipe.rate_of(10, None)(step)) for step in (0, 49, 50)] == pytest.approx([0.01, 0.01, 0.05])


@pytest.mark.slow
def test_a_network(run, tmp_path, capsys):
    """What is cut short stays out of the results, and goes on."""
    arguments = (*SHORT, "--widths", 12, 8, "--steps", 1, "--epochs", 2, "--output", "out")
    run("dbn_mnist.py", *arguments, "--hours", 0)
    assert not (tmp_path / "out" / "results.jsonl").exists() and "cut short" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "unfinished.jsonl").read_text())["epochs"] == [1, 1]
    run("dbn_mnist.py", *arguments)
    line = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert line["epochs"] == [2, 2] and line["starts_above"] == "exact"
    dbn = keras.saving.load_model(tmp_path / "out" / "dbn.keras")
    bound = dbn.log_likelihood_bound(ds.datasets.load("digits").test, 5).mean()
    assert np.hypot(bound.standard_error, line["test"]["standard_error"]) * 6 > abs(bound - line["test"]["value"])
    capsys.readouterr()
    run("dbn_mnist.py", "--table", "--output", "out")
    assert capsys.readouterr().out.count("\n| 12-8_cd1, 2+2 epochs |") == 1


@pytest.mark.slow
def test_a_network_above_a_machine_with_persistent_chains(run, tmp_path):
    """The lowest machine stays as it has learnt; the one above begins as it upside down, with units to spare."""
    run("rbm_mnist.py", *SHORT, "--models", "PCD1(10)", "--epochs", 2, "--output", "out")
    lowest = tmp_path / "out" / "PCD1(10)" / "rbm.keras"
    widths = ("--widths", 10, 70, "--steps", 1, "--epochs", 1)
    run("dbn_mnist.py", *SHORT, *widths, "--persistent", "--tied", "--lowest", lowest, "--output", "deep")
    line = json.loads((tmp_path / "deep" / "results.jsonl").read_text())
    assert line["epochs"] == [2, 1] and line["model"] == "10-70_pcd1_tied"
    rbm, dbn = (keras.saving.load_model(path) for path in (lowest, tmp_path / "deep" / "dbn.keras"))
    np.testing.assert_array_equal(dbn.rbms[0].kernel.numpy(), rbm.kernel.numpy())
    above = dbn.rbms[1].kernel.numpy()
    assert 0 < np.abs(above[:, :64] - rbm.kernel.numpy().T).max() < 0.2 and above[:, 64:].std() < 0.1
    below = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    likelihood = below["test"]["unnormalized"] - below["exact"]
    assert abs(line["test"]["value"] - likelihood) < 1.0  # a short way from where the tie made them equal
