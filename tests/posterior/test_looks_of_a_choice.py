"""How many rows and draws of the weights are looked at to choose an average."""

from types import SimpleNamespace

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import X, unfitted, written
from tfdsmcmc.posterior import choice, looks
from tfdsmcmc.rows import ArraySource, rows_of
from tfdsmcmc.supports import Binary


def looks_of(monkeypatch, values, posterior, source):
    """[(average, draws of each component, importance samples, rows)] of the looks of a choice, their seeds, and the
    choice; the log-likelihoods of rows are values(average, the rows' values)."""
    told, seeds = [], []

    def noted(components, rows, samples, seed, batch_size, warn):
        assert rows.num_rows % batch_size == 0
        told.append((components._average, components.draws, samples, rows.num_rows))
        seeds.append(tuple(np.array(seed)))
        return SimpleNamespace(value=values(components._average, rows.all().values))

    monkeypatch.setattr(looks, "predictive_log_likelihood", noted)
    return told, seeds, choice.choose(posterior, unfitted(), source)


def rows(count):
    return ArraySource(rows_of("x", np.resize(X, (count, 4)), 4, Binary()))


def level(average, x):
    return np.zeros(len(x))


def products(model):
    return looks._products_of_a_row(model)


def test_all_samples_are_looked_at_and_share_the_importance_samples(tmp_path, monkeypatch):
    told, _, found = looks_of(monkeypatch, level, written(tmp_path, (0, 1) * 25), rows(600))
    assert told == [("weights", [25, 25], 100, 500), ("units", [25, 25], 100, 500), ("draws", [1] * 50, 4, 500)]
    assert found.num_rows == 500


@pytest.mark.parametrize(("draws", "of_these", "each"), [(60, 60, 1), (40, 40, 2), (110, 100, 1)])
def test_each_average_has_as_many_importance_samples(tmp_path, monkeypatch, draws, of_these, each):
    """No draw has none, and however many there are they have no more in all: more are less biased."""
    told, _, _ = looks_of(monkeypatch, level, written(tmp_path, (0,) * draws), rows(50))
    assert told == [
        ("weights", [draws], of_these * each, 50),
        ("units", [draws], of_these * each, 50),
        ("draws", [1] * of_these, each, 50),
    ]


@pytest.mark.parametrize("limit", ["_ALL", "_HELD"])
def test_units_are_averaged_over_fewer_draws_where_all_would_take_too_long_or_too_much_memory(
    tmp_path, monkeypatch, limit
):
    """Of chains of 30 and of 20 draws 25 and 20, evenly spaced; at least ten."""
    posterior = written(tmp_path, (0,) * 30 + (1,) * 20)
    weights = sum(part.size for part in posterior.samples[0].theta)
    one_draw = {"_ALL": 50 * 2 * 100 * weights, "_HELD": weights}[limit]
    for affordable, each in ((25, [25, 20]), (2, [10, 10])):
        monkeypatch.setattr(looks, limit, float(affordable * one_draw))
        told, _, _ = looks_of(monkeypatch, level, posterior, rows(60))
        assert [look[1] for look in told] == [[30, 20], each, [1] * 50]


def test_what_an_average_by_units_costs():
    """Of a DARN W and b of both layers and the upper lateral kernel for each z, not the lower one."""
    assert products(ds.models.from_name("DARN/DARN 3", 5)) == 100 * ((3 + 3 * 3) + (3 * 5 + 5))
    assert products(ds.models.from_name("SBN/SBN 3", 5)) == 100 * (3 + 3 * 5 + 5)


def test_networks_without_latent_layers_have_no_z_to_repeat_their_products_for():
    model = ds.models.from_name("DARN", 5)
    assert products(model) == sum(np.prod(weight.shape) for weight in model.generative.trainable_variables)


@pytest.mark.parametrize("name", ["SBN/SBN 3", "DARN/DARN 3"])
def test_frozen_layers_cost_as_much(name):
    model = ds.models.from_name(name, 5)
    before = products(model)
    model.generative.layers[-1].trainable = False
    assert products(model) == before


@pytest.mark.parametrize(("there", "looked_at"), [(1, 1), (49, 49), (99, 99), (130, 130), (499, 495), (2000, 500)])
def test_batches_are_whole(tmp_path, monkeypatch, there, looked_at):
    """To the last look, where it is left open which average is best."""

    def values(average, x):
        return (average == "units") * 9.0 * (-1) ** np.arange(len(x))

    told, _, found = looks_of(monkeypatch, values, written(tmp_path, (0, 0, 1)), rows(there))
    assert [look[-1] for look in told] == [looked_at] * 3 and found.num_rows == looked_at


@pytest.mark.parametrize(
    ("ahead", "spread", "all_rows", "chosen"),
    [
        (0.0, 0.1, 50, "weights"),  # no look is worth what may be ahead
        (0.0, 0.25, 200, "weights"),  # two errors of 100 rows are 0.0503
        (-1.0, 1.0, 50, "weights"),
        (2.0, 1.0, 50, "units"),
        (0.5, 4.0, 400, "units"),  # below two errors of 50 to 200 rows
        (0.0, 4.0, 500, "weights"),
    ],
)
def test_rows_double_until_no_other_average_may_be_ahead(tmp_path, monkeypatch, ahead, spread, all_rows, chosen):
    """Of the rows of each look half are in favour, half against."""
    posterior = written(tmp_path, (0,) * 20)
    for_each = 20 * products(unfitted())
    monkeypatch.setattr(looks, "_FIRST", 50.0 * for_each)
    monkeypatch.setattr(looks, "_ALL", 600.0 * for_each)

    def values(average, x):
        favour = ahead + spread * (-1) ** np.arange(len(x))
        return {"weights": 0 * favour, "units": favour, "draws": 0 * favour - 9}[average]

    told, seeds, found = looks_of(monkeypatch, values, posterior, rows(500))
    counts = [look[-1] for look in told if look[0] == "units"]
    assert counts == [50, 50, 100, 200, 100][: len(counts)]
    assert found.num_rows == sum(counts) == all_rows and found.average == chosen
    assert len(set(seeds)) == len(counts), "averages have the same draws, looks have not"


def test_rows_of_the_first_look_stand_all_over_the_source(tmp_path, monkeypatch):
    """Of 1,000 rows in order, 50 of each half are 25 ± 3.4: a z-test at 10⁻⁶."""
    monkeypatch.setattr(looks, "_FIRST", 1.0)
    sides, seen = np.repeat(np.eye(2, 4, dtype=np.float32), 500, 0), []

    def values(average, x):
        seen.append(x[:, 0].sum())
        return level(average, x)

    source = ArraySource(rows_of("x", sides, 4, Binary()))
    looks_of(monkeypatch, values, written(tmp_path, (0, 0, 1)), source)
    assert len(set(seen)) == 1 and abs(seen[0] - 25) < 4.9 * 3.4


def test_looks_end_with_the_time(tmp_path, monkeypatch):
    posterior = written(tmp_path, (0,) * 15 + (1,) * 5)
    for_each = 20 * products(unfitted())
    monkeypatch.setattr(looks, "_FIRST", 1.0)
    monkeypatch.setattr(looks, "_ALL", 130.0 * for_each)

    def values(average, x):
        return (average == "units") * (np.arange(len(x)) - (len(x) - 1) / 2)

    told, _, found = looks_of(monkeypatch, values, posterior, rows(500))
    assert [look[-1] for look in told if look[0] == "units"] == [65, 65] and found.num_rows == 130
