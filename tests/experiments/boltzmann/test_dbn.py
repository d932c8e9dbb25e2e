"""Deep belief networks, cut short."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.boltzmann import dbn, rbm

SHORT = ("--dataset", "digits", "--runs", 20, "--annealing-steps", 40)


def test_a_line_from_before_there_was_a_rate(run, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    arguments = {"widths": [12, 8], "persistent": True, "steps": 1, "decay": 0.0001, "lowest": None}
    part = {"value": -9.0, "row_standard_error": 0.1}
    line = {"model": "12-8_pcd1", "epochs": [1, 1], "arguments": arguments, "train": part}
    line |= {"test": part | {"importance": part}, "log_partition": 5.0, "interval_less_value": [-1.0, 1.0]}
    line |= {"log_partition_above": 5.5, "starts_above": "exact"}
    (tmp_path / "out" / "results.jsonl").write_text(json.dumps(line) + "\n")
    run(dbn, "--table", "--output", "out")
    assert "| 12-8_pcd1, 1+1 epochs, decay 0.0001 |" in capsys.readouterr().out


@pytest.mark.slow
def test_a_network(run, tmp_path, capsys):
    """What is cut short stays out of the results, and goes on."""
    arguments = (*SHORT, "--widths", 12, 8, "--steps", 1, "--epochs", 2, "--output", "out")
    run(dbn, *arguments, "--hours", 0)
    assert not (tmp_path / "out" / "results.jsonl").exists() and "cut short" in capsys.readouterr().out
    assert json.loads((tmp_path / "out" / "unfinished.jsonl").read_text())["epochs"] == [1, 1]
    run(dbn, *arguments)
    line = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert line["epochs"] == [2, 2] and line["starts_above"] == "exact"
    loaded = keras.saving.load_model(tmp_path / "out" / "dbn.keras")
    bound = loaded.log_likelihood_bound(ds.datasets.load("digits").test, 5).mean()
    assert np.hypot(bound.standard_error, line["test"]["standard_error"]) * 6 > abs(bound - line["test"]["value"])
    capsys.readouterr()
    run(dbn, "--table", "--output", "out")
    assert capsys.readouterr().out.count("\n| 12-8_cd1, 2+2 epochs |") == 1
    run(dbn, *arguments)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "out" / "log_1.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_network_that_is_fine_tuned(run, tmp_path, capsys):
    """Cut short in the middle of it, it goes on; Q is that of its own recognition weights."""
    arguments = (*SHORT, "--widths", 12, 8, "--steps", 1, "--epochs", 1, "--fine-tune", 2, "--output", "out")
    run(dbn, *arguments, "--hours", 0)
    assert "12-8_cd1_tuned, 1+1 epochs, 1 of all layers" in capsys.readouterr().out
    run(dbn, *arguments)
    log = (tmp_path / "out" / "log_fine_tuning.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in log] == [1, 2]
    line = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert line["epochs"] == [1, 1] and line["fine_tuning"] == 2
    loaded = keras.saving.load_model(tmp_path / "out" / "dbn.keras")
    assert np.abs(loaded.recognition_kernels[0].numpy() - loaded.rbms[0].kernel.numpy()).max() > 0.001
    bound = loaded.log_likelihood_bound(ds.datasets.load("digits").test, 5).mean()
    assert np.hypot(bound.standard_error, line["test"]["standard_error"]) * 6 > abs(bound - line["test"]["value"])


@pytest.mark.slow
def test_a_network_above_a_machine_with_persistent_chains(run, tmp_path):
    """The lowest machine stays as it has learnt; the one above begins as it upside down, with units to spare."""
    run(rbm, *SHORT, "--models", "PCD1(10)", "--epochs", 2, "--output", "out")
    lowest = tmp_path / "out" / "PCD1(10)" / "rbm.keras"
    widths = ("--widths", 10, 70, "--steps", 1, "--epochs", 1)
    run(dbn, *SHORT, *widths, "--persistent", "--tied", "--lowest", lowest, "--output", "deep")
    line = json.loads((tmp_path / "deep" / "results.jsonl").read_text())
    assert line["epochs"] == [2, 1] and line["model"] == "10-70_pcd1_tied"
    machine, loaded = (keras.saving.load_model(path) for path in (lowest, tmp_path / "deep" / "dbn.keras"))
    np.testing.assert_array_equal(loaded.rbms[0].kernel.numpy(), machine.kernel.numpy())
    above = loaded.rbms[1].kernel.numpy()
    assert 0 < np.abs(above[:, :64] - machine.kernel.numpy().T).max() < 0.2 and above[:, 64:].std() < 0.1
    below = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    likelihood = below["test"]["unnormalized"] - below["exact"]
    assert abs(line["test"]["value"] - likelihood) < 1.0  # a short way from where the tie made them equal
