"""The evaluation of a row is interrupted at every stage, and makes none of them twice."""

import types

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.method_table import annealing as table_annealing
from experiments.method_table import evaluation

STAGES = ["refit", "last", "refit", "mean", "look", "predictive", "annealed", "both_sides", "draws"]
SETTINGS = {"seed": 0, "test_rows": 3, "test_samples": 30, "refit_updates": 2, "refit_learning_rate": 0.1}
ANNEALING = {"annealing_rows": 2, "annealing_steps": 5, "annealing_runs": 1, "annealing_draws": 4, "drawn_rows": None}


class _Model:
    """Its one weight is its log-likelihood of row 0; a refit adds 1 to it."""

    def __init__(self):
        self.weights, self.recognition = [np.array(-9.0)], types.SimpleNamespace(layers=[0])
        self.recognition.get_weights, self.recognition.set_weights = list, lambda weights: None

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.weights = weights


@pytest.fixture
def evaluate(tmp_path, monkeypatch):
    """A function that evaluates up to a stage, or to the end, and a list of the stages made."""
    (tmp_path / "posterior").mkdir()
    (tmp_path / "posterior" / "sample_1.h5").touch()
    made, until = [], [None]

    def stage(name):
        if len(made) == until[0]:
            raise KeyboardInterrupt
        made.append(name)

    def estimate(model, x, samples):
        stage("last" if model.weights[0] < -5 else "mean")
        return ds.likelihood.LogLikelihood(model.weights[0] - np.arange(3.0), np.ones(3), np.full(3, 2.0))

    def refit(model, *_):
        stage("refit")
        model.weights = [model.weights[0] + 1.0]

    def predictive(*_):
        stage("predictive")
        return ds.likelihood.LogLikelihood(np.full(3, -1.0), np.full(3, np.nan), np.ones(3))

    def annealed(model, method, settings, x, importance):
        stage("annealed")
        return {"value": float(model.weights[0] + importance.value[:2].sum()), "rows": 2.0}

    def both_sides(model, method, settings, num_samples):
        stage("both_sides")
        return {"lower": float(model.weights[0]), "samples": num_samples}

    def annealed_predictive(_, draws, model, method, settings, x, importance):
        stage("draws")
        return {"value": float(importance.value.mean()), "draws": draws}

    def look(model):
        stage("look")
        return {"valid": float(model.weights[0])}

    monkeypatch.setattr(evaluation, "look_of", lambda *_: look)
    posterior = types.SimpleNamespace(apply_mean=lambda model: model.set_weights([np.array(-5.0)]))
    monkeypatch.setattr(ds.posterior, "load", lambda folder: posterior)
    monkeypatch.setattr(_Model, "log_likelihood", estimate, raising=False)
    for replaced in (refit, predictive):
        monkeypatch.setattr(evaluation, replaced.__name__, replaced)
    for replaced in (annealed, annealed_predictive, both_sides):
        monkeypatch.setattr(table_annealing, replaced.__name__, replaced)
    data = types.SimpleNamespace(train=None, test=np.zeros((3, 2)))

    def run(stages=None, **others):
        until[0] = stages
        settings = SETTINGS | ANNEALING | others
        return evaluation.evaluate(_Model(), "dsgnht_gibbs", settings, data, tmp_path)

    return run, made


def test_an_interrupted_evaluation_goes_on(evaluate):
    run, made = evaluate
    for stages in range(len(STAGES)):
        with pytest.raises(KeyboardInterrupt):
            run(stages)
        assert made == STAGES[:stages]
    for _ in range(2):
        results = run()
        assert made == STAGES
    found = results["log_likelihood"]
    assert [found[name]["value"] for name in ("last", "mean", "predictive")] == [-9.0, -5.0, -1.0]
    assert found["predictive"]["standard_error"] is None and results["posterior_samples"] == 1
    assert results["valid"] == {"mean": -4.0}
    assert results["annealed"] == {"of": "mean", "value": -4.0 + (-4.0 - 5.0), "rows": 2.0}  # of the mean, φ fitted
    assert results["both_sides"] == {"lower": -4.0, "samples": 30}
    assert results["annealed_predictive"] == {"value": -1.0, "draws": 1}  # there is no other


def test_another_evaluation_makes_what_differs(evaluate):
    run, made = evaluate
    run()
    made.clear()
    run(annealing_steps=6)
    assert made == ["annealed", "both_sides", "draws"]
    made.clear()
    assert "annealed_predictive" not in run(annealing_steps=6, annealing_draws=0) and made == []
    made.clear()
    run(test_samples=31)
    assert made == STAGES


def test_an_average_of_more_importance_samples_is_made_anew_and_nothing_else(evaluate, monkeypatch):
    """It is annealed again too, as importance samples of the same number go beside all that is annealed."""
    run, made = evaluate
    run()
    made.clear()
    average, counts, of_phi = _Model(), [], _Model()
    average.recognition, average.weights = of_phi, [np.array(-2.0)]
    average.log_likelihood = lambda x, samples: (
        counts.append(samples) or ds.likelihood.LogLikelihood(-2.0 - np.arange(3.0), np.ones(3), np.full(3, 2.0))
    )
    monkeypatch.setattr(evaluation, "averaged", lambda posterior, model: average)
    for _ in range(2):
        results = run(unit_samples=7)
        assert made == ["refit", "look", "annealed", "both_sides"] and counts == [7]
    assert results["log_likelihood"]["units"]["value"] == -3.0 and results["valid"] == {"mean": -4.0, "units": -1.0}
    assert results["annealed"]["of"] == "units" and results["both_sides"] == {"lower": -1.0, "samples": 7}
    made.clear()
    run(unit_samples=8)
    assert made == ["annealed", "both_sides"] and counts == [7, 8]


def test_rows_that_the_model_draws_are_as_many_as_are_asked_for(evaluate, monkeypatch):
    run, made = evaluate
    results = run(drawn_rows=0)
    assert "both_sides" not in results and "annealed" in results and made == [s for s in STAGES if s != "both_sides"]
    assert "both_sides" in run(drawn_rows=3)
    drawn = []
    monkeypatch.undo()
    monkeypatch.setattr(ds.likelihood, "sandwich", lambda model, rows, **_: drawn.append(rows) or {}["stop"])
    model = types.SimpleNamespace(generative=types.SimpleNamespace(layers=[]))
    for number in (None, 3):
        settings = SETTINGS | ANNEALING | {"drawn_rows": number, "proposal_learning_rate": 0.1}
        with pytest.raises(KeyError, match="stop"):
            table_annealing.both_sides(model, "rws", settings, 30)
    assert drawn == [2, 3]
