"""What stands for a row, which row stands for a method, and what exceeds what is published."""

import pytest

from experiments.method_table.report.worth import Worth, best_published, cells, exceeds, highest, worth

PLACE = "SBN/SBN 200", "rws"


@pytest.fixture
def found(row_of):
    """The function (rows) → {(architecture, method): value}, of what is said of each row."""
    return lambda *rows: {place: worth(row).value for place, row in cells([row_of(**row) for row in rows]).items()}


def test_rows_that_diverged_and_unknown_methods_stand_for_nothing(found):
    diverged = {"method": "nvil", "failed": "diverged", "found": {}}
    assert found() == {} and found({}, {"method": "unknown", "architecture": "RBM 5"}) == {PLACE: -41.0}
    assert found(diverged) == found({**diverged, "annealed": {"value": -30.0}}) == {}


def test_a_cell_is_of_the_row_that_is_best_on_validation_data(found):
    """Not of the one that is best on test data; what is known of the weights goes before the looks."""
    rows = [
        {"look": -39.0, "found": {"last": -45.0}},
        {"seed": 1, "look": -40.0, "found": {"last": -35.0}},
        {"seed": 2, "look": None, "found": {"last": -30.0}},
        {"seed": 3, "look": -1.0, "found": {"last": -31.0}, "valid": {"best": None, "mean": -50.0}},
    ]
    assert found(*rows) == found(*rows[::-1]) == {PLACE: -45.0}
    rows[3]["valid"]["best"] = -38.0
    rows[3]["found"]["best"] = -33.0
    assert found(*rows) == {PLACE: -33.0}


def test_of_rows_learnt_alike_that_with_the_most_test_rows_stands(found):
    """Whatever validation data say, as they say it of the same settings; rows of other settings are chosen by these."""
    few = {"look": -38.0, "estimator": {"rows": 500}, "found": {"last": -45.0}}
    many = {"look": -40.0, "estimator": {"rows": 2000}, "found": {"last": -44.0}}
    other = {"seed": 1, "look": -39.0, "estimator": {"rows": 5}, "found": {"last": -43.0}}
    assert found(few, many) == found(many, few) == {PLACE: -44.0}
    assert found(few, many, other) == {PLACE: -43.0} and found(few, other) == {PLACE: -45.0}


def test_what_stands_for_a_row(row_of):
    """The annealed figure; else an exact one; else that of the weights that validation data prefer."""
    row = row_of(found={"last": -41.0, "best": -38.0, "mean": -36.0, "predictive": -30.0})
    assert worth(row) == Worth(-41.0, 0.5, "importance sampling")
    row["valid"] = {"best": -37.0, "mean": -39.0}
    assert worth(row).value == -38.0
    row["valid"]["best"] = None
    row["annealed"] = {"value": None}
    assert worth(row).value == -36.0
    row["annealed"] = {"value": -37.0, "row_standard_error": 0.3, "difference_error": 1.2, "standard_error": 0.4}
    assert worth(row) == Worth(-37.0, 1.3, "annealing")
    exact = {"standard_error": 0.0}
    assert worth(row_of(found={"last": (-29.0, exact), "predictive": (-28.0, exact)})) == Worth(-28.0, 0.4, "exact")
    assert worth(row_of(found={"last": (-29.0, exact)})) == Worth(-29.0, 0.4, "exact")
    assert worth({**row, "failed": "diverged"}).value is None


def test_the_highest_method_stands_for_an_architecture(row_of):
    rows = [row_of("rws"), row_of("nvil", found={"last": -39.0}), row_of("nvil", "DARN/DARN 200")]
    assert [(row["architecture"], row["method"]) for row in highest(rows)] == [
        ("SBN/SBN 200", "nvil"),
        ("DARN/DARN 200", "nvil"),
    ]


def test_published_figures_are_exceeded_by_more_than_the_errors(row_of):
    """−37.5 of DSGHMC-AIS is the best of the letters' SBN 200, which another method than ours may have."""
    for method in ("dsgnht_nais", "dsgnht_gibbs"):
        assert best_published(row_of(method)).log_likelihood == "-37.5"
        assert exceeds(row_of(method, found={"last": -36.9})) and not exceeds(row_of(method, found={"last": -37.1}))
    other = row_of(architecture="SBN/SBN 7")
    assert best_published(other) is None and exceeds(other) is None


def test_a_row_without_an_error_over_rows_is_not_judged(row_of):
    """Of one test row; neither annealed nor exact nor by importance samples."""
    unknown = {"row_standard_error": None}
    annealed = {"value": -10.0, "difference_error": 0.1, "standard_error": 0.1, **unknown}
    for row in (
        row_of(found={"last": (-10.0, unknown)}),
        row_of(found={"last": (-10.0, unknown), "predictive": (-10.0, {"standard_error": 0.0, **unknown})}),
        row_of(annealed=annealed),
    ):
        assert worth(row)[:2] == (-10.0, None) and best_published(row) is not None and exceeds(row) is None


def test_architectures_stand_in_the_order_of_the_papers_tables(found):
    names = "SBN/SBN 200, SBN/SBN 1000-1000, SBN/SBN 10-10-10, DARN/DARN 200, NADE, NADE/NADE 200, VAE 50, RBM 5"
    names = names.split(", ")
    places = found(*({"architecture": name} for name in reversed(names)))
    assert [name.split(",")[0] for name, _ in places] == names and ("NADE, 3 hidden units", "rws") in places
