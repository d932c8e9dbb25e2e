"""What longer runs on record are worth beside the best published figure of their architecture: docs/which_method.md.

    python -m experiments.method_table.report.beside --page docs/which_method.md
"""

import pathlib

from experiments.common import marked_page
from experiments.common.arguments import number as number_of
from experiments.common.arguments import parser_of
from experiments.common.markdown import number, table
from experiments.method_table import rows_file
from experiments.method_table.report.grid import validated, worth
from experiments.method_table.report.text import architecture_of, papers_of

COMMAND = "experiments.method_table.report.beside"
HEAD = ("data", "model", "method", "nats", "published", "by")


def table_of(rows, minutes):
    """A line for each data set and model: of the rows that learnt so long the one that validation data prefer.

    Args:
      rows: list of dicts, see `experiments.method_table`.
      minutes: the fewest that count.
    """
    best = {}
    for row in sorted(rows, key=validated):
        if row["wall_time_seconds"] >= 60 * minutes and worth(row).value is not None and published_of(row) is not None:
            best[row["dataset"], architecture_of(row)] = row
    return "\n".join([*table(HEAD, [_cells(*key, row) for key, row in sorted(best.items())]), ""])


def published_of(row):
    """The best published figure of the architecture, by whatever method; None for none."""
    known = [figure for figure in papers_of(row) if figure is not None]
    return max(known, key=lambda figure: float(figure.log_likelihood), default=None)


def _cells(dataset, name, row):
    value, error, by_importance = worth(row)
    published = published_of(row)
    nats = f"{number(value)} ± {number(error)}{'†' * by_importance}"
    figure = published.log_likelihood.replace("-", "−")
    return dataset, name.split(",")[0], f"`{row['method']}`", nats, figure, published.method or "–"


def main(arguments=None):
    docs = pathlib.Path(__file__).parents[3] / "docs"
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--page", type=pathlib.Path, help="the page that has the table; printed by default")
    parser.add_argument("--record", type=pathlib.Path, default=docs / "results.jsonl")
    parser.add_argument("--minutes", type=number_of(float), default=10.0, help="of learning, the fewest that count")
    args = parser.parse_args(arguments)
    marked_page.show(table_of(list(rows_file.finished(args.record).values()), args.minutes), args.page, COMMAND)


if __name__ == "__main__":
    main()
