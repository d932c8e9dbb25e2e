"""The pages of results: what the records make, the same when they are made again; what is refused."""

import pytest

from experiments.common import files, marked_page
from experiments.method_table import rows_file
from experiments.report import __main__ as report
from experiments.report.records import add, read

RECORDS = ("results", "budget", "study", "averages", "one_hot", "printed")


@pytest.fixture(scope="module")
def docs(pytestconfig):
    return pytestconfig.rootpath / "docs"


@pytest.fixture(scope="module")
def project(docs):
    """The records of the project, and the texts that they make."""
    records = read(docs)
    return records, report.made(records)


@pytest.fixture
def folder(docs, tmp_path):
    """A folder with some lines of each record of the project."""
    for name in RECORDS:
        (tmp_path / f"{name}.jsonl").write_text("".join((docs / f"{name}.jsonl").open().readlines()[:3]))
    return tmp_path


def test_the_pages_of_the_project_are_what_its_records_make(docs, project):
    records, made = project
    for name, text in made.items():
        path = docs / "results" / f"{name}.md"
        assert path.exists() and report.page_with(path, text) == path.read_text(encoding="utf-8"), name
    by_hand = {"archive"}
    assert {path.stem for path in (docs / "results").glob("*.md")} == set(made) | by_hand


def test_the_pictures_of_the_project_are_those_of_its_pages(docs, project):
    records, made = project
    named = {f"{name}.png" for name in report.drawn(records)}
    assert {path.name for path in (docs / "results").glob("*.png")} == named
    assert all(any(f"]({name})" in text for text in made.values()) for name in named)


def test_every_record_is_on_the_page_of_all_rows(docs, project):
    records, made = project
    lines = made["all_rows"].splitlines()
    for name in RECORDS:
        count = len(files.lines(docs / f"{name}.jsonl"))
        found = {int(line.split("|")[2]) for line in lines if line.startswith(f"| {name} |")}
        assert count == len(getattr(records, name)) and found == set(range(1, count + 1))
    assert len({line.count("|") for line in lines if line.startswith("| ")}) == 1


def test_a_cell_has_one_figure(project):
    """An error stands in a column of its own."""
    for name, text in project[1].items():
        assert not [line for line in text.splitlines() if line.startswith("|") and "±" in line], name


def test_a_short_run_makes_pages_alone_and_what_is_by_hand_stays(folder, capsys):
    report.main([str(folder), "--quick"])
    results = folder / "results"
    names = {path.name for path in results.iterdir()}
    assert {"index.md", "all_rows.md", "published.md", "binarized_mnist.md", "adult.md"} <= names
    assert not any(name.endswith(".png") for name in names) and f"{len(names)} pages" in capsys.readouterr().out
    page = results / "adult.md"
    page.write_text("By hand.\n" + page.read_text().replace("Adult", "old") + "\nAlso by hand.\n")
    report.main([str(folder), "--quick"])
    text = page.read_text()
    assert text.startswith("By hand.\n") and text.endswith("\nAlso by hand.\n") and "old" not in text
    times = page.stat().st_mtime_ns
    report.main([str(folder), "--quick"])
    assert page.stat().st_mtime_ns == times


def test_pictures_are_drawn(folder):
    report.main([str(folder)])
    text = (folder / "results" / "binarized_mnist.md").read_text()
    for name in ("binarized_mnist.png", "binarized_mnist_curves.png", "equal_time.png"):
        assert (folder / "results" / name).stat().st_size > 5000
    assert "(binarized_mnist.png)" in text and "(binarized_mnist_curves.png)" in text


def test_rows_of_tables_are_added_once(folder, docs):
    record, table = folder / "results.jsonl", folder / "table.jsonl"
    rows = files.lines(docs / "results.jsonl")[2:5]
    rows[0]["updates"] = 7  # of a row on record, which stays
    files.write_lines(table, rows)
    for _ in range(2):
        report.main([str(folder), "--quick", "--add", str(table)])
        found = list(rows_file.finished(record).values())
        assert len(found) == 5 and 7 not in [row["updates"] for row in found]
    assert "| results | 5 |" in (folder / "results" / "all_rows.md").read_text()


def test_a_folder_may_have_one_record_alone(folder):
    for name in RECORDS[1:]:
        (folder / f"{name}.jsonl").unlink()
    assert set(report.made(read(folder))) == {"index", "all_rows", "published", *read(folder).datasets()}


def test_what_is_no_record_is_refused_before_anything_is_written(folder, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="at least one of results.jsonl, .*Received: .*empty, which has none"):
        report.main([str(tmp_path / "empty")])
    with pytest.raises(ValueError, match="Received: .*nothing.jsonl, which is not there"):
        add(folder, [tmp_path / "nothing.jsonl"])
    with pytest.raises(SystemExit):
        report.main([])
    with pytest.raises(SystemExit):
        report.main([str(folder), "--slow"])
    assert "--slow" in capsys.readouterr().err
    files.append(folder / "budget.jsonl", {"name": "a", "dataset": "digits"})
    with pytest.raises(ValueError, match="A line of budget.jsonl has .*'rows'.* Received: "):
        report.main([str(folder)])
    assert not (folder / "results").exists()


def test_a_page_without_markers_is_refused_before_any_is_written(folder):
    (folder / "results").mkdir()
    (folder / "results" / "index.md").write_text("no markers")
    with pytest.raises(ValueError, match="Received: a page without"):
        report.main([str(folder), "--quick"])
    assert [path.name for path in (folder / "results").iterdir()] == ["index.md"]


def test_a_marked_page_of_an_empty_file_has_the_text_alone(tmp_path):
    begin, end = marked_page.markers(report.COMMAND)
    assert report.page_with(tmp_path / "new.md", "text\n") == f"{begin}\n\ntext\n\n{end}\n"
