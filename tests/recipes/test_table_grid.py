"""The table at a glance: which row stands for a cell, what of it, and how it is marked."""

import pytest


def row_of(recipe, tiny, method="rws", architecture="SBN/SBN 200", seed=0, look=-40.0, found=None, **more):
    args = recipe.table_arguments.parse([*tiny, "--dataset", "ocr_letters", "--seed", str(seed)])
    figures = {"last": -41.0} if found is None else found
    return {
        "method": method,
        "architecture": architecture,
        "dataset": "ocr_letters",
        "settings": recipe.table_arguments.settings_of(method, args),
        "wall_time_seconds": 180.0,
        "curve": [{"valid": None, "seconds": 1.0}, {"valid": look, "seconds": 180.0}],
        "log_likelihood": {
            name: {"value": value, "standard_error": 0.0 if exact else 0.1}
            for name, (value, exact) in ((n, v if isinstance(v, tuple) else (v, False)) for n, v in figures.items())
        },
        **more,
    }


@pytest.fixture
def cells(recipe, tiny):
    """The function (rows) → {(architecture, method): cell}, of what is said of each row."""

    def of(*rows):
        lines = recipe.table_grid.grid_of([row_of(recipe, tiny, **row) for row in rows])
        table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
        if not table:
            return {}
        header, _, *body = table
        names = [name.strip("`") for name in header[1:]]
        return {(line[0], name): cell for line in body for name, cell in zip(names, line[1:], strict=True)}

    return of


OTHER = {"method": "nvil"}


def test_one_method_makes_no_table(cells):
    assert cells() == cells({}, {"seed": 1}) == {}
    assert cells({}, {"method": "nvil", "failed": "diverged", "found": {}}) == {}


def test_a_cell_is_of_the_row_that_is_best_on_validation_data(cells):
    """Not of the one that is best on test data."""
    rows = [
        {"look": -39.0, "found": {"last": -45.0}},
        {"seed": 1, "look": -40.0, "found": {"last": -35.0}},
        {"seed": 2, "look": None, "found": {"last": -30.0}},
    ]
    for some in (rows, rows[::-1]):
        assert cells(*some, OTHER)["SBN/SBN 200", "rws"] == "−45.00†, 3 min"


def test_what_stands_for_a_row(cells):
    """The annealed figure; else that of the weights that validation data prefer, marked unless it is exact."""
    row = {"method": "dsgnht_nais", "found": {"last": -41.0, "best": -38.0, "mean": -36.0}}
    place = "SBN/SBN 200", "dsgnht_nais"
    assert cells(row, OTHER)[place] == "−41.00†, 3 min [−37.5]"
    row["valid"] = {"best": -37.0, "mean": -39.0}
    assert cells(row, OTHER)[place] == "−38.00†, 3 min [−37.5]"
    row["valid"]["best"] = None
    assert cells(row, OTHER)[place] == "**−36.00**†, 3 min [−37.5]"
    row["annealed"] = {"value": -37.5}
    assert cells(row, OTHER)[place] == "**−37.50**, 3 min [−37.5]"
    assert cells(row, OTHER)["SBN/SBN 200", "best published"].startswith("−37.5 DSGHMC-AIS [")
    plain = {"architecture": "NADE", "found": {"last": (-29.0, True), "predictive": (-28.0, True)}}
    assert cells(plain, {**plain, "method": "dsgnht_nais"})["NADE, 3 hidden units", "rws"] == "−28.00, 3 min"


def test_architectures_stand_in_the_order_of_the_papers_tables(cells):
    names = ["NADE/NADE 200", "DARN/DARN 200", "SBN/SBN 200-200", "SBN/SBN 200"]
    found = cells(*({"architecture": name} for name in names), OTHER)
    assert [name.split(",")[0] for name, method in found if method == "rws"] == names[::-1]
    assert found["DARN/DARN 200", "nvil"] == ""
