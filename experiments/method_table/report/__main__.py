"""The published tables of docs/results.md, ours beside them, made from the rows on record.

    python -m experiments.method_table.report runs/table/*/results.jsonl

adds the rows of these files to docs/results.jsonl, and makes what stands between the two markers of docs/results.md
from it; without files it makes the page alone. What is outside the markers is written by hand and stays. Of rows with
the same method, architecture and settings the one on record stays.
"""

import pathlib

from experiments.common import files, marked_page
from experiments.common.arguments import parser_of
from experiments.method_table import rows_file
from experiments.method_table.report import pages

COMMAND = "experiments.method_table.report"
_TITLES = {  # of the data sets of the papers' rows; others come in with rows of ours
    "binarized_mnist": "Fixed binarized MNIST",
    "caltech101_silhouettes_28": "Caltech 101 silhouettes, 28 × 28",
    "ocr_letters": "OCR letters",
    "mnist": "MNIST, binarized anew for each row",
    "omniglot": "Omniglot, 28 × 28",
}


def recorded(record, paths):
    """The rows on record and in the files, and whether the files have new ones."""
    rows = rows_file.finished(record)
    before = len(rows)
    for file in paths:
        if not file.exists():
            raise ValueError(f"A table leaves its rows in results.jsonl. Received: {file}, which is not there")
        for key, row in rows_file.finished(file).items():
            rows.setdefault(key, row)
    return list(rows.values()), len(rows) > before


def tables(rows):
    """What stands between the markers."""
    names = [*_TITLES, *sorted({row["dataset"] for row in rows} - _TITLES.keys())]
    lines = []
    for name in names:
        of_dataset = [row for row in rows if row["dataset"] == name]
        lines += [f"### {_TITLES.get(name, name)}", "", *pages.page_of(name, of_dataset), ""]
    return "\n".join(lines)


def main(arguments=None):
    docs = pathlib.Path(__file__).parents[3] / "docs"
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="results.jsonl of tables")
    parser.add_argument("--page", type=pathlib.Path, default=docs / "results.md")
    parser.add_argument("--record", type=pathlib.Path, default=docs / "results.jsonl")
    args = parser.parse_args(arguments)
    rows, new = recorded(args.record, args.files)
    page = marked_page.with_made(args.page.read_text(encoding="utf-8"), tables(rows), COMMAND)
    if new:
        files.write_lines(args.record, rows)
    files.write_text(args.page, page)


if __name__ == "__main__":
    main()
