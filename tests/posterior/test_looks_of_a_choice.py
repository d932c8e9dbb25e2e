"""How many rows and draws of the weights are looked at to choose an average."""

from types import SimpleNamespace

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import X, unfitted, written
from tfdsmcmc.posterior import choice
from tfdsmcmc.rows import ArraySource, rows_of
from tfdsmcmc.supports import Binary


def looks_of(monkeypatch, values, posterior, source):
    """[(average, components, draws of each, importance samples, rows)] of the looks of a choice, and the choice;
    the log-likelihoods of rows are values(average, the rows' values)."""
    looks = []

    def noted(components, rows, samples, seed, batch_size, warn):
        looks.append((components._average, len(components), components.draws, samples, rows.num_rows))
        return SimpleNamespace(value=values(components._average, rows.all().values))

    monkeypatch.setattr(choice, "predictive_log_likelihood", noted)
    found = choice.choose(posterior, unfitted(), source)
    return looks, found


def rows(count):
    return ArraySource(rows_of("x", np.resize(X, (count, 4)), 4, Binary()))


def level(average, x):
    return np.zeros(len(x))


def test_all_samples_are_looked_at_and_share_the_importance_samples(tmp_path, monkeypatch):
    looks, found = looks_of(monkeypatch, level, written(tmp_path, (0, 1) * 25), rows(600))
    assert looks == [
        ("weights", 2, [25, 25], 100, 500),
        ("units", 2, [25, 25], 100, 500),
        ("draws", 50, [1] * 50, 4, 500),
    ]
    assert found.num_rows == 500


@pytest.mark.parametrize("limit", ["_ALL", "_HELD"])
def test_units_are_averaged_over_fewer_draws_where_all_would_take_too_long_or_too_much_memory(
    tmp_path, monkeypatch, limit
):
    posterior = written(tmp_path, (0,) * 50)
    weights = sum(part.size for part in posterior.samples[0].theta)
    assert choice._products(unfitted()) == weights  # of an SBN each is multiplied with z
    one_draw = {"_ALL": 50 * 100 * weights, "_HELD": weights}[limit]
    monkeypatch.setattr(choice, limit, 25.0 * one_draw)
    looks, _ = looks_of(monkeypatch, level, posterior, rows(60))
    assert [look[2] for look in looks] == [[50], [25], [1] * 50]
    monkeypatch.setattr(choice, limit, 2.0 * one_draw)
    assert [look[2] for look in looks_of(monkeypatch, level, posterior, rows(60))[0]] == [[50], [10], [1] * 50]


def test_what_the_rows_themselves_are_multiplied_with_counts_once():
    """Of a DARN W and b of both layers and the upper lateral kernel, not the lower one."""
    model = ds.models.from_name("DARN/DARN 3", 5)
    assert choice._products(model) == (3 + 3 * 3) + (3 * 5 + 5)


@pytest.mark.parametrize(
    ("ahead", "spread", "all_rows", "chosen"),
    [
        (0.0, 0.1, 50, "weights"),  # no look is worth what may be ahead
        (-1.0, 1.0, 50, "weights"),
        (2.0, 1.0, 50, "units"),
        (0.5, 4.0, 400, "units"),  # below two errors of 50 to 200 rows
        (0.0, 4.0, 500, "weights"),
    ],
)
def test_rows_double_until_no_other_average_may_be_ahead(tmp_path, monkeypatch, ahead, spread, all_rows, chosen):
    """Of the rows of each look half are in favour, half against."""
    posterior = written(tmp_path, (0,) * 20)
    for_each = 100 * 20 * choice._products(unfitted())
    monkeypatch.setattr(choice, "_FIRST", 50.0 * for_each)
    monkeypatch.setattr(choice, "_ALL", 600.0 * for_each)

    def values(average, x):
        favour = ahead + spread * (-1) ** np.arange(len(x))
        return {"weights": 0 * favour, "units": favour, "draws": 0 * favour - 9}[average]

    looks, found = looks_of(monkeypatch, values, posterior, rows(500))
    counts = [look[-1] for look in looks if look[0] == "units"]
    assert counts == [50, 50, 100, 200, 100][: len(counts)]
    assert found.num_rows == sum(counts) == all_rows and found.average == chosen


def test_rows_of_the_first_look_stand_all_over_the_source(tmp_path, monkeypatch):
    """Of 500 rows in order, 50 of each half are 25 ± 3.4: a z-test at 10⁻⁶."""
    monkeypatch.setattr(choice, "_FIRST", 1.0)
    sides = np.repeat(np.eye(2, 4, dtype=np.float32), 250, 0)
    seen = []
    source = ArraySource(rows_of("x", sides, 4, Binary()))
    looks_of(
        monkeypatch,
        lambda average, x: seen.append(x[:, 0].sum()) or level(average, x),
        written(tmp_path, (0, 0, 1)),
        source,
    )
    assert len(set(seen)) == 1 and abs(seen[0] - 25) < 4.9 * 3.4


def test_looks_end_with_the_time(tmp_path, monkeypatch):
    posterior = written(tmp_path, (0,) * 20)
    for_each = 100 * 20 * choice._products(unfitted())
    monkeypatch.setattr(choice, "_FIRST", 1.0)
    monkeypatch.setattr(choice, "_ALL", 130.0 * for_each)

    def values(average, x):
        return (average == "units") * (np.arange(len(x)) - (len(x) - 1) / 2)

    looks, found = looks_of(monkeypatch, values, posterior, rows(500))
    assert [look[-1] for look in looks if look[0] == "units"] == [65, 65] and found.num_rows == 130
