"""The published tables of docs/results.md, ours beside them, made from the rows on record.

    python recipes/results_page.py runs/table/*/results.jsonl

adds the rows of these files to docs/results.jsonl, and makes what stands between the two markers of docs/results.md
from it; without files it makes the page alone. What is outside the markers is written by hand and stays. Of rows with
the same method, architecture and settings the one on record stays.
"""

import argparse
import json
import pathlib

import marked_page
import table_file
import table_pages

RECIPE = "results_page.py"
_TITLES = {  # of the data sets of the papers' rows; others come in with rows of ours
    "binarized_mnist": "Fixed binarized MNIST",
    "caltech101_silhouettes_28": "Caltech 101 silhouettes, 28 × 28",
    "ocr_letters": "OCR letters",
    "mnist": "MNIST, binarized anew for each row",
    "omniglot": "Omniglot, 28 × 28",
}


def recorded(record, files):
    """The rows on record and in the files, and whether the files have new ones."""
    rows = table_file.finished(record)
    before = len(rows)
    for file in files:
        if not file.exists():
            raise ValueError(f"A table leaves its rows in results.jsonl. Received: {file}, which is not there")
        for key, row in table_file.finished(file).items():
            rows.setdefault(key, row)
    return list(rows.values()), len(rows) > before


def tables(rows):
    """What stands between the markers."""
    names = [*_TITLES, *sorted({row["dataset"] for row in rows} - _TITLES.keys())]
    lines = []
    for name in names:
        of_dataset = [row for row in rows if row["dataset"] == name]
        lines += [f"### {_TITLES.get(name, name)}", "", *table_pages.page_of(name, of_dataset), ""]
    return "\n".join(lines)


def main(arguments=None):
    docs = pathlib.Path(__file__).parent.parent / "docs"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="results.jsonl of tables")
    parser.add_argument("--page", type=pathlib.Path, default=docs / "results.md")
    parser.add_argument("--record", type=pathlib.Path, default=docs / "results.jsonl")
    args = parser.parse_args(arguments)
    rows, new = recorded(args.record, args.files)
    page = marked_page.with_made(args.page.read_text(encoding="utf-8"), tables(rows), RECIPE)
    if new:
        marked_page.write(args.record, "".join(json.dumps(row) + "\n" for row in rows))
    marked_page.write(args.page, page)


if __name__ == "__main__":
    main()
