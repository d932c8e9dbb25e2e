"""The pages of results, made from the records of a folder.

    python -m experiments.report docs
    python -m experiments.report docs --quick
    python -m experiments.report docs --add runs/table/*/results.jsonl

makes FOLDER/results/: index.md, a page for each data set, all_rows.md, published.md, and their pictures. Records are
the files of JSON lines in the folder, of which each may be missing. What stands outside the two markers of a page is
written by hand and stays. With --add the rows of these files go to results.jsonl first; of rows with the same method,
architecture and settings the one on record stays. With --quick no picture is drawn.
"""

import pathlib

import tfdsmcmc as ds
from experiments.common import files, marked_page
from experiments.common.arguments import parser_of
from experiments.report import all_rows, dataset_page, equal_time, index_page, pictures, published_page
from experiments.report.records import add, only_published, read

COMMAND = "experiments.report"


def made(records):
    """What stands between the markers of each page: a dict from its name to a text."""
    pages = {"index": index_page.page(records), "all_rows": all_rows.page(records)}
    pages |= {name: dataset_page.page(name, records.of(name)) for name in records.datasets()}
    if only_published(records):
        pages["published"] = published_page.page(only_published(records))
    return {name: "\n".join(lines) + "\n" for name, lines in pages.items()}


def drawn(records):
    """The pictures of the pages: a dict from the name of each to a figure."""
    found = {}
    for name in records.datasets():
        rows = records.of(name).results
        if rows:
            found |= {name: pictures.reached(rows), f"{name}_curves": pictures.curves(rows)}
    comparisons = equal_time.comparisons(records.budget)
    return found | ({"equal_time": pictures.equal_time(comparisons)} if comparisons else {})


def page_with(path, text):
    """The page of a file with this text between its markers; the markers alone where there is no file."""
    empty = "\n".join([*marked_page.markers(COMMAND), ""])
    page = path.read_text(encoding="utf-8") if path.exists() else empty
    return marked_page.with_made(page, text, COMMAND)


def main(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of the records, such as docs")
    parser.add_argument("--add", nargs="+", type=pathlib.Path, default=[], help="results.jsonl of tables")
    parser.add_argument("--quick", action="store_true", help="draw no picture")
    args = parser.parse_args(arguments)
    if args.add:
        add(args.folder, args.add)
    records, folder = read(args.folder), args.folder / "results"
    pages = {folder / f"{name}.md": text for name, text in made(records).items()}
    pages = {path: page_with(path, text) for path, text in pages.items()}  # all, before any is written
    folder.mkdir(exist_ok=True)
    for path, text in pages.items():
        files.write_text(path, text)
    for name, figure in ({} if args.quick else drawn(records)).items():
        ds.plots.save(figure, folder / f"{name}.png")
    print(f"{len(pages)} pages in {folder}")


if __name__ == "__main__":
    main()
