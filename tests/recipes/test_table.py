"""The table recipe on a few random rows: what a row is, that finished rows stand, that interrupted ones go on."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc.posterior import store

SIZES = (
    "--dataset tiny --no-jit --updates 4 --batch-size 20 --test-samples 30 --refit-updates 2 --posterior-samples 2 "
    "--hidden-units 3 --test-rows 10"
)
PAIR = ["--methods", "dsgnht_gibbs", "rws", "--architectures", "SBN/SBN 3-2"]


@pytest.fixture
def tiny(tmp_path):
    """Arguments that find a small dataset of uneven pixels, and write into a folder of the test."""
    rng = np.random.default_rng(0)
    splits = [(rng.random((rows, 6)) < np.linspace(0.1, 0.8, 6)).astype(np.uint8) for rows in (60, 20, 30)]
    ds.datasets.pack(tmp_path / "tiny.npz", *splits)
    return [*SIZES.split(), "--data-dir", str(tmp_path), "--output", str(tmp_path / "out")]


def lines(tmp_path):
    return [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]


def record_calls(recipe, monkeypatch):
    """Replaces the work on a row by a list of what would be worked on."""
    calls = []

    def run(method, architecture, settings, data, folder):
        calls.append((method, architecture))
        return {"updates": 1, "wall_time_seconds": 60.0, "log_likelihood": {}}

    monkeypatch.setattr(recipe.table_row, "run", run)
    return calls


@pytest.mark.slow
def test_rows_are_recorded_and_not_made_again(recipe, tiny, tmp_path, monkeypatch, capsys):
    recipe.table.main([*tiny, *PAIR])
    gibbs, rws = lines(tmp_path)
    assert (gibbs["method"], rws["method"]) == ("dsgnht_gibbs", "rws")
    assert gibbs["architecture"] == "SBN/SBN 3-2" and gibbs["dataset"] == "tiny" and gibbs["seed"] == 0
    assert gibbs["binarization"] == "dynamic" and gibbs["updates"] == 4 and gibbs["wall_time_seconds"] > 0
    assert gibbs["versions"]["keras"] == keras.__version__
    assert set(rws["log_likelihood"]) == {"last", "best"}
    for row in (gibbs, rws):
        for figures in row["log_likelihood"].values():
            assert set(figures) == {"value", "standard_error", "row_standard_error", "effective_sample_size"}
            assert -10 < figures["value"] < -1 and 0 < figures["row_standard_error"] < 1
    assert not list((tmp_path / "out" / "in_progress").iterdir())

    table = (tmp_path / "out" / "table.md").read_text()
    assert table in capsys.readouterr().out
    value = f"{rws['log_likelihood']['last']['value']:.2f} ± ".replace("-", "−")
    (printed,) = (line for line in table.splitlines() if line.startswith("| rws"))
    assert value in printed and printed.count("–") == 2 and "| dsgnht_gibbs \\*" in table and "Published" not in table

    calls = record_calls(recipe, monkeypatch)
    recipe.table.main([*tiny, *PAIR])
    assert calls == [] and lines(tmp_path) == [gibbs, rws]
    assert (tmp_path / "out" / "table.md").read_text() == table


def test_other_settings_are_other_rows(recipe, tiny, monkeypatch, tmp_path):
    calls = record_calls(recipe, monkeypatch)
    recipe.table.main([*tiny, *PAIR])
    assert calls == [("dsgnht_gibbs", "SBN/SBN 3-2"), ("rws", "SBN/SBN 3-2")]
    calls.clear()
    recipe.table.main([*tiny, *PAIR, "--learning-rate", "0.2"])  # of samplers alone
    assert calls == [("dsgnht_gibbs", "SBN/SBN 3-2")]
    assert (tmp_path / "out" / "table.md").read_text().count("| SBN/SBN 3-2 |") == 2
    for change in ("--updates 5", "--seed 1", "--binarization threshold", "--minutes 1", "--test-rows 9", "--adam 1"):
        calls.clear()
        recipe.table.main([*tiny, *PAIR, *change.split()])
        assert len(calls) == 2, change
    assert len(lines(tmp_path)) == 3 + 12


def test_a_line_that_was_cut_off_is_made_again(recipe, tiny, monkeypatch, tmp_path):
    calls = record_calls(recipe, monkeypatch)
    recipe.table.main([*tiny, *PAIR])
    path = tmp_path / "out" / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    calls.clear()
    recipe.table.main([*tiny, *PAIR])
    assert calls == [("rws", "SBN/SBN 3-2")]
    assert len(recipe.table.finished(path)) == 2
    calls.clear()
    recipe.table.main([*tiny, *PAIR])
    assert calls == []


def test_methods_learn_the_architectures_that_suit_them(recipe):
    rows = recipe.table.rows_of(recipe.table.METHODS, ["SBN/NADE 5", " VAE 5"])
    assert len(rows) == 10 and [method for method, name in rows if "VAE" in name] == ["vae", "iwae"]
    assert {method for method, _ in rows} == set(recipe.table.METHODS)
    with pytest.raises(ValueError, match=r"Received: methods=\['rws'\]"):
        recipe.table.rows_of(["rws"], ["VAE 5"])


def test_a_wrong_architecture_is_told_before_any_row_is_learnt(recipe, tiny, monkeypatch):
    calls = record_calls(recipe, monkeypatch)
    with pytest.raises(ValueError, match="Received: name='RBM 3'"):
        recipe.table.main([*tiny, "--architectures", "SBN 3", "RBM 3"])
    assert calls == []


def test_numbers_are_checked_before_any_work(recipe, tiny, capsys):
    for wrong in ("--updates 0", "--minutes -1", "--test-rows 0", "--adam nan"):
        with pytest.raises(SystemExit):
            recipe.table.main([*tiny, *wrong.split()])
        assert f"must be above 0. Received: {wrong.split()[1]}" in capsys.readouterr().err


def settings(recipe, tiny, method, *more):
    return recipe.table.settings_of(method, recipe.table.parse([*tiny, *more]))


def test_models_start_at_the_mean_of_the_data_with_the_prior_of_their_method(recipe, tiny, tmp_path):
    x = ds.datasets.load("tiny", tmp_path).train
    flat = recipe.table_row.build("rws", "SBN 2", settings(recipe, tiny, "rws"), x)
    bias = flat.generative.layers[-1].bias.numpy()
    np.testing.assert_allclose(1 / (1 + np.exp(-bias)), (x.sum(0) + 1) / (len(x) + 2), rtol=1e-5)
    assert float(flat.prior.log_prob(["kernel"], [[3.0]])) == 0.0
    sampler = recipe.table_row.build("dsgnht_nais", "SBN 2", settings(recipe, tiny, "dsgnht_nais"), x)
    assert sampler.prior.get_config() == ds.Prior().get_config()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dsgnht_gibbs", "dsgnht_nais"])
def test_estimates_of_samplers_against_enumeration(recipe, tiny, tmp_path, monkeypatch, method):
    chosen = settings(recipe, tiny, method, "--test-samples", "20000")
    data = ds.datasets.load("tiny", tmp_path)
    model = recipe.table_row.build(method, "SBN/SBN 3-2", chosen, data.train)
    x = data.test[np.random.default_rng(0).permutation(30)[:10]]
    variables = model.generative.trainable_variables
    rng = np.random.default_rng(1)

    def draw(scale, of):
        return [(scale * rng.standard_normal(variable.shape)).astype(np.float32) for variable in of]

    def exact(theta):
        for variable, value in zip(variables, theta):
            variable.assign(value)
        return ds.likelihood.exact(model, x).value

    # with Gibbs sampling φ does not learn: what the samples hold of it is of no use, here outright bad
    scale = 8.0 if method == "dsgnht_gibbs" else 0.3
    phi = model.recognition.trainable_variables
    samples = [store.Sample(draw(1.0, variables), draw(scale, phi), step) for step in (1, 2)]
    (tmp_path / "posterior").mkdir()
    for sample in samples:
        store.write_sample(tmp_path / "posterior", sample)
    mean = [(a + b) / 2 for a, b in zip(samples[0].theta, samples[1].theta)]
    expected = {
        "mean": exact(mean).mean(),
        "predictive": np.logaddexp(*[exact(sample.theta) for sample in samples]).mean() - np.log(2),
        "last": exact(draw(1.0, variables)).mean(),
    }
    refit, fitted = ds.DeepGenerativeModel.refit_recognition, []

    def counted(model, x, epochs, **arguments):
        fitted.append((len(x), epochs, type(arguments["latents"])))
        return refit(model, x, epochs, **arguments)

    monkeypatch.setattr(ds.DeepGenerativeModel, "refit_recognition", counted)
    found = recipe.table_row.evaluate(model, method, chosen, data, tmp_path)
    assert fitted == [(60, 1, ds.latents.NAIS)] * (2 if method == "dsgnht_gibbs" else 1)
    assert set(found) == set(expected)
    for name, value in expected.items():
        assert abs(found[name]["value"] - value) < 5 * found[name]["standard_error"] < 0.1, (name, found, expected)
        assert found[name]["effective_sample_size"] > 200


def test_published_figures_stand_below_the_rows(recipe):
    assert set(recipe.published.PUBLISHED) <= set(ds.datasets.names())
    figures = [figure for row in recipe.published.PUBLISHED.values() for figure in row]
    assert all(figure.log_likelihood < 0 and figure.source for figure in figures)
    figure = {"value": -29.125, "standard_error": 0.1, "row_standard_error": None, "effective_sample_size": 12.3}
    row = {"method": "rws", "architecture": "SBN 2", "updates": 5000, "wall_time_seconds": 90.0}
    table = recipe.table.markdown(
        [{**row, "log_likelihood": {"last": figure}}], recipe.table.parse(["--dataset", "ocr_letters"])
    )
    assert "| rws | SBN 2 | 5,000 | 1.5 | −29.12 ± not finite | – | – | – | 12 |" in table
    assert "| NADE or EoNADE | −27.22 | Uria, Murray and Larochelle" in table.split("## Published")[1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dsgnht_nais", "rws", "nvil"])
def test_an_interrupted_row_goes_on_as_if_it_had_not_been(recipe, tiny, tmp_path, monkeypatch, method):
    monkeypatch.setattr(recipe.table_row, "_ROUND", 2)
    arguments = [*tiny, "--methods", method, "--architectures", "SBN 3", "--updates", "10"]
    recipe.table.main(arguments)
    (whole,) = lines(tmp_path)
    (tmp_path / "out" / "results.jsonl").unlink()

    save = keras.callbacks.BackupAndRestore.on_epoch_end
    for last in (0, 3):  # before there is a backup, and just before the fourth

        def interrupted(self, epoch, logs=None, last=last):
            if epoch == last:
                raise KeyboardInterrupt
            save(self, epoch, logs)

        monkeypatch.setattr(keras.callbacks.BackupAndRestore, "on_epoch_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            recipe.table.main(arguments)
    monkeypatch.setattr(keras.callbacks.BackupAndRestore, "on_epoch_end", save)
    evaluate, steps = recipe.table_row.evaluate, []

    def learnt(model, method, settings, data, folder):
        steps.extend(store.step_of(path) for path in store.sample_paths(folder / "posterior"))
        raise KeyboardInterrupt

    monkeypatch.setattr(recipe.table_row, "evaluate", learnt)
    with pytest.raises(KeyboardInterrupt):
        recipe.table.main(arguments)
    assert steps == ([6, 8] if method == "dsgnht_nais" else [])  # after two of five rounds
    monkeypatch.setattr(recipe.table_row, "evaluate", evaluate)
    monkeypatch.setattr(recipe.table_row.Budget, "on_epoch_begin", lambda *_: pytest.fail("it has been learnt"))
    recipe.table.main(arguments)
    (resumed,) = lines(tmp_path)
    assert resumed["updates"] == whole["updates"] == 10
    assert resumed["log_likelihood"] == whole["log_likelihood"]
