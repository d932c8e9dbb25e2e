"""What ends a row of a table, and what is kept along the way: the callbacks, played by hand."""

import json
import math
import time
import types

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.method_table.budget import Budget
from experiments.method_table.looks import Looks
from experiments.method_table.validation import Validation


class _Run:
    """Notes when the climb ends."""

    def __init__(self):
        self.ended = 0

    def end_climb(self):
        self.ended += 1


def play(budget, rounds, first=0):
    """Runs the callback as Keras would; returns the rounds after which a look is due."""
    budget.set_model(types.SimpleNamespace(stop_training=False, run=_Run()))
    due = []
    for epoch in range(first, rounds):
        budget.on_epoch_begin(epoch)
        budget.on_epoch_end(epoch)
        due += [epoch + 1] * budget.validate
        if budget.model.stop_training:
            break
    return due


@pytest.fixture
def clock(monkeypatch):
    """A clock that a list of seconds, or the same, pass between any two looks at."""

    def start(seconds, then=None):
        now, looks = [0.0], [0]

        def monotonic():
            late = then is not None and now[0] >= then[0]
            now[0] += then[1] if late else seconds
            looks[0] += 1
            return now[0]

        monkeypatch.setattr(time, "monotonic", monotonic)

    return start


def collector_of(path, num_samples):
    return ds.posterior.Collector(path, num_samples=num_samples, burn_in=0, every=1)


def test_a_budget_of_rounds(tmp_path, clock):
    clock(1.0)
    collector = collector_of(tmp_path, 4)
    budget = Budget(tmp_path / "progress.json", 25, 1e9, collector)
    assert (collector.burn_in, collector.every) == (12, 1)
    due = play(budget, 25)
    assert due == [1, 2, 3, 5, 8, 10, 13, 15, 18, 20, 23, 25] and budget.model.stop_training
    assert (collector.burn_in, collector.every) == (12, 3) and budget.seconds == 25
    assert budget.model.run.ended == 1  # in whole rounds, whatever the warm start has planned


def test_half_of_the_minutes_is_sampling_though_its_rounds_take_longer(tmp_path, clock):
    """Of 100 rounds there is time for 10 of one second, and two samples then in the two of five seconds."""
    clock(1.0, then=(20.0, 5.0))
    collector = collector_of(tmp_path, 2)
    budget = Budget(tmp_path / "progress.json", 100, 20.0, collector)
    play(budget, 100)
    assert budget.seconds == 20 and budget.burn_in == 10 and budget.model.run.ended == 1
    assert (collector.burn_in, collector.every) == (10, 1)
    clock(1.0)
    collector = collector_of(tmp_path, 2)
    even = Budget(tmp_path / "even.json", 100, 20.0, collector)
    play(even, 100)
    assert (even.burn_in, even.model.run.ended) == (10, 1) and (collector.burn_in, collector.every) == (10, 5)
    longer = Budget(tmp_path / "longer.json", 100, 20.0, collector, share=0.8)
    play(longer, 100)
    assert (longer.burn_in, longer.model.run.ended) == (16, 1) and (collector.burn_in, collector.every) == (16, 2)
    assert Budget(tmp_path / "rounds.json", 100, 20.0, collector, share=0.8).burn_in == 80


def test_compiling_does_not_count_and_a_sampler_samples(tmp_path, clock):
    """The first round takes nine times as long as the others; then rounds that are longer than the budget."""
    looks = iter([0.0, 9.0, *np.repeat(np.arange(9.0, 30.0), 2)[1:]])
    clock(1.0)
    time.monotonic = lambda: next(looks)
    budget = Budget(tmp_path / "progress.json", 100, 8.0, collector_of(tmp_path, 2))
    play(budget, 100)
    assert budget.seconds == 8 and (budget.burn_in, budget.model.run.ended) == (4, 1)

    clock(7.0)
    late = Budget(tmp_path / "late.json", 100, 5.0, collector_of(tmp_path, 2))
    play(late, 100)  # two rounds of climbing, one of sampling
    assert late.seconds == 21 and (late.burn_in, late.collector.every) == (2, 1)
    one = Budget(tmp_path / "one.json", 1, 5.0)
    play(one, 1)
    one.on_train_end()
    assert one.seconds == 7 and one.model.stop_training


def test_a_budget_of_minutes_goes_on_where_it_was(tmp_path, clock):
    clock(2.0)
    path = tmp_path / "progress.json"
    whole = Budget(tmp_path / "whole.json", 100, 20.0)
    assert len(play(whole, 100)) == 10 and whole.burn_in == 5 and whole.seconds == 20

    first = Budget(path, 100, 20.0, collector_of(tmp_path, 2))
    play(first, 7)
    first.on_epoch_begin(7)  # and then it is interrupted
    collector = collector_of(tmp_path, 2)
    second = Budget(path, 100, 20.0, collector)
    assert second.seconds == 14 and not second.over and (collector.burn_in, collector.every) == (5, 2)
    # the eighth compiles, and counts as much as the ninth when that has been made
    assert play(second, 100, first=7) == [9, 10] and second.seconds == 20 and second.model.run.ended == 0
    second.on_train_end()
    assert Budget(path, 100, 20.0).over


def test_a_kill_before_the_first_timed_sample_is_on_account_leaves_samples_spread(tmp_path, clock):
    """Five rounds of burn-in; the sixth, the first of sampling, is backed up, and a kill comes before its account.

    Rounds 7 to 10 are left then, of which the seventh compiles for 50 seconds, and is not one to be timed by."""
    clock(2.0)
    path = tmp_path / "progress.json"
    first = Budget(path, 100, 20.0, collector_of(tmp_path, 2))
    play(first, 6)
    assert (first.burn_in, first.every) == (5, 2)
    collector = collector_of(tmp_path, 1)
    second = Budget(path, 100, 20.0, collector)
    assert (second.seconds, second.burn_in, collector.every) == (10, 5, 1)  # of five rounds
    times = iter([0.0, 50.0, *np.repeat(np.arange(50.0, 90.0, 2.0), 2)[1:]])
    time.monotonic = lambda: next(times)
    play(second, 8, first=6)
    assert second.seconds == 14 and collector.every == 1 + (20 - 14) // 2  # the eighth, and those left


def test_a_climb_is_told_what_its_weights_are_worth_until_it_has_ended():
    values, told = iter([-3.0, None, -2.0]), []
    run = types.SimpleNamespace(sampled=False, validated=told.append)
    validation = Validation(lambda model: next(values), 5)
    validation.set_model(types.SimpleNamespace(run=run))
    for epoch in range(30):
        run.sampled = epoch >= 16
        validation.on_epoch_end(epoch)
        assert len(told) == min(3, (epoch + 1) // 5)
    assert told == [-3.0, -math.inf, -2.0]


def test_looks_are_written_down_and_the_best_weights_kept(tmp_path):
    path, budget = tmp_path / "curve.json", types.SimpleNamespace(validate=True, seconds=0.0)

    def look(looks, value, updates, due=True):
        budget.validate, budget.seconds = due, float(updates)
        weights = [np.full(2, value), np.array([1.0, value])]
        model = types.SimpleNamespace(run=types.SimpleNamespace(steps=updates), value=value)
        model.get_weights = lambda: weights
        looks.set_model(model)
        looks.on_epoch_end(0)

    def looks_of():
        return Looks(path, budget, lambda model: {"valid": model.value}, 20, seconds=100.0, best=tmp_path / "best.npz")

    looks = looks_of()
    for number, (value, due) in enumerate(((-3.0, True), (-1.0, False), (-2.0, True), (None, True), (-2.5, True)), 1):
        look(looks, value, number, due)
    look(looks_of(), -2.2, 5)  # the round was interrupted and made again
    with np.load(tmp_path / "best.npz") as kept:
        np.testing.assert_array_equal(kept["1"], [1.0, -2.0])
    points = json.loads(path.read_text())
    assert [(p["updates"], p["valid"]) for p in points] == [(1, -3.0), (3, -2.0), (4, None), (5, -2.2)]
    assert points[1] == {"updates": 3, "rows": 60, "seconds": 103.0, "valid": -2.0}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.npz", "curve.json"]
