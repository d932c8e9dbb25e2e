"""Rows of a table on a few random rows of data: what is learnt and estimated."""

import json
import types

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from experiments.common import kept
from experiments.method_table import annealing as table_annealing
from experiments.method_table import evaluation, methods
from experiments.method_table import row as table_row
from experiments.method_table.__main__ import main
from experiments.method_table.validation import Validation
from tests.posterior.support import write_sample
from tfdsmcmc.posterior import store

PAIR = ["--methods", "dsgnht_gibbs", "rws", "--architectures", "SBN/SBN 3-2"]
FIGURES = {"value", "standard_error", "row_standard_error", "effective_sample_size"}


@pytest.mark.slow
def test_rows_are_recorded_and_not_made_again(tiny, tmp_path, monkeypatch, capsys, recorded):
    annealing = "--annealing-rows 5 --annealing-steps 3 --annealing-runs 2 --unit-samples 20".split()
    main([*tiny, *PAIR, *annealing])
    gibbs, rws = recorded()
    assert (gibbs["method"], rws["method"]) == ("dsgnht_gibbs", "rws")
    assert gibbs["updates"] == 4 and gibbs["wall_time_seconds"] > 0 and gibbs["posterior_samples"] == 1
    assert rws["estimator"] == {"name": "importance sampling", "num_samples": 30, "rows": 10}
    assert set(rws["log_likelihood"]) == {"last", "best"} and set(rws["valid"]) == {rws["annealed"]["of"]} == {"best"}
    assert set(gibbs["log_likelihood"]) == {"last", "best", "mean", "units", "predictive"}
    assert set(gibbs["valid"]) == {"best", "mean", "units"} and "unit_samples" not in rws["settings"]
    assert gibbs["annealed"]["of"] == max(gibbs["valid"], key=gibbs["valid"].get)
    for row in (gibbs, rws):
        for figures in row["log_likelihood"].values():
            assert set(figures) == FIGURES and -10 < figures["value"] < -1 and 0 < figures["row_standard_error"] < 1
        assert row["curve"][-1]["updates"] == 4 and -10 < row["curve"][-1]["valid"] < -1
        assert row["annealed"]["rows"] == 5 and -10 < row["annealed"]["value"] < -1
        sides = row["both_sides"]
        np.testing.assert_allclose(sides["upper"]["value"] - sides["lower"]["value"], sides["gap"]["value"], atol=1e-4)
        short = sides["upper"]["value"] - sides["importance"]["value"]
        np.testing.assert_allclose(short, sides["importance_gap"]["value"], atol=1e-4)
        loaded = keras.saving.load_model(tmp_path / "out" / row["model"])
        assert loaded.generative.latent_units == [3, 2]
    table = (tmp_path / "out" / "table.md").read_text()
    assert table in capsys.readouterr().out and "| `dsgnht_gibbs` \\* |" in table and "Published" not in table

    monkeypatch.setattr(table_row, "run", lambda *_: pytest.fail("it has been made"))
    main([*tiny, *PAIR, *annealing])
    assert recorded() == [gibbs, rws] and (tmp_path / "out" / "table.md").read_text() == table


@pytest.mark.slow
def test_validation_chooses_among_learning_rates(tiny, tmp_path, monkeypatch, recorded):
    """Of four rates tried, the one whose last look is best, though one diverges; no trial is made again."""
    arguments = [*tiny, "--methods", "rws", "--architectures", "SBN 3", "--adam", "0.5", "0.001", "0.1", "0.002"]
    learn, tried = table_row.learn, []

    def watched(method, architecture, rate, settings, data, folder, share):
        tried.append((rate, share))
        if rate == 0.5:
            raise ds.DivergedError("no update was finite")
        if len(tried) == 4:
            raise KeyboardInterrupt
        return learn(method, architecture, rate, settings, data, folder, share)

    monkeypatch.setattr(table_row, "learn", watched)
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    main(arguments)
    (row,) = recorded()
    assert [rate for rate, _ in tried] == [0.5, 0.001, 0.1, 0.002, 0.002, row["learning_rate"]] and tried[-1][1] == 1.0
    assert row["trials"].pop("0.5") is None and len(row["trials"]) == 3 and "failed" not in row
    assert row["learning_rate"] == float(max(row["trials"], key=row["trials"].get))


def test_rates_on_trial_may_diverge_but_not_all(tmp_path, monkeypatch):
    """Of three one diverges, the best of the others learns, and no trial is made again; then all diverge."""
    worth, tried = {1.0: None, 0.1: -9.0, 0.01: -7.0}, []

    def learn(method, architecture, rate, settings, data, folder, share):
        tried.append(rate)
        (folder / "phase_0").mkdir(parents=True)
        if worth[rate] is None:
            raise ds.DivergedError("no update was finite")
        return types.SimpleNamespace(run=types.SimpleNamespace(steps=4)), [{"valid": worth[rate]}], 1.0, 4

    monkeypatch.setattr(table_row, "learn", learn)
    monkeypatch.setattr(evaluation, "evaluate", lambda *_: {})
    settings = {"learning_rates": list(worth)}
    for _ in range(2):
        _, row = table_row.run("rws", "SBN 3", settings, None, tmp_path)
        assert row["learning_rate"] == 0.01 and row["trials"] == {"1": None, "0.1": -9.0, "0.01": -7.0}
        (tmp_path / "learning" / "phase_0").rmdir()
    assert tried == [1.0, 0.1, 0.01, 0.01, 0.01]
    assert not [path for path in tmp_path.glob("rate_*") if path.is_dir()]
    with pytest.raises(ds.DivergedError, match=r"Received: \[1.0, 2.0\]"):
        worth[2.0] = None
        table_row.run("rws", "SBN 3", {"learning_rates": [1.0, 2.0]}, None, tmp_path)


def test_annealing_begins_at_the_prior_where_no_recognition_network_has_learnt(settings):
    model = ds.models.from_name("SBN 3", units=4)
    paths = {method: table_annealing.options_of(model, method, settings(method))["path"] for method in (
        "dsgnht_gibbs", "dsghmc_gibbs", "rws_untaught", "rws", "dsgnht_nais")}  # fmt: skip
    assert list(paths.values()) == ["prior"] * 3 + ["recognition"] * 2
    taught = settings("dsgnht_gibbs", "--proposal-learning-rate", "0.1")
    assert table_annealing.options_of(model, "dsgnht_gibbs", taught)["path"] == "recognition"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dsgnht_gibbs", "dsgnht_nais"])
def test_estimates_of_samplers_against_enumeration(tmp_path, monkeypatch, method, tiny, settings):
    annealing = "--annealing-rows 10 --annealing-steps 20 --annealing-runs 50 --annealing-draws 5".split()
    chosen = settings(method, "--test-samples", "20000", *annealing)
    data = ds.datasets.load("tiny", tmp_path)
    model = table_row.build(method, "SBN/SBN 3-2", chosen, data.train)
    (arguments,) = methods.phases(method, 0.1, chosen)
    model.compile(**arguments, jit_compile=False)
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
        write_sample(tmp_path / "posterior", sample)
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
    results = evaluation.evaluate(model, method, chosen, data, tmp_path)
    found = results["log_likelihood"]
    assert fitted == [(60, 1, ds.latents.NAIS)] * (2 if method == "dsgnht_gibbs" else 1)
    assert set(found) == set(expected) and results["posterior_samples"] == 2
    for name, value in expected.items():
        assert abs(found[name]["value"] - value) < 5 * found[name]["standard_error"] < 0.1, (name, found, expected)
        assert found[name]["effective_sample_size"] > 200
    annealed, sides = results["annealed"], results["both_sides"]
    assert abs(annealed["value"] - expected["mean"]) < 5 * annealed["standard_error"] < 0.3
    of_draws = results["annealed_predictive"]
    assert abs(of_draws["value"] - expected["predictive"]) < 5 * of_draws["standard_error"] < 0.3
    assert annealed["difference_error"] == of_draws["difference_error"] == 0.0  # all rows are annealed
    assert of_draws["draws"] == 2  # there are no more
    assert -0.1 < sides["gap"]["value"] < 0.5
    kept, weights = json.dumps(results), model.get_weights()
    model.set_weights([0.0 * weight for weight in weights])
    assert json.dumps(evaluation.evaluate(model, method, chosen, data, tmp_path)) == kept
    for now, then in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.slow
@pytest.mark.parametrize("preferred", ["best", "mean"])
@pytest.mark.parametrize("method", ["dsgnht_gibbs", "dsgnht_nais"])
def test_what_validation_data_prefer_is_annealed(tiny, tmp_path, monkeypatch, settings, method, preferred):
    """Of a sampler's best weights along the way and the mean of its samples; the model has them in the end."""
    annealing = "--annealing-rows 10 --annealing-steps 20 --annealing-runs 20".split()
    chosen, biases = settings(method, "--test-samples", "2000", *annealing), {"last": 3.0, "best": 0.5, "mean": -0.5}
    data = ds.datasets.load("tiny", tmp_path)
    model = table_row.build(method, "SBN/SBN 3-2", chosen, data.train)
    model.compile(**methods.phases(method, 0.1, chosen)[0], jit_compile=False)
    x = data.test[np.random.default_rng(0).permutation(30)[:10]]
    (tmp_path / "posterior").mkdir()
    phi, exact = [variable.numpy() for variable in model.recognition.trainable_variables], {}
    for name, bias in biases.items():
        for variable in model.generative.trainable_variables:
            variable.assign(tf.fill(variable.shape, bias))
        exact[name] = float(ds.likelihood.exact(model, x).value.mean())
        if name == "best":
            kept.write_weights(model, tmp_path / "best.npz", value=0.0)
        if name == "mean":
            theta = [variable.numpy() for variable in model.generative.trainable_variables]
            write_sample(tmp_path / "posterior", store.Sample(theta, phi, 1))

    def look_of(*arguments):
        """-1 for what is preferred, told by its weights, and -2 for the other."""
        return lambda model: {"valid": -1.0 - float(model.generative.layers[-1].bias[0] != biases[preferred])}

    monkeypatch.setattr(evaluation, "look_of", look_of)
    for variable in model.generative.trainable_variables:
        variable.assign(tf.fill(variable.shape, 3.0))
    for _ in range(2):  # the second finds all in its files
        found = evaluation.evaluate(model, method, chosen, data, tmp_path)
        assert found["valid"] == {name: -1.0 - (name != preferred) for name in ("best", "mean")}
        for name, value in exact.items():
            assert abs(found["log_likelihood"][name]["value"] - value) < 0.2, (name, found["log_likelihood"], exact)
        assert found["annealed"]["of"] == preferred and abs(found["annealed"]["value"] - exact[preferred]) < 0.2
        np.testing.assert_array_equal(model.generative.layers[-1].bias, np.full(6, biases[preferred]))
        model.set_weights([0.0 * weight for weight in model.get_weights()])


@pytest.mark.slow
def test_validation_data_end_the_climb_of_a_sampler_whose_recognition_network_learns(tiny, tmp_path, settings):
    """Told every two updates, the first time the best, it ends three updates or more later, one to go back in."""
    data, told = ds.datasets.load("tiny", tmp_path), iter([-3.0, None, -5.0])
    model = table_row.build("dsgnht_nais", "SBN 3", settings("dsgnht_nais"), data.train)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(), patience=3)
    model.compile(**{**ds.methods.dsgnht_nais(num_chains=1), "kernel": kernel}, jit_compile=False)
    begins = []
    note = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: begins.append(int(model.run.state.kernel_results.begins))
    )
    validation = Validation(lambda model: next(told), 2)
    model.fit(data.train, steps_per_epoch=1, epochs=40, callbacks=[validation, note], verbose=0)
    assert begins == [20] * 5 + [7] * 35  # half of the updates as planned, until the sixth


@pytest.mark.slow
@pytest.mark.parametrize(("share", "sampled"), [("0.2", [4, 6, 8, 10]), ("0.5", [6, 8, 10]), ("0.8", [10])])
def test_of_updates_too_the_burn_in_is_the_part_that_is_asked_for(
    tiny, tmp_path, monkeypatch, settings, share, sampled
):
    """In whole rounds, with which the climb ends: posterior samples are of sampled weights, one of each round."""
    monkeypatch.setattr(table_row, "_ROUND", 2)
    chosen = settings("dsgnht_gibbs", "--updates", "10", "--burn-in", share, "--posterior-samples", "10")
    data = ds.datasets.load("tiny", tmp_path)
    model, *_ = table_row.learn("dsgnht_gibbs", "SBN 3", 0.1, chosen, data, tmp_path / "learning", 1.0)
    assert int(model.run.state.kernel_results.begins) == sampled[0] - 2
    steps = [store.step_of(path) for path in store.sample_paths(tmp_path / "learning" / "posterior")]
    assert steps == sampled[-len(steps) :] and len(steps) >= 1


@pytest.mark.slow
def test_latents_are_learnt_before_the_data_layer_ties_its_units(tiny, tmp_path, monkeypatch, settings):
    """Three of ten rounds under an SBN, the rest under the NADE that goes on from it; a second call finds it learnt."""
    monkeypatch.setattr(table_row, "_ROUND", 2)
    chosen = settings("dsgnht_nais", "--architectures", "NADE/NADE 3", "--updates", "20", "--latents-first", "0.3")
    data, learnt, phase = ds.datasets.load("tiny", tmp_path), [], table_row._phase

    def watched(model, *arguments):
        begun = [w.copy() for w in model.get_weights()]
        looks = phase(model, *arguments)
        learnt.append((model, begun))
        return looks

    monkeypatch.setattr(table_row, "_phase", watched)
    found = [
        table_row.learn("dsgnht_nais", "NADE/NADE 3", 0.1, chosen, data, tmp_path / "learning", 1.0) for _ in range(2)
    ]
    (first, _), (model, begun), _, (again, _) = learnt
    assert [type(m.generative.layers[-1]) for m in (first, model)] == [ds.layers.SBN, ds.layers.NADE]
    np.testing.assert_array_equal(begun[0], first.get_weights()[0])
    np.testing.assert_array_equal(model.get_weights()[0], again.get_weights()[0])
    assert np.any(begun[0] != model.get_weights()[0])
    for _, curve, _, updates in found:
        assert updates == 6 + 14 == curve[-1]["updates"]
        assert [point["updates"] for point in curve] == sorted(point["updates"] for point in curve)
        assert [point["seconds"] for point in curve] == sorted(point["seconds"] for point in curve)


def test_validation_is_heard_where_it_tells_something(tiny, tmp_path, settings):
    data, collector = ds.datasets.load("tiny", tmp_path), object()

    def callbacks(method, collector):
        return table_row._of_sampler(method, settings(method), data, collector)

    assert callbacks("rws", None) == [] and callbacks("dsgnht_gibbs", collector) == [collector]
    validation, last = callbacks("dsgnht_nais", collector)
    model = table_row.build("dsgnht_nais", "SBN 3", settings("dsgnht_nais"), data.train)
    expected = float(model.log_likelihood(data.valid, 50).mean())
    patient = settings("dsgnht_nais", "--patience", "20000")
    assert table_row._of_sampler("dsgnht_nais", patient, data, collector)[0].rounds == 100
    assert validation.rounds == 5  # four looks within the patience
    assert last is collector and validation.value(model) == pytest.approx(expected, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dsgnht_iwae", "rws_untaught"])
def test_methods_of_the_table_alone(tiny, method, recorded):
    architecture = ["VAE 2", "--hidden-units", "4", "3"] if method == "dsgnht_iwae" else ["SBN 3"]
    annealing = "--annealing-rows 3 --annealing-steps 2 --annealing-runs 2".split()
    main([*tiny, *annealing, "--methods", method, "--architectures", *architecture])
    (row,) = recorded()
    assert -10 < row["log_likelihood"]["last"]["value"] < -1 and row["both_sides"]["gap"]["value"] is not None
