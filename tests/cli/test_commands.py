"""The command line, as a person types it."""

import json
import re
import shutil
import subprocess
import sys

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc.cli import main, tables
from tfdsmcmc.cli.arguments import METHODS


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The folder of a small fit of the digits: model.keras and posterior/."""
    folder = tmp_path_factory.mktemp("cli")
    arguments = ["--layers", "4", "--epochs", "3", "--num-samples", "2", "--burn-in", "1"]
    collect = ["--posterior", str(folder / "posterior"), "--posterior-samples", "2", "--every", "1"]
    assert main(["fit", "digits", str(folder / "model.keras"), *arguments, *collect]) == 0
    return folder


def refused(arguments, capsys):
    """Runs a command that must fail with one line that says what was received, and returns the line."""
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip()
    assert len(error.splitlines()) == 1 and "Received: " in error
    return error


def test_help_of_every_command_explains_itself(capsys):
    for command in ([], ["fit"], ["evaluate"], ["sample"], ["impute"], ["export"], ["serve"], ["datasets"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--help"])
        assert stopped.value.code == 0
        text = capsys.readouterr().out
        assert "python -m tfdsmcmc" in text and len(text.splitlines()) > 5
    assert "None)" not in text


@pytest.mark.slow
def test_it_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "tfdsmcmc", "datasets"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ds.datasets.names()


@pytest.mark.compiled
def test_evaluate_prints_both_estimates(fitted, capsys):
    model = str(fitted / "model.keras")
    assert main(["evaluate", model, "digits", "--num-samples", "20", "--split", "valid"]) == 0
    (line,) = capsys.readouterr().out.strip().splitlines()
    expected = keras.saving.load_model(model).log_likelihood(ds.datasets.load("digits").valid, 20).mean()
    assert f"{expected:.3f} nats a row" in line
    assert main(["evaluate", model, "digits", "--num-samples", "5", "--posterior", str(fitted / "posterior")]) == 0
    assert len(capsys.readouterr().out.strip().splitlines()) == 2


def test_sample_writes_what_the_name_says(fitted, tmp_path):
    model = str(fitted / "model.keras")
    assert main(["sample", model, str(tmp_path / "a" / "x.png"), "--num-samples", "4"]) == 0
    assert main(["sample", model, str(tmp_path / "x.npy"), "--num-samples", "4", "--probabilities"]) == 0
    assert (tmp_path / "a" / "x.png").stat().st_size > 1000
    x = np.load(tmp_path / "x.npy")
    assert x.shape == (4, 64) and 0 < x.min() and x.max() < 1
    assert main(["sample", model, str(tmp_path / "x.npy"), "--num-samples", "4", "--overwrite"]) == 0
    assert set(np.unique(np.load(tmp_path / "x.npy"))) == {0, 1}


def test_export_writes_a_version(fitted, tmp_path, capsys):
    model, served = str(fitted / "model.keras"), str(tmp_path / "served")
    arguments = ["export", model, served, "--version", "2", "--only", "sample", "log_likelihood"]
    assert main([*arguments, "--posterior", str(fitted / "posterior"), "--shape", "8x8"]) == 0
    assert f"wrote {served}/2" in capsys.readouterr().out
    found = json.loads((tmp_path / "served/2/assets/manifest.json").read_text())
    assert found["data_shape"] == [8, 8] and found["posterior"]["samples"] == 2
    assert found["posterior"]["chains"] == 1 and found["posterior"]["average"] in ("units", "draws", "weights")
    assert set(found["signatures"]) == {"sample", "log_likelihood"}
    refused(arguments, capsys)
    refused([*arguments[:-2], "dream", "--overwrite"], capsys)
    refused([*arguments, "--overwrite", "--ensemble"], capsys)


@pytest.mark.slow
def test_resume_goes_on_with_the_chain(fitted, tmp_path):
    path = shutil.copy(fitted / "model.keras", tmp_path / "model.keras")
    before = keras.saving.load_model(path)
    assert main(["fit", "digits", str(path), "--resume", "--epochs", "1"]) == 0
    after = keras.saving.load_model(path)
    assert int(after.run.epochs) == int(before.run.epochs) + 1


def test_options_that_would_do_nothing_are_refused(fitted, tmp_path, capsys):
    """Before any work, and by their names."""
    model, other = str(fitted / "model.keras"), str(tmp_path / "m.keras")
    for option, value in (("--burn-in", "0"), ("--every", "1"), ("--posterior-samples", "50"), ("--patience", "9")):
        said = refused(["fit", "digits", other, "--epochs", "1", option, value], capsys)
        assert "--posterior alone" in said and said.endswith(f"Received: {option}")
    assert "--shape 8x8" in refused(["sample", model, str(tmp_path / "x.npy"), "--shape", "8x8"], capsys)
    np.savez(tmp_path / "rows.npz", x=np.full((1, 64), np.nan))
    for option in ("--header", "--no-header"):
        said = refused(["impute", model, str(tmp_path / "rows.npz"), str(tmp_path / "x.csv"), option], capsys)
        assert option in said
    assert [path.name for path in tmp_path.iterdir()] == ["rows.npz"]


def test_a_seed_that_no_generator_takes_is_refused(tmp_path, capsys):
    for seed in ("-1", str(2**32)):
        assert "--seed" in refused(["fit", "digits", str(tmp_path / "m.keras"), "--seed", seed], capsys)


def test_a_file_that_cannot_be_written_is_refused_before_the_fit(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ds.DeepGenerativeModel, "fit", lambda *args, **kwargs: pytest.fail("it was fitted"))
    (tmp_path / "m.keras").mkdir()
    for option in ("--overwrite", "--resume"):
        assert "no folder" in refused(["fit", "digits", str(tmp_path / "m.keras"), option], capsys)


def test_a_resumed_fit_keeps_samples_of_what_samples_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ds.DeepGenerativeModel, "fit", lambda *args, **kwargs: None)
    for method, status in (("rws", 2), ("dsgnht_nais", 0)):
        model, folder = tmp_path / f"{method}.keras", tmp_path / method
        assert main(["fit", "digits", str(model), "--layers", "2", "--epochs", "1", "--method", method]) == 0
        arguments = ["fit", "digits", str(model), "--epochs", "1", "--resume", "--posterior", str(folder)]
        assert main(arguments) == status
    assert "methods that sample. Received: " in capsys.readouterr().err


def test_an_average_that_there_is_not_is_refused_before_the_estimates(fitted, tmp_path, capsys):
    """Samples of which no warm start left weights."""
    for path in (fitted / "posterior").glob("sample_*.h5"):
        shutil.copy(path, tmp_path)
    arguments = ["evaluate", str(fitted / "model.keras"), "digits", "--posterior", str(tmp_path)]
    assert main([*arguments, "--num-samples", "5", "--average", "start"]) == 2
    said = capsys.readouterr()
    assert not said.out and "Received: average='start'" in said.err


def test_a_missing_package_is_told_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "werkzeug", None)
    assert main(["serve", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "pip install tfdsmcmc[serving]" in line


def test_mistakes_are_refused_in_one_line(fitted, tmp_path, capsys):
    model = str(fitted / "model.keras")
    before = (fitted / "model.keras").read_bytes()
    refused(["fit", "digits", model], capsys)
    refused(["fit", "digits", str(tmp_path / "model.h5")], capsys)
    refused(["fit", "no_such_data", str(tmp_path / "m.keras")], capsys)
    refused(["fit", "digits", str(tmp_path / "m.keras"), "--layers", "5x3"], capsys)
    refused(["fit", "digits", str(tmp_path / "m.keras"), "--layers", "0"], capsys)
    refused(["evaluate", str(tmp_path / "m.keras"), "digits"], capsys)
    refused(["evaluate", model, "digits", "--num-samples", "-3"], capsys)
    assert main(["evaluate", model, "digits", "--posterior", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert not said.out and "Received: " in said.err  # before the weights of the model are evaluated
    refused(["sample", model, str(tmp_path / "x.txt")], capsys)
    refused(["sample", model, str(tmp_path / "x.png"), "--shape", "8by8"], capsys)
    refused(["sample", model, str(tmp_path / "x.png"), "--shape", "8x9"], capsys)
    refused(["fit", "digits", str(tmp_path / "m.keras"), "--epochs", "0"], capsys)
    refused(["fit", "digits", str(tmp_path / "new" / "m.keras"), "--batch-size", "0"], capsys)
    assert not (tmp_path / "new").exists()
    (tmp_path / "x.npy").write_text("precious")
    assert "--overwrite" in refused(["sample", model, str(tmp_path / "x.npy")], capsys)
    assert (tmp_path / "x.npy").read_text() == "precious"
    refused(["fit", "digits", model, "--resume", "--layers", "7"], capsys)
    (tmp_path / "bad.keras").write_bytes(b"bad")
    refused(["sample", str(tmp_path / "bad.keras"), str(tmp_path / "x.png")], capsys)
    assert (fitted / "model.keras").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.keras", "x.npy"]


@pytest.mark.slow
def test_fit_takes_methods_and_architectures(tmp_path, capsys):
    path = tmp_path / "vae.keras"
    arguments = ["--layers", "VAE 2", "--method", "vae", "--epochs", "1", "--num-samples", "2"]
    assert main(["fit", "digits", str(path), *arguments]) == 0
    model = keras.saving.load_model(path)
    assert isinstance(model.generative.layers[-1], ds.layers.MLPBernoulli)
    assert model.run.step.estimator.latents.get_config() == ds.latents.NAIS(2, "uniform").get_config()
    refused(["fit", "digits", str(tmp_path / "other.keras"), "--layers", "5", "--method", "vae"], capsys)
    refused(["fit", "digits", str(tmp_path / "other.keras"), "--layers", "RBM 5"], capsys)
    refused(["fit", "digits", str(tmp_path / "other.keras"), "--method", "rws", "--posterior", "p"], capsys)
    refused(["fit", "digits", str(tmp_path / "other.keras"), "--method", "rws", "--learning-rate", "-1"], capsys)


def test_fit_by_gibbs_sampling_teaches_the_recognition_network(tmp_path, monkeypatch):
    taught = []
    monkeypatch.setattr(ds.DeepGenerativeModel, "fit", lambda self, *args, **kwargs: None)
    monkeypatch.setattr(
        ds.DeepGenerativeModel, "refit_recognition", lambda self, x, *args, **kwargs: taught.append((len(x), kwargs))
    )
    arguments = ["fit", "digits", str(tmp_path / "m.keras"), "--layers", "DARN 2", "--epochs", "1"]
    assert main([*arguments, "--method", "dsghmc_gibbs"]) == 0
    ((rows, options),) = taught
    assert rows == 1197 and isinstance(options["latents"], ds.latents.NAIS)
    assert main([*arguments, "--overwrite", "--method", "dsghmc_nais"]) == 0 and len(taught) == 1


def rows_with_gaps(tmp_path):
    """Three test digits of which two lack their lower halves; and the .csv, with names, that holds them."""
    x = ds.datasets.load("digits").test[:3].astype(np.float32)
    x[:2, 32:] = np.nan
    names = [f"p{i}" for i in range(64)]
    lines = [",".join("" if np.isnan(v) else str(int(v)) for v in row) for row in x]
    (tmp_path / "rows.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    return x, names


@pytest.mark.slow
def test_impute_fills_the_gaps(fitted, tmp_path, capsys):
    """What is observed stays, and the draws are those of the package."""
    x, names = rows_with_gaps(tmp_path)
    model, filled = str(fitted / "model.keras"), tmp_path / "a" / "filled.csv"
    arguments = ["impute", model, str(tmp_path / "rows.csv"), str(filled), "--seed", "5", "--num-imputations", "2"]
    assert main(arguments) == 0
    assert "2 rows with gaps of 3, effective samples" in capsys.readouterr().out
    found = tables.read(filled)
    assert found.header == names and set("".join(filled.read_text().splitlines()[1:])) == set("01,")
    expected = ds.imputation.impute(keras.saving.load_model(model), x, num_imputations=2, seed=5).x
    np.testing.assert_array_equal(found.x, expected.reshape(6, 64))
    assert "exists" in refused(arguments, capsys)


def test_impute_hands_on_what_is_asked_for(fitted, tmp_path, capsys, monkeypatch):
    """Files of both kinds, the mask, the posterior and what to write, with the work itself replaced."""
    x, _ = rows_with_gaps(tmp_path)
    calls = []

    def fake(model, x, mask, num_imputations, seed, posterior, average):
        calls.append((x, mask, num_imputations, seed, posterior))
        probabilities = np.where(np.isnan(x), 0.25 + 0.5 * (np.arange(64) % 2), x).astype(np.float32)
        return ds.imputation.Imputation(np.zeros((num_imputations, *x.shape), np.float32), probabilities,
                                        np.array([3.0, 5.0, np.inf]), None)  # fmt: skip

    monkeypatch.setattr(ds.imputation, "impute", fake)
    model, posterior = str(fitted / "model.keras"), str(fitted / "posterior")
    rows, csv, npz = str(tmp_path / "rows.csv"), str(tmp_path / "out.csv"), str(tmp_path / "out.npz")
    assert main(["impute", model, rows, csv, "--probabilities"]) == 0
    np.testing.assert_array_equal(tables.read(csv).x[0, 32:34], [0.25, 0.75])
    assert main(["impute", model, rows, csv, "--majority", "--overwrite"]) == 0
    np.testing.assert_array_equal(tables.read(csv).x[0, 32:34], [0, 1])
    np.savez(tmp_path / "in.npz", x=x, mask=~np.isnan(x))
    assert main(["impute", model, str(tmp_path / "in.npz"), npz, "--posterior", posterior, "--seed", "7"]) == 0
    assert "effective samples 4.0" in capsys.readouterr().out
    found = np.load(npz)
    assert found["x"].shape == (1, 3, 64) and found["probabilities"].shape == (3, 64)
    assert found["effective_sample_size"].shape == (3,)
    given, mask, count, seed, samples = calls[-1]
    np.testing.assert_array_equal(mask, ~np.isnan(x))
    assert (count, seed, len(samples.samples)) == (1, 7, 2)
    for paths, *options in (
        ([rows, "x.txt"],), (["none.csv", "x.csv"],), ([rows, "x.npz"], "--majority"),
        ([rows, "x.csv"], "--majority", "--probabilities"), ([rows, "x.csv"], "--majority", "--num-imputations", "3"),
    ):  # fmt: skip
        refused(["impute", model, paths[0], str(tmp_path / paths[1]), *options], capsys)
    assert not list(tmp_path.glob("x.*"))


def test_serve_refuses_what_is_no_model(tmp_path, capsys):
    for path in (tmp_path / "none", tmp_path):
        assert f"Received: {path}" in refused(["serve", str(path)], capsys)


def test_the_methods_of_the_help_are_all():
    assert list(METHODS) == ds.methods.__all__


@pytest.mark.slow
def test_chains_of_a_job_array(tmp_path, capsys):
    """Two jobs that share a folder leave one posterior; a third that is started twice changes nothing."""
    arguments = ["--layers", "4", "--epochs", "3", "--num-samples", "2", "--burn-in", "1", "--every", "1"]
    for chain in ("1", "0", "1"):
        assert main(["fit", "digits", *arguments, "--chain", chain, "--of", "2", "--folder", str(tmp_path)]) == 0
    assert "chain 1 of 2 is in" in capsys.readouterr().out
    assert ds.posterior.load(tmp_path).num_chains == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--chain", "1"], "go together"),
        (["--chain", "2", "--of", "2", "--folder", "runs"], "--chain is below --of"),
        (["--chain", "-1", "--of", "2", "--folder", "runs"], "--chain must be"),
        (["m.keras", "--chain", "1", "--of", "2", "--folder", "runs"], "folder of its own.*model"),
        (["--method", "iwae", "--chain", "0", "--of", "2", "--folder", "runs"], "methods that sample"),
        ([], "Name the file to write"),
    ],
)
def test_chains_that_are_none(options, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert re.search(message, refused(["fit", "digits", *options], capsys))
    assert not any(tmp_path.iterdir())
