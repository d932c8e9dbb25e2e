"""The table of a data set at a glance: architectures down, methods across, what each has reached in each cell.

Of several rows with a method and an architecture the one that is worth most on validation data stands for them.
"""

import math
from typing import NamedTuple

from experiments.common.markdown import number, table
from experiments.method_table.methods import METHODS
from experiments.method_table.report.text import architecture_of, as_published, kind_of, papers_of

_NOTE = (
    "At a glance: nats a test row ± all of its errors, over rows and of the estimate, and the minutes of learning; in "
    "brackets what is published of the method, for DSGNHT of DSGHMC where that is all. Annealed, but without latent "
    "layers exact, the average over posterior samples where there are any; where marked †, by importance samples, of "
    "the weights that validation data prefer, or of the last where none were looked at. Of several rows the one that a "
    "look at validation data, an estimate too, has ahead. Bold is what exceeds the best published figure of the "
    "architecture by more than its errors."
)
_KINDS = ("SBN", "DARN", "NADE", "VAE")


class Worth(NamedTuple):
    """What stands for a row.

    Attributes:
      value: nats a test row; None for a row that diverged.
      error: its standard error, over rows and of the estimate.
      by_importance: whether it is an estimate by importance samples.
    """

    value: float | None
    error: float = 0.0
    by_importance: bool = False


def grid_of(rows):
    """The lines of the table and an empty one; none for fewer than two methods.

    Args:
      rows: list of dicts of one data set, see `experiments.method_table`.
    """
    cells = {}
    for row in sorted(rows, key=_validated):
        if row["method"] in METHODS and worth(row).value is not None:
            cells[architecture_of(row), row["method"]] = row  # the best comes last
    methods = [method for method in METHODS if any(of == method for _, of in cells)]
    if len(methods) < 2:
        return []
    names = list(dict.fromkeys(name for name, _ in sorted(cells, key=lambda cell: _place(cell[0]))))
    lines = [_line(name, [cells.get((name, method)) for method in methods]) for name in names]
    header = ["architecture", *(f"`{method}`" for method in methods), "best published"]
    return [_NOTE, "", *table(header, lines), ""]


def worth(row):
    """`Worth` of a row: annealed, else exact, else by importance samples of the weights that validation data prefer."""
    found, annealed = row["log_likelihood"], row.get("annealed") or {}
    if "failed" in row:
        return Worth(None)
    if annealed.get("value") is not None:
        return Worth(annealed["value"], _together(annealed, "row_standard_error", "difference_error", "standard_error"))
    average = found.get("predictive")
    if average and average["standard_error"] == 0.0:  # exact
        return Worth(average["value"], average["row_standard_error"])
    known = {name: value for name, value in (row.get("valid") or {}).items() if value is not None}
    figure = found.get(max(known, key=known.get, default="last"))
    if figure is None:
        return Worth(None)
    error = _together(figure, "row_standard_error", "standard_error")
    return Worth(figure["value"], error, figure["standard_error"] != 0.0)


def _together(figure, *names):
    """Independent errors as one; one that is not known is left out."""
    return math.hypot(*(figure.get(name) or 0.0 for name in names))


def _validated(row):
    """What validation data say of the weights that a row is about."""
    values = row.get("valid") or {"last": row["curve"][-1]["valid"] if row.get("curve") else None}
    return max(-math.inf if value is None else value for value in values.values())


def _place(name):
    """The architectures in the order of the papers' tables: by kind, then by the number and the sizes of layers."""
    kind, _, sizes = name.split(",")[0].split("/")[-1].partition(" ")
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS), sizes.count("-"), len(sizes), name


def _line(name, rows):
    row = next(row for row in rows if row is not None)
    known = [figure for figure in papers_of(row) if figure is not None]
    best = max(known, key=lambda figure: float(figure.log_likelihood), default=None)
    return [name, *(_cell(row, best) for row in rows), as_published(best, row["dataset"])]


def _cell(row, best):
    if row is None:
        return ""
    value, error, by_importance = worth(row)
    text = f"{number(value, 1)} ± {number(error, 1)}"
    if best is not None and value - error > float(best.log_likelihood):
        text = f"**{text}**"
    own, _ = papers_of(row)
    paper = "" if own is None else f" [{own.log_likelihood.replace('-', '−')}]"
    minutes = row["wall_time_seconds"] / 60
    return f"{text}{'†' if by_importance else ''}, {minutes:.{0 if minutes >= 1 else 1}f} min{kind_of(row)}{paper}"
