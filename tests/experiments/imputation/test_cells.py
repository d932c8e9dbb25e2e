"""Tables, imputers, cells that resume, and the page that is made of them."""

import itertools
import json
import os
import sys

import numpy as np
import pandas
import pytest

from experiments.common import files, marked_page
from experiments.common import public_tables as tables
from experiments.imputation import __main__ as command
from experiments.imputation import cell, coverage, page
from experiments.imputation.coded import coded, one_hot, restored, standardised, with_gaps
from experiments.imputation.imputers import IMPUTERS, OWN, VARIANTS

FRAME = pandas.DataFrame(
    {
        "number": np.arange(30.0),
        "count": pandas.array(np.arange(30) // 2, dtype="Int64"),
        "state": pandas.Categorical(np.arange(30) // 10),
    }
)
MISSING = np.random.default_rng(0).random((30, 3)) < 0.3
QUICK = ["--table", "iris", "--imputer", "SimpleImputer", "observed values", "--mechanism", "MCAR", "MAR"]


def test_a_table_in_codes_and_back():
    gaps = with_gaps(FRAME, MISSING)
    assert (gaps.dtypes == FRAME.dtypes).all() and (gaps.isna().to_numpy() == MISSING).all()
    table = coded(gaps)
    assert table.states.tolist() == [0, 0, 3] and table.whole.tolist() == [False, True, False]
    np.testing.assert_array_equal(np.isnan(table.values), MISSING)
    matrix = standardised(table)
    np.testing.assert_allclose([np.nanmean(matrix, 0), np.nanstd(matrix, 0)], [[0] * 3, [1] * 3], atol=1e-12)
    np.testing.assert_allclose(restored(standardised(coded(FRAME)), coded(FRAME)), coded(FRAME).values)
    assert set(restored(np.where(MISSING, 0.4, matrix), table)[:, 2]) == {0, 1, 2}
    hot, places = one_hot(table)
    assert [len(each) for each in places] == [1, 1, 3]
    np.testing.assert_array_equal(hot[~MISSING[:, 2]][:, 2:].argmax(1), table.values[~MISSING[:, 2], 2])


@pytest.mark.parametrize("name", [name for name in IMPUTERS if not name.startswith(OWN)])
def test_imputers_leave_what_is_observed_and_fill_the_rest(name):
    if name == "miceforest":
        pytest.importorskip("miceforest")
    table = coded(with_gaps(FRAME, MISSING))
    found = IMPUTERS[name](with_gaps(FRAME, MISSING), 3, 0)
    values = found.expected[np.newaxis] if found.draws is None else found.draws
    assert len(values) == (1 if found.draws is None else 3)
    numbers = ~MISSING[:, :2]
    assert all((np.abs(each[:, :2] - table.values[:, :2])[numbers] < 1e-9).all() for each in values)
    assert np.isfinite(values[:, :, :2]).all()
    if found.draws is not None:
        assert set(np.unique(found.draws[:, :, 2])) <= {0, 1, 2} and (found.draws[:, :, 1] % 1 == 0).all()
    votes = found.votes[2]
    assert votes.shape == (30, 3) and np.ptp(votes.sum(1)) < 1e-9


def test_what_is_not_installed_is_left_out_unless_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "miceforest", None)
    monkeypatch.setitem(sys.modules, "statsmodels", None)
    assert set(IMPUTERS) - set(command.parse([]).imputer) == {*VARIANTS, "miceforest"}
    assert set(tables.TABLES) - set(tables.names()) == {*"anes96 ccard fair star98 randhie modechoice".split()}
    with pytest.raises(ImportError):
        IMPUTERS["miceforest"](with_gaps(FRAME, MISSING), 2, 0)


@pytest.mark.parametrize("name", [name for name in tables.names() if name != "adult" or "TFDSMCMC_DATA" in os.environ])
def test_tables_are_complete_and_of_numbers_and_states(name):
    frame = tables.load(name)
    table = coded(frame)
    assert np.isfinite(table.values).all() and frame.columns.is_unique
    assert 50 < len(frame) <= tables.ROWS and 4 <= frame.shape[1] <= 12 and (np.ptp(table.values, 0) > 0).all()
    again = coded(tables.load(name))
    np.testing.assert_array_equal(again.values, table.values)


def test_unknown_tables_are_refused():
    with pytest.raises(ValueError, match="Received: 'none'$"):
        tables.load("none")


def test_cells_resume(tmp_path, monkeypatch):
    """What is finished is not run again; a line that was cut off is."""
    options, path = [*QUICK, "--output", str(tmp_path)], tmp_path / "cells.jsonl"
    command.main(options)
    lines = path.read_text().splitlines()
    assert [json.loads(each)["imputer"] for each in lines] == 2 * ["SimpleImputer", "observed values"]
    asked = []
    real = cell.run
    monkeypatch.setattr(cell, "run", lambda *key: asked.append(key[1:]) or real(*key))
    command.main(options)
    assert not asked and path.read_text().splitlines() == lines
    path.write_text("\n".join(lines)[:-20])
    command.main(options)
    assert asked == [("iris", "MAR", 0.3, 0, "observed values")]
    without = [{**json.loads(each), "seconds": 0} for each in (lines[-1], path.read_text().splitlines()[-1])]
    assert without[0] == without[1]


def test_cells_go_on_record_once(tmp_path, capsys):
    options, kept = [*QUICK, "--output", str(tmp_path)], tmp_path / "record.jsonl"
    command.main(options)
    for _ in range(2):
        command.main([*options, "--record", str(kept)])
        assert len(kept.read_text().splitlines()) == 4
    command.main(["--from", str(kept)])
    said = capsys.readouterr().out
    assert "Seeds: 1. Missing: 30 %." in said and "| tables with ours | 0 | 0 |" in said and "| cells | 2 | 2 |" in said


def lines_of(values):
    """Of two tables of a cell each: {imputer: (CRPS of the one, of the other)}."""
    for imputer, found in values.items():
        for name, value in zip("ab", found):
            yield {"table": name, "mechanism": "MAR", "rate": 0.3, "seed": 0, "imputer": imputer, "crps": value}


def test_ranks_and_ratios_stand_beside_ours():
    """Geometric means of ratios over the cells of both, ranks over those of all, and who is ahead."""
    lines = list(lines_of({OWN: (0.5, 0.5), "miceforest": (0.25, 1.0), "observed values": (0.25, 0.25)}))
    found, (places, count) = page.beside(lines, "crps"), page.ranks(lines, "crps")
    assert count == 2 and places == {"observed values": 1.25, OWN: 2.5, "miceforest": 2.25}
    assert found["miceforest"] == pytest.approx((1, np.log(2), 2))
    assert found["observed values"] == pytest.approx((0.5, 0, 2))
    said = page.page(lines)
    assert "CRPS: ahead of ours by more than two errors: observed values." in said
    assert "log-loss: none is ahead" in said and "| b | **0.250** | 0.500 | 1.000 |" in said
    found, (_, count) = page.beside(lines[:-1], "crps"), page.ranks(lines[:-1], "crps")
    assert count == 1 and found["observed values"][2] == 1 and found["miceforest"][2] == 2
    assert "observed values" not in page.means(lines[:-1], "crps")
    without = [line for line in lines if (line["imputer"], line["table"]) != (OWN, "b")]
    assert page.means(without, "crps")["miceforest"][0] == 0.25


def test_skewed_columns_that_were_told_stand_beside_the_defaults():
    """Cells of both alone, and a variant is no imputer of the other tables."""
    lines = [{**line, "rmse": 2 * line["crps"]} for line in lines_of({OWN: (0.5, 0.75), page.SKEWED: (0.25,)})]
    said = page.page(lines)
    assert "| a | MAR | 0.3 | 0 | 0.500 | 0.250 | 1.000 | 0.500 |" in said
    assert "| b | MAR | 0.3 | 0 |" not in said and said.count(page.SKEWED) == 0
    assert "told to be such" not in page.page(list(lines_of({OWN: (0.5, 0.75)})))


def test_a_page_needs_a_record():
    with pytest.raises(SystemExit, match="Received: --page"):
        command.main(["--page", "page.md"])


def test_the_page_is_what_the_records_make(request):
    docs = request.config.rootpath / "docs"
    text = (docs / "imputation.md").read_text(encoding="utf-8")
    for module, made, name in ((command, page.page, ""), (coverage, coverage.summary, "_coverage")):
        made = made(files.lines(docs / f"imputation{name}.jsonl"))
        assert marked_page.with_made(text, made, module.COMMAND) == text


def test_means_are_the_same_in_any_order():
    """Three values whose mean is half way between two printed ones."""
    values = {("a", i): value for i, value in enumerate([0.6653, 0.56083, 0.52737])}
    found = {page.over_tables(dict(order))[0] for order in itertools.permutations(values.items())}
    assert len(found) == 1


@pytest.mark.slow
def test_our_imputer_fills_a_cell():
    line = cell.run(tables.load("iris"), "iris", "MCAR", 0.3, 0, OWN)
    guess = cell.run(tables.load("iris"), "iris", "MCAR", 0.3, 0, "observed values")
    assert line["crps"] < 0.7 * guess["crps"] and line["log_loss"] < guess["log_loss"]
