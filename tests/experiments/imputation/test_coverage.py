"""Simulated regressions: their truth, and tables of coverage that resume."""

import numpy as np
import pytest

from experiments.common import files
from experiments.imputation import coverage
from experiments.imputation.designs import DESIGNS, regression


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_have_the_coefficients_that_they_name(name):
    """Of whole tables, within six standard errors; complete rows of "linear" are biased, as gaps depend on y."""
    design = DESIGNS[name]
    gaps, whole = design.draw(np.random.default_rng(3), 20_000)
    found, variances, freedom = regression(whole, design)
    truth = np.array(list(design.truth.values()))
    assert (np.abs(found - truth) < 6 * np.sqrt(variances)).all() and freedom == 19_997
    assert 0.2 < gaps.isna().any(axis=1).mean() < 0.6
    np.testing.assert_array_equal(gaps.dropna().to_numpy(), whole.loc[gaps.dropna().index].to_numpy())
    if name == "linear":
        found, variances, _ = regression(gaps.dropna(), design)
        assert (truth - found > 6 * np.sqrt(variances)).any()


def test_regressions_have_the_standard_errors_of_scipy():
    import scipy.stats

    _, whole = DESIGNS["linear"].draw(np.random.default_rng(0), 50)
    found, variances, freedom = regression(whole, DESIGNS["linear"]._replace(predictors=("x_1",)))
    known = scipy.stats.linregress(whole["x_1"], whole["y"])
    np.testing.assert_allclose([found[0], variances[0] ** 0.5, freedom], [known.slope, known.stderr, 48])


def test_tables_resume_and_make_a_summary(tmp_path, monkeypatch, capsys):
    options = ["--imputer", "observed values", "--rows", "60", "--output", str(tmp_path), "--repetitions"]
    coverage.main([*options, "2"])
    asked, real = [], coverage.line
    monkeypatch.setattr(coverage, "line", lambda *key: asked.append(key) or real(*key))
    coverage.main([*options, "3"])
    assert len(asked) == 6 and {key[2] for key in asked} == {2}
    assert len(files.lines(tmp_path / "tables.jsonl")) == 18
    kept = tmp_path / "record.jsonl"
    assert coverage.summary([]) == "No tables are on record yet.\n"
    coverage.main(["--output", str(tmp_path), "--record", str(kept)])
    coverage.main(["--from", str(kept)])
    said = capsys.readouterr().out
    assert said.count("| observed values | 3 |") == 4 and "**mixed**" in said


def test_intervals_of_whole_tables_cover(tmp_path):
    """95 in 100 of 100 tables, within five standard errors."""
    for name in DESIGNS:
        cover = [coverage.line(name, 100, seed, "whole table")["cover"] for seed in range(100)]
        assert (np.abs(np.mean(cover, 0) - 0.95) < 5 * np.sqrt(0.95 * 0.05 / 100)).all()
