"""Boltzmann machines, cut short."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.boltzmann import rbm

SHORT = ("--dataset", "digits", "--runs", 20, "--annealing-steps", 40)


@pytest.mark.slow
def test_machines(run, tmp_path, capsys):
    """Two machines, one of growing steps; what is finished is not run again, and the table has a line of each."""
    models = ("--models", "CD1(8)", "CD25(30)", "--epochs", 2, "--every", 1)
    run(rbm, *SHORT, *models, "--output", "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert [(line["model"], line["epochs"]) for line in lines] == [("CD1(8)", 2), ("CD25(30)", 25)]
    small, large = lines
    for line in lines:
        made = {path.name for path in (tmp_path / "out" / line["model"]).glob("*.png")}
        assert made == {"chains.png", "features.png", "log_partition.png", "log_partition_steps.png", "samples.png"}
    assert abs(small["below"]["log_partition"] - small["exact"]) < 6 * small["below"]["standard_error"]
    assert (small["starts_above"], large["starts_above"]) == ("exact", "chains") and "exact" not in large
    loaded = keras.saving.load_model(tmp_path / "out" / "CD25(30)" / "rbm.keras")
    assert int(loaded.run.state.carried.epoch) == 25
    data = ds.datasets.load("digits")
    assert loaded.unnormalized_log_prob(data.test).mean() == pytest.approx(large["test"]["unnormalized"])
    capsys.readouterr()
    run(rbm, *SHORT, *models, "--output", "out")
    assert capsys.readouterr().out.count("\n| CD") == 2
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="other arguments"):
        run(rbm, *SHORT, "--models", "CD1(8)", "--epochs", 4, "--output", "out")


@pytest.mark.slow
def test_a_machine_that_another_process_learns_is_left(run, tmp_path, capsys):
    arguments = (*SHORT, "--models", "PCD1(8)", "--epochs", 1, "--output", "out")
    backup = tmp_path / "out" / "PCD1(8)" / "backup"
    with ds.files.claimed(backup) as mine:
        assert mine
        run(rbm, *arguments)
    assert "another process is at it" in capsys.readouterr().out and not list(backup.iterdir())
    run(rbm, *arguments)
    first = tmp_path / "out" / "PCD1(8)" / "rbm.keras"
    run(rbm, *arguments[:-1], "on", "--start", first, "--rate", 0.01, "--decay", 0.001)
    assert f"| PCD1(8), 1 epochs, decay 0.001, from 1 epochs of {first} |" in capsys.readouterr().out
    after, before = (keras.saving.load_model(tmp_path / folder / "PCD1(8)" / "rbm.keras") for folder in ("on", "out"))
    assert 0 < np.abs(after.kernel.numpy() - before.kernel.numpy()).max() < 0.05  # a short way from where it began


@pytest.mark.slow
def test_a_machine_that_runs_out_of_time(run, monkeypatch, tmp_path):
    """It is measured and shown, not counted as finished, and goes on; its results are there before its pictures."""
    arguments = (*SHORT, "--models", "CD1(8)", "--epochs", 3, "--output", "out")
    run(rbm, *arguments, "--hours", 0)
    assert not (tmp_path / "out" / "results.jsonl").exists()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ds.plots, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run(rbm, *arguments)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 1
    lines = (tmp_path / "out" / "CD1(8)" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3]
