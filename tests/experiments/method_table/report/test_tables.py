"""Tables of rows: one figure a cell, its errors beside it, and what is published."""

import numpy as np

from experiments.common.published import PUBLISHED
from experiments.method_table.arguments import parse
from experiments.method_table.report import published, tables
from experiments.method_table.report.curve import gain
from experiments.method_table.report.page import page_of
from experiments.method_table.settings import settings_of

EXACT = {"standard_error": 0.0, "effective_sample_size": None}


def cells_of(lines):
    """The rows of a table, each a list of cells, without its head."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def curve(value, climbs):
    """Looks at ten minutes, of a − 2/√t nats where they climb."""
    return [
        {"updates": 10 * t, "rows": 200 * t, "seconds": 60.0 * t, "valid": value - climbs * 2.0 / t**0.5, "test": value}
        for t in range(1, 11)
    ]


def test_a_method_stands_beside_its_own_published_figure(row_of):
    rows = [row_of("dsgnht_nais", found={"last": -36.9}), row_of("dsgnht_gibbs", found={"last": -37.1})]
    assert cells_of(tables.each_method(rows)) == [
        ["SBN/SBN 200", "`dsgnht_nais`", "**−36.90**", "0.50", "importance sampling", "3.0", "−37.5"],
        ["SBN/SBN 200", "`dsgnht_gibbs`", "−37.10", "0.50", "importance sampling", "3.0", "−42.2"],
    ]
    rows.append(row_of(architecture="SBN/SBN 7"))
    assert cells_of(tables.highest_of(rows)) == [
        ["SBN/SBN 7", "`rws`", "−41.00", "0.50", "3.0", "–", ""],
        ["SBN/SBN 200", "`dsgnht_nais`", "**−36.90**", "0.50", "3.0", "−37.5", "DSGHMC-AIS"],
    ]


def test_a_sampler_says_where_it_has_the_papers_settings(tiny, row_of):
    """Rows that differ in this are of one method."""
    for words, text in (([], ""), (["--as-published"], ", as published"), (["--published-prior"], ", papers' prior")):
        settings = settings_of("dsgnht_nais", parse([*tiny, *words]))
        row = row_of("dsgnht_nais", settings=settings, curve=curve(-40.0, climbs=True))
        for table in (tables.each_method, tables.highest_of, tables.climbing):
            assert cells_of(table([row]))[0][1] == f"`dsgnht_nais`{text}"
        assert all(line[2] == f"`dsgnht_nais`{text}" for line in tables.estimate_lines(row))


def test_all_estimates_of_a_row_have_their_errors(row_of):
    def annealed(value, **more):
        errors = {"standard_error": 0.1, "row_standard_error": 0.2, "difference_error": 0.03}
        return {"value": value, **errors, "effective_sample_size": 4.9, "rows": 10.0, **more}

    found = {"last": (-49.125, {"row_standard_error": None}), "best": -48.5, "predictive": (-47.5, EXACT)}
    sides = {"gap": {"value": 0.08, "row_standard_error": 0.02}, "lower": annealed(-46.0)}
    row = row_of(found=found, annealed=annealed(-46.5, of="best"), both_sides=sides, estimator={"rows": 2000}, seed=7)
    row["annealed_predictive"] = annealed(-45.5, draws=8)
    row["settings"] |= {"annealing_runs": 5, "annealing_steps": 1000, "annealing_rows": 10}
    lines = tables.estimate_lines(row)
    assert all(line[:6] == ["ocr_letters", "SBN/SBN 200", "`rws`", 7, "100", "3.0"] for line in lines)
    assert [line[6:] for line in lines] == [
        ["last weights", "−49.12", "not finite", "", "0.30", "5.0", "30", "2,000", ""],
        ["best on validation", "−48.50", "0.40", "", "0.30", "5.0", "30", "2,000", ""],
        ["predictive average, exact", "−47.50", "0.40", "", "0.00", "", "", "2,000", ""],
        ["best on validation, annealed", "−46.50", "0.20", "0.03", "0.10", "4.9", "5", "10", "1,000"],
        ["predictive average of 8 draws, annealed", "−45.50", "0.20", "0.03", "0.10", "4.9", "5", "10", "1,000"],
        ["drawn rows, from below", "−46.00", "0.20", "", "0.10", "4.9", "", "10", ""],
        ["drawn rows, above less below", "0.08", "0.02", "", "", "", "", "10", ""],
    ]
    (line,) = tables.estimate_lines({**row, "failed": "diverged"})
    assert line[6] == "diverged" and len(line) == len(tables.OF_ROW + tables.ESTIMATES) and not any(line[7:])
    assert {len(line) for line in lines} == {len(tables.OF_ROW + tables.ESTIMATES)}


def test_methods_without_phi_are_marked(row_of):
    rows = [row_of(), row_of("dsgnht_gibbs")]
    assert [tables.estimate_lines(row)[0][2] for row in rows] == ["`rws`", "`dsgnht_gibbs` \\*"]
    assert tables.notes_of(rows)[1].startswith("\\* ") and tables.notes_of(rows[:1]) == []


def test_a_row_that_still_climbs_is_listed(row_of):
    """Its curve is a − 2/√t nats in minutes t: twice ten minutes add 2 (1 − 2^(−½))/√10 = 0.185."""
    flat, climbing = (row_of(curve=curve(-40.0, climbs), found={"last": -40.0}) for climbs in (False, True))
    nats, error = gain(climbing["curve"])
    np.testing.assert_allclose(nats, 2 * (1 - 2**-0.5) / 10**0.5, rtol=1e-6)
    assert error < 1e-6 and gain(flat["curve"]) is None
    falling = [{**point, "valid": -40.0 - point["seconds"]} for point in flat["curve"]]
    assert gain(falling) is None and gain(falling[:3]) is None
    noise = 0.5 * np.array([1, -1, -1, 1, -1, 1, 1, -1, -1, 1])
    noisy = [{**point, "valid": -40.0 + e} for point, e in zip(flat["curve"], noise)]
    assert gain(noisy) is None
    assert tables.climbing([flat]) == []
    assert cells_of(tables.climbing([flat, climbing])) == [
        ["SBN/SBN 200", "`rws`", "0", "3.0", "0.19", "0.00", "−39.81"]
    ]
    by_gibbs = {**climbing, "method": "dsgnht_gibbs"}  # whose importance samples are no measure of it
    assert cells_of(tables.climbing([by_gibbs]))[0][-1] == ""


def test_published_figures_have_their_sources():
    """Every digit of the source; the figures of a model stand together."""
    lines = published.lines_of("binarized_mnist")
    assert any(line.startswith("| SBN/SBN 200 | Pólya-Gamma Gibbs | −94.30 | harmonic mean, which") for line in lines)
    assert "| SBN/SBN 200 | RWS | −103.1 |  | 6 |" in lines
    source = next(f.source for f in PUBLISHED["binarized_mnist"] if f.log_likelihood == "-103.1")
    assert f"6. {source}" in lines and any(line.startswith("- The rows are not the same") for line in lines)
    models = [cells[0] for cells in cells_of([line for line in lines if line.startswith("|")])]
    assert len(models) == len(PUBLISHED["binarized_mnist"])
    assert all(models[: i + 1].count(model) == 1 or models[i - 1] == model for i, model in enumerate(models))


def test_the_page_of_a_table_has_all_of_them(row_of):
    lines = page_of("ocr_letters", [row_of(curve=curve(-40.0, climbs=True)), row_of("nvil", failed="diverged")])
    text = "\n".join(lines)
    assert "    python -m experiments.method_table --dataset ocr_letters" in text and "| diverged |" in text
    assert tables.NOTE_OF_CLIMBING in lines and "| DARN |  | −39.30 |  | 2 |" in lines
    assert page_of("tiny", []) == []
