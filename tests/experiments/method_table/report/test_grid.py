"""The table at a glance: which row stands for a cell, what of it, and how it is marked."""

import pytest

from experiments.method_table.arguments import parse
from experiments.method_table.report.grid import grid_of
from experiments.method_table.settings import settings_of

EXACT = {"standard_error": 0.0}


def row_of(tiny, method="rws", architecture="SBN/SBN 200", seed=0, look=-40.0, found=None, **more):
    """A row of the letters with three minutes; figures are numbers, or pairs of a number and what differs of it."""
    args = parse([*tiny, "--dataset", "ocr_letters", "--seed", str(seed)])
    figures = {"last": -41.0} if found is None else found
    pairs = {name: value if isinstance(value, tuple) else (value, {}) for name, value in figures.items()}
    usual = {"standard_error": 0.3, "row_standard_error": 0.4}
    return {
        "method": method,
        "architecture": architecture,
        "dataset": "ocr_letters",
        "settings": settings_of(method if method != "unknown" else "rws", args),
        "wall_time_seconds": 180.0,
        "curve": [{"valid": -1.0, "seconds": 1.0}, {"valid": look, "seconds": 180.0}],
        "log_likelihood": {name: {"value": value, **usual, **differs} for name, (value, differs) in pairs.items()},
        **more,
    }


@pytest.fixture
def cells(tiny):
    """The function (rows) → {(architecture, method): cell}, of what is said of each row."""

    def of(*rows):
        lines = grid_of([row_of(tiny, **row) for row in rows])
        table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
        if not table:
            return {}
        header, _, *body = table
        names = [name.strip("`") for name in header[1:]]
        return {(line[0], name): cell for line in body for name, cell in zip(names, line[1:], strict=True)}

    return of


OTHER = {"method": "nvil"}
PLACE = "SBN/SBN 200", "rws"


def test_one_method_makes_no_table(cells):
    assert cells() == cells({}, {"seed": 1}) == cells({}, {"method": "unknown", "architecture": "RBM 5"}) == {}
    diverged = {"method": "nvil", "failed": "diverged", "found": {}}
    assert cells({}, diverged) == cells({}, {**diverged, "annealed": {"value": -30.0}}) == {}


def test_a_cell_is_of_the_row_that_is_best_on_validation_data(cells):
    """Not of the one that is best on test data; what is known of the weights goes before the looks."""
    rows = [
        {"look": -39.0, "found": {"last": -45.0}},
        {"seed": 1, "look": -40.0, "found": {"last": -35.0}},
        {"seed": 2, "look": None, "found": {"last": -30.0}},
        {"seed": 3, "look": -1.0, "found": {"last": -31.0}, "valid": {"best": None, "mean": -50.0}},
    ]
    for some in (rows, rows[::-1]):
        assert cells(*some, OTHER)[PLACE] == "−45.0 ± 0.5†, 3 min"
    rows[3]["valid"]["best"] = -38.0
    rows[3]["found"]["best"] = -33.0
    assert cells(*rows, OTHER)[PLACE] == "**−33.0 ± 0.5**†, 3 min"


def test_what_stands_for_a_row(cells):
    """The annealed figure; else that of the weights that validation data prefer, marked unless it is exact."""
    row = {"found": {"last": -41.0, "best": -38.0, "mean": -36.0, "predictive": -30.0}}
    assert cells(row, OTHER)[PLACE] == "−41.0 ± 0.5†, 3 min"
    row["valid"] = {"best": -37.0, "mean": -39.0}
    assert cells(row, OTHER)[PLACE] == "−38.0 ± 0.5†, 3 min"
    row["valid"]["best"] = None
    assert cells(row, OTHER)[PLACE] == "**−36.0 ± 0.5**†, 3 min"
    row["annealed"] = {"value": None}
    assert cells(row, OTHER)[PLACE] == "**−36.0 ± 0.5**†, 3 min"
    row["annealed"] = {"value": -37.0, "row_standard_error": 0.4, "difference_error": 1.2, "standard_error": 0.3}
    assert cells({**row, "wall_time_seconds": 20.0}, OTHER)[PLACE] == "−37.0 ± 1.3, 0.3 min"
    plain = {"architecture": "NADE", "found": {"last": (-29.0, EXACT), "predictive": (-28.0, EXACT)}}
    assert cells(plain, {**plain, "method": "nvil"})["NADE, 3 hidden units", "rws"] == "−28.0 ± 0.4, 3 min"


def test_published_figures_stand_beside_ours(cells):
    """−37.5 of DSGHMC-AIS is the best of the letters' SBN 200, which another method than ours may have."""
    rows = [{"method": "dsgnht_nais", "found": {"last": -36.9}}, {"method": "dsgnht_gibbs", "found": {"last": -37.1}}]
    found = cells(*rows)
    assert found["SBN/SBN 200", "best published"].startswith("−37.5 DSGHMC-AIS [")
    assert found["SBN/SBN 200", "dsgnht_nais"] == "**−36.9 ± 0.5**†, 3 min [−37.5]"
    assert found["SBN/SBN 200", "dsgnht_gibbs"] == "−37.1 ± 0.5†, 3 min [−42.2]"


def test_architectures_stand_in_the_order_of_the_papers_tables(cells):
    names = "SBN/SBN 200, SBN/SBN 1000-1000, SBN/SBN 10-10-10, DARN/DARN 200, NADE, NADE/NADE 200, VAE 50, RBM 5"
    names = names.split(", ")
    found = cells(*({"architecture": name} for name in reversed(names)), OTHER)
    assert [name.split(",")[0] for name, method in found if method == "rws"] == names
    assert found["DARN/DARN 200", "nvil"] == ""
