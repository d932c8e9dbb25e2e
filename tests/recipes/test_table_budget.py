"""What ends a row of the table recipe, and which weights it keeps: the callbacks, played by hand."""

import types

import numpy as np

import tfdsmcmc as ds


def play(budget, rounds, first=0):
    """Runs the callback as Keras would; returns the rounds after which validation is due."""
    budget.set_model(types.SimpleNamespace(stop_training=False))
    due = []
    for epoch in range(first, rounds):
        budget.on_epoch_begin(epoch)
        budget.on_epoch_end(epoch)
        due += [epoch + 1] * budget.validate
        if budget.model.stop_training:
            break
    return due


def clock(recipe, monkeypatch, seconds):
    """A clock that `seconds` pass between any two looks at."""
    now = [0.0]

    def monotonic():
        now[0] += seconds
        return now[0]

    monkeypatch.setattr(recipe.table_budget.time, "monotonic", monotonic)


def test_a_budget_of_rounds(recipe, tmp_path, monkeypatch):
    clock(recipe, monkeypatch, 1.0)
    collector = ds.posterior.Collector(tmp_path, num_samples=4, burn_in=0, every=1)
    budget = recipe.table_budget.Budget(tmp_path / "progress.json", 25, 1e9, collector)
    assert (collector.burn_in, collector.every) == (12, 3)
    due = play(budget, 25)
    assert due == [3, 5, 8, 10, 13, 15, 18, 20, 23, 25] and budget.model.stop_training
    assert collector.burn_in == 12 and budget.seconds == 25


def test_a_budget_of_minutes_goes_on_where_it_was(recipe, tmp_path, monkeypatch):
    clock(recipe, monkeypatch, 2.0)
    path = tmp_path / "progress.json"
    whole = recipe.table_budget.Budget(tmp_path / "whole.json", 100, 20.0)
    assert len(play(whole, 100)) == 10 and whole.burn_in == 5 and whole.seconds == 20

    first = recipe.table_budget.Budget(path, 100, 20.0)
    play(first, 7)
    first.on_epoch_begin(7)  # and then it is interrupted
    collector = ds.posterior.Collector(tmp_path, num_samples=5, burn_in=0, every=1)
    second = recipe.table_budget.Budget(path, 100, 20.0, collector)
    assert second.seconds == 14 and not second.over and (collector.burn_in, collector.every) == (5, 1)
    assert play(second, 100, first=7) == [8, 9, 10] and second.seconds == 20
    second.on_train_end()
    assert recipe.table_budget.Budget(path, 100, 20.0).over


def test_the_best_of_the_weights_is_kept(recipe, tmp_path):
    budget = types.SimpleNamespace(validate=True)

    def look(keeper, value, due=True):
        budget.validate = due
        estimate = types.SimpleNamespace(mean=lambda: value)
        weights = [np.full(2, value), np.array([1.0, value])]
        keeper.set_model(types.SimpleNamespace(log_likelihood=lambda x, k: estimate, get_weights=lambda: weights))
        keeper.on_epoch_end(0)

    keeper = recipe.table_budget.KeepBest(tmp_path / "best.npz", None, budget)
    for value, due in ((-3.0, True), (-1.0, False), (-2.0, True), (np.nan, True), (-2.5, True)):
        look(keeper, value, due)
    look(recipe.table_budget.KeepBest(tmp_path / "best.npz", None, budget), -2.2)
    with np.load(tmp_path / "best.npz") as kept:
        np.testing.assert_array_equal(kept["1"], [1.0, -2.0])
    assert [path.name for path in tmp_path.iterdir()] == ["best.npz"]
