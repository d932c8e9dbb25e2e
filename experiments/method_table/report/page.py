"""The page of a table's finished rows, and published figures beside them."""

from experiments.common.markdown import table
from experiments.common.published import PUBLISHED
from experiments.method_table.report import estimates, published, tables
from experiments.method_table.settings import command_of


def page_of(dataset, rows):
    """The lines of a data set: its finished rows beside the papers' figures, and these figures.

    Args:
      dataset: name.
      rows: list of dicts, see `experiments.method_table`.
    """
    lines = []
    if rows:
        lines += [tables.NOTE, "", *tables.highest_of(rows), "", "Each method:", "", *tables.each_method(rows), ""]
        climbing = tables.climbing(rows)
        lines += [tables.NOTE_OF_CLIMBING, "", *climbing, ""] if climbing else []
        lines += [estimates.NOTE, ""]
        each = [line for row in rows for line in tables.estimate_lines(row)]
        lines += [*table(tables.OF_ROW + tables.ESTIMATES, each), *tables.notes_of(rows)]
        lines += ["", "The command of each row:", "", *(f"    {command_of(row)}" for row in rows), ""]
    return lines + (published.lines_of(dataset) if dataset in PUBLISHED else [])
