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
    with pytest.raises(ValueError, match="other arguments"):
        run("rbm_mnist.py", *SHORT, "--models", "CD1(8)", "--epochs", 4, "--output", "out")


@pytest.mark.slow
def test_a_machine_that_another_process_learns_is_left(run, tmp_path, capsys):
    arguments = (*SHORT, "--models", "PCD1(8)", "--epochs", 1, "--output", "out")
    backup = tmp_path / "out" / "PCD1(8)" / "backup"
    table_file = importlib.import_module("table_file")
    with table_file.claimed(backup) as mine:
        assert mine
        run("rbm_mnist.py", *arguments)
    assert "another process is at it" in capsys.readouterr().out and not list(backup.iterdir())
    run("rbm_mnist.py", *arguments)
    first = tmp_path / "out" / "PCD1(8)" / "rbm.keras"
    run("rbm_mnist.py", *arguments[:-1], "on", "--start", first, "--rate", 0.01, "--decay", 0.001)
    assert f"| PCD1(8), 1 epochs, decay 0.001, from 1 epochs of {first} |" in capsys.readouterr().out
    after, before = (keras.saving.load_model(tmp_path / folder / "PCD1(8)" / "rbm.keras") for folder in ("on", "out"))
    assert 0 < np.abs(after.kernel.numpy() - before.kernel.numpy()).max() < 0.05  # a short way from where it began


@pytest.mark.slow
def test_a_machine_that_runs_out_of_time(run, monkeypatch, tmp_path):
    """It is measured and shown, not counted as finished, and goes on; its results are there before its pictures."""
    arguments = (*SHORT, "--models", "CD1(8)", "--epochs", 3, "--output", "out")
    run("rbm_mnist.py", *arguments, "--hours", 0)
    assert not (tmp_path / "out" / "results.jsonl").exists()

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ds.plots, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        run("rbm_mnist.py", *arguments)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 1
    lines = (tmp_path / "out" / "CD1(8)" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3]


@pytest.fixture
def machines(request, monkeypatch):
    monkeypatch.syspath_prepend(str(request.config.rootpath / "recipes"))
    return importlib.import_module("boltzmann_machines")


def test_the_rate_falls_as_the_steps_grow(machines):
    """RATE/T from each growth on; a fifth of it in the first five epochs."""
    rate = machines.rate_of(10, ds.boltzmann.GrowingSteps(2, 25))
    known = ((0, 0.01), (19, 0.01), (20, 0.005), (49, 0.01 / 3), (50, 0.05 / 3), (60, 0.05 / 4), (999, 0.002))
    for step, expected in known:
        assert float(rate(step)) == pytest.approx(expected)
    assert [float(machines.rate_of(10, None)(step)) for step in (0, 49, 50)] == pytest.approx([0.01, 0.01, 0.05])


def test_the_rate_rises_in_an_epoch_and_is_0_at_the_end(machines):
    """Three epochs of ten steps: halfway down after two."""
    rate = machines.rising(0.4, 3, 1000)
    assert [float(rate(step)) for step in (0, 5, 10, 20, 30)] == pytest.approx([0.0, 0.2, 0.4, 0.2, 0.0], abs=1e-7)
    assert np.isfinite(float(machines.rising(0.4, 1, 1000)(10)))


def test_persistent_chains_begin_where_the_machine_does(machines):
    """100 chains of units that are all but surely 1, or all but surely 0: with biases of 0 half of them would be."""
    arguments = (6, 1000, 1, 2, 0.1, 0.0002, 0)
    bias = np.float32([30, -30, 30, 30, -30, 30])
    kernel, hidden_bias = np.zeros((6, 2), np.float32), np.zeros(2, np.float32)
    for start in ({"bias": bias}, {"weights": [kernel, bias, hidden_bias]}):
        rbm = machines.persistent_machine_for(*arguments, **start)
        np.testing.assert_array_equal(rbm.bias.numpy(), bias)
        chains = rbm.run.state.carried.particles.numpy()
        np.testing.assert_array_equal(chains, np.broadcast_to(bias > 0, chains.shape))


@pytest.mark.parametrize(
    ("recipe", "noted", "arguments"),
    [
        ("rbm_mnist.py", "out/CD1(8)/arguments.json", ("--models", "PCD1(9)", "CD1(8)", "--epochs", 3)),
        ("dbn_mnist.py", "out/arguments.json", ("--widths", 12, 8)),
    ],
)
def test_other_arguments_are_refused_before_anything_is_touched(run, tmp_path, recipe, noted, arguments):
    file = tmp_path / noted
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"seed": 1}))
    with pytest.raises(ValueError, match="run with other arguments.*Received: "):
        run(recipe, *arguments, "--dataset", "no such data", "--output", "out")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


def test_the_same_settings_are_the_same_after_a_file(machines, tmp_path):
    """Tuples are lists in JSON."""
    run_settings = importlib.import_module("run_settings")
    for _ in range(2):
        run_settings.note(tmp_path / "new", {"steps": (1, 2)})
    with pytest.raises(ValueError, match="Received: "):
        run_settings.note(tmp_path / "new", {"steps": (1, 3)})


@pytest.mark.parametrize(
    "arguments",
    [
        ("rbm_mnist.py", "--models", "PCD1(8)", "CD1(8)", "--rate", 0.1),
        ("rbm_mnist.py", "--models", "CD1(8)", "--start", "rbm.keras"),
        ("dbn_mnist.py", "--decay", 0.1),
        ("dbn_mnist.py", "--rate", 0.1),
    ],
)
def test_what_would_be_ignored_is_refused(run, capsys, arguments):
    with pytest.raises(SystemExit):
        run(*arguments)
    assert "Received: --" in capsys.readouterr().err


def test_a_line_that_was_cut_off(run, tmp_path, capsys):
    """Tables are made of the others."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.jsonl").write_text('{"model": "CD1(')
    for recipe in ("rbm_mnist.py", "dbn_mnist.py"):
        run(recipe, "--table", "--output", "out")
        assert capsys.readouterr().out.count("\n") == 2


def test_a_line_from_before_there_was_a_rate(run, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    arguments = {"widths": [12, 8], "persistent": True, "steps": 1, "decay": 0.0001, "lowest": None}
    part = {"value": -9.0, "row_standard_error": 0.1}
    line = {"model": "12-8_pcd1", "epochs": [1, 1], "arguments": arguments, "train": part}
    line |= {"test": part | {"importance": part}, "log_partition": 5.0, "interval_less_value": [-1.0, 1.0]}
    line |= {"log_partition_above": 5.5, "starts_above": "exact"}
    (tmp_path / "out" / "results.jsonl").write_text(json.dumps(line) + "\n")
    run("dbn_mnist.py", "--table", "--output", "out")
    assert "| 12-8_pcd1, 1+1 epochs, decay 0.0001 |" in capsys.readouterr().out


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
    run("dbn_mnist.py", *arguments)
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "out" / "log_1.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
def test_a_network_that_is_fine_tuned(run, tmp_path, capsys):
    """Cut short in the middle of it, it goes on; Q is that of its own recognition weights."""
    arguments = (*SHORT, "--widths", 12, 8, "--steps", 1, "--epochs", 1, "--fine-tune", 2, "--output", "out")
    run("dbn_mnist.py", *arguments, "--hours", 0)
    assert "12-8_cd1_tuned, 1+1 epochs, 1 of all layers" in capsys.readouterr().out
    run("dbn_mnist.py", *arguments)
    log = (tmp_path / "out" / "log_fine_tuning.jsonl").read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in log] == [1, 2]
    line = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert line["epochs"] == [1, 1] and line["fine_tuning"] == 2
    dbn = keras.saving.load_model(tmp_path / "out" / "dbn.keras")
    assert np.abs(dbn.recognition_kernels[0].numpy() - dbn.rbms[0].kernel.numpy()).max() > 0.001
    bound = dbn.log_likelihood_bound(ds.datasets.load("digits").test, 5).mean()
    assert np.hypot(bound.standard_error, line["test"]["standard_error"]) * 6 > abs(bound - line["test"]["value"])


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
