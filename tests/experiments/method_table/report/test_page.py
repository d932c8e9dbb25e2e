"""The page of results: made from the rows on record, and the same when it is made again; its curves."""

import json

import numpy as np
import pytest

from experiments.common import marked_page
from experiments.method_table import rows_file
from experiments.method_table.arguments import parse
from experiments.method_table.report import __main__ as report
from experiments.method_table.report import figures as table_figures
from experiments.method_table.report.curve import gain
from experiments.method_table.report.pages import page_of
from experiments.method_table.settings import settings_of


def row_of(tiny, seed=0, value=-40.0, climbs=False):
    args = parse([*tiny, "--dataset", "ocr_letters", "--seed", str(seed)])
    names = ("value", "standard_error", "row_standard_error", "effective_sample_size")
    curve = [
        {"updates": 10 * t, "rows": 200 * t, "seconds": 6.0 * t, "valid": value - climbs * 2.0 / t**0.5, "test": value}
        for t in range(1, 11)
    ]
    return {
        "method": "rws",
        "architecture": "SBN/SBN 200",
        "dataset": "ocr_letters",
        "settings": settings_of("rws", args),
        "updates": 100,
        "wall_time_seconds": 60.0,
        "curve": curve,
        "log_likelihood": {"last": dict(zip(names, (value, 0.1, 0.2, 5.0)))},
    }


@pytest.fixture
def docs(tmp_path):
    """A page with text by hand around the markers, and the function that makes it."""
    page, record = tmp_path / "results.md", tmp_path / "results.jsonl"
    begin, end = marked_page.markers(report.COMMAND)
    page.write_text(f"By hand.\n\n{begin}\nold\n{end}\n\nAlso by hand.\n")

    def make(*files):
        report.main([*map(str, files), "--page", str(page), "--record", str(record)])
        return page.read_text()

    return page, record, make


def test_a_sampler_says_where_it_has_the_papers_settings(tiny):
    """Rows that differ in this are of one method."""
    for words, text in (([], ""), (["--as-published"], ", as published"), (["--published-prior"], ", papers' prior")):
        args = parse([*tiny, *words])
        row = {"method": "dsgnht_nais", "settings": settings_of("dsgnht_nais", args)}
        lines = page_of("tiny", [row_of(tiny, climbs=True) | row, row_of(tiny)])
        for start in ("| `dsgnht_nais`{} | SBN/SBN 200 | 0 |", "- `dsgnht_nais`{}, SBN/SBN 200, seed 0: twice"):
            assert any(line.startswith(start.format(text)) for line in lines)
        assert any(f"†, 1 min{text} [−37.5] | " in line for line in lines)  # at a glance


def test_the_page_is_made_from_the_record_and_stays_when_made_again(tiny, docs, tmp_path):
    page, record, make = docs
    empty = make()
    assert not record.exists() and empty.startswith("By hand.\n") and empty.endswith("\n\nAlso by hand.\n")
    assert "old" not in empty and "Pólya-Gamma Gibbs" in empty and "`rws`" not in empty
    assert "−94.30 " in empty and "\n### adult" not in empty  # every digit of the source; no data set without rows

    table = tmp_path / "out.jsonl"
    rows = [row_of(tiny), row_of(tiny, seed=1, value=-35.0)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = make(table)
    assert "| `rws` | SBN/SBN 200 | 1 | 100 | 1.0 | −35.00 ± 0.20 (0.10; 5 of 30) |" in made
    times = page.stat().st_mtime_ns, record.stat().st_mtime_ns
    assert make(table) == make() == made and (page.stat().st_mtime_ns, record.stat().st_mtime_ns) == times
    assert len(rows_file.finished(record)) == 2

    table.write_text(json.dumps(row_of(tiny, value=-1.0)) + "\n")
    assert make(table) == made  # what is on record stays


def test_the_page_of_the_project_is_what_its_record_makes(request):
    docs = request.config.rootpath / "docs"
    rows, _ = report.recorded(docs / "results.jsonl", [])
    text = (docs / "results.md").read_text()
    made = report.tables(rows)
    assert marked_page.with_made(text, made, report.COMMAND) == text


def test_what_cannot_be_a_page_is_refused_before_any_file_is_touched(docs, tmp_path):
    page, record, make = docs
    with pytest.raises(ValueError, match="Received: .*nothing.jsonl"):
        make(tmp_path / "nothing.jsonl")
    page.write_text("no markers")
    with pytest.raises(ValueError, match="Received: a page without"):
        make()
    assert page.read_text() == "no markers" and not record.exists()


def test_a_row_that_still_climbs_is_labelled(tiny):
    """Its curve is a − 2/√t nats in minutes t: twice ten minutes add 2 (1 − 2^(−½))/√10 = 0.185."""
    flat, climbing = row_of(tiny), row_of(tiny, climbs=True)
    nats, error = gain(climbing["curve"])
    np.testing.assert_allclose(nats, 2 * (1 - 2**-0.5) / 10**0.5, rtol=1e-6)
    assert error < 1e-6 and gain(flat["curve"]) is None
    falling = [{**point, "valid": -40.0 - point["seconds"]} for point in flat["curve"]]
    assert gain(falling) is None and gain(falling[:3]) is None
    noise = 0.5 * np.array([1, -1, -1, 1, -1, 1, 1, -1, -1, 1])
    noisy = [{**point, "valid": -40.0 + e} for point, e in zip(flat["curve"], noise)]
    assert gain(noisy) is None
    lines = "\n".join(page_of("tiny", [flat, climbing]))
    assert lines.count("twice the minutes would add") == 1 and "add 0.19 ± 0.00, the last weights be at −39.81" in lines
    assert "extrapolated, not measured" in lines and "−40.63 after 1.0" in lines


def test_long_lists_are_folded_and_short_ones_are_not(tiny):
    rows = [row_of(tiny, seed, climbs=True) for seed in range(9)]
    lines = page_of("tiny", rows)
    assert lines.count("<details>") == lines.count("</details>") == 3
    for head in ("All rows", "The command of each row", "Still climbing"):
        place = next(i for i, line in enumerate(lines) if head in line)
        assert lines[place - 1 : place] == ["<details>"] and lines[place + 1] == ""  # Markdown begins after it
    assert not any(line.startswith("<") for line in page_of("tiny", rows[:8]))


def test_curves_are_drawn_against_seconds_and_rows(tiny, tmp_path, capsys):
    rows = [row_of(tiny, seed) for seed in (0, 1)]
    rows[1]["curve"][0]["seconds"] = 0.0  # which a logarithmic axis has not
    figure = table_figures.curves(rows)
    for axes, name in zip(figure.axes, ("seconds", "rows"), strict=True):
        for line, row in zip(axes.lines, rows, strict=True):
            points = row["curve"][row["curve"][0][name] == 0 :]
            np.testing.assert_allclose(line.get_xdata(), [point[name] for point in points])
            np.testing.assert_allclose(line.get_ydata(), [point["test"] for point in points])
    (tmp_path / "a.jsonl").write_text(json.dumps(rows[0]) + "\n")
    wanted = ["--dataset", "ocr_letters", "--output", str(tmp_path / "a.png"), "--architecture"]
    table_figures.main([str(tmp_path / "a.jsonl"), *wanted, "SBN/SBN 200"])
    assert (tmp_path / "a.png").stat().st_size > 1000
    with pytest.raises(ValueError, match="Received: ocr_letters, SBN 2"):
        table_figures.main([str(tmp_path / "a.jsonl"), *wanted, "SBN 2"])
