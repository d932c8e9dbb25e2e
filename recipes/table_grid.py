"""The table of a data set at a glance: architectures down, methods across, what each has reached in each cell.

Of several rows with a method and an architecture the one that is worth most on validation data stands for them.
"""

import math

from table_methods import METHODS
from table_text import architecture_of, as_published, number, papers_of, table

_NOTE = (
    "At a glance: nats a test row and the minutes of learning, a part of a busy core; in brackets the paper's figure "
    "of the method. Annealed; where marked † by importance samples, of the weights that validation data prefer. Of "
    "several rows the best by validation data; bold where it is no worse than the best published figure of the "
    "architecture. Errors, bounds from the other side and all else are in the table below."
)


def grid_of(rows):
    """The lines of the table and an empty one; none for fewer than two methods.

    Args:
      rows: list of dicts of one data set, see `recipes/table.py`.
    """
    cells = {}
    for row in sorted(rows, key=_validated):
        if worth(row)[0] is not None:
            cells[architecture_of(row), row["method"]] = row  # the best comes last
    methods = [method for method in METHODS if any(of == method for _, of in cells)]
    if len(methods) < 2:
        return []
    names = list(dict.fromkeys(name for name, _ in sorted(cells, key=_place)))
    lines = [_line(name, [cells.get((name, method)) for method in methods]) for name in names]
    header = ["architecture", *(f"`{method}`" for method in methods), "best published"]
    return [_NOTE, "", *table(header, lines), ""]


def worth(row):
    """(the figure that stands for a row, whether it is annealed or exact): None for a row that diverged.

    The annealed one where there is one; of a network without latent layers the predictive average, which is exact; else
    that of the weights that validation data prefer.
    """
    found = row["log_likelihood"]
    if row.get("annealed"):
        return row["annealed"]["value"], True
    exact = found.get("predictive")
    if exact and exact["standard_error"] == 0.0:
        return exact["value"], True
    known = {name: value for name, value in row.get("valid", {}).items() if value is not None}
    name = max(known, key=known.get, default="last")
    figure = found.get(name, {})
    return figure.get("value"), figure.get("standard_error") == 0.0


def _validated(row):
    """What validation data say of the weights that a row is about."""
    values = row.get("valid") or {"last": row["curve"][-1]["valid"] if row.get("curve") else None}
    return max(-math.inf if value is None else value for value in values.values())


def _place(cell):
    """The architectures in the order of the papers' tables: by kind, then by depth and size."""
    kinds = ("SBN", "DARN", "NADE", "VAE")
    kind = cell[0].split("/")[0].split(" ")[0]
    return kinds.index(kind) if kind in kinds else len(kinds), len(cell[0]), cell[0]


def _line(name, rows):
    row = next(row for row in rows if row is not None)
    known = [figure for figure in papers_of(row) if figure is not None]
    best = max(known, key=lambda figure: float(figure.log_likelihood), default=None)
    return [name, *(_cell(row, best) for row in rows), as_published(best, row["dataset"])]


def _cell(row, best):
    if row is None:
        return ""
    value, annealed = worth(row)
    text = number(value)
    if best is not None and value >= float(best.log_likelihood):
        text = f"**{text}**"
    own, _ = papers_of(row)
    paper = "" if own is None else f" [{own.log_likelihood.replace('-', '−')}]"
    return f"{text}{'' if annealed else '†'}, {row['wall_time_seconds'] / 60:.0f} min{paper}"
