"""What stands for a row, and which row stands for a method with an architecture."""

import math
from typing import NamedTuple

from experiments.method_table import rows_file
from experiments.method_table.methods import METHODS
from experiments.method_table.report.text import architecture_of, papers_of

_KINDS = ("SBN", "DARN", "NADE", "VAE")


class Worth(NamedTuple):
    """What stands for a row.

    Attributes:
      value: nats a test row; None for a row that diverged.
      error: its standard error, over rows and of the estimate; None where that over rows is not known, as of one row.
      estimate: "annealing", "exact" or "importance sampling".
    """

    value: float | None
    error: float | None = 0.0
    estimate: str = ""


def worth(row):
    """`Worth` of a row: annealed, else exact, else by importance samples of the weights that validation data prefer."""
    found, annealed = row["log_likelihood"], row.get("annealed") or {}
    if "failed" in row:
        return Worth(None)
    if annealed.get("value") is not None:
        error = _together(annealed, "row_standard_error", "difference_error", "standard_error")
        return Worth(annealed["value"], error, "annealing")
    average = found.get("predictive")
    if average and average["standard_error"] == 0.0:
        return Worth(average["value"], average["row_standard_error"], "exact")
    known = {name: value for name, value in (row.get("valid") or {}).items() if value is not None}
    figure = found.get(max(known, key=known.get, default="last"))
    if figure is None:
        return Worth(None)
    error = _together(figure, "row_standard_error", "standard_error")
    return Worth(figure["value"], error, "exact" if figure["standard_error"] == 0.0 else "importance sampling")


def cells(rows):
    """What each method has reached with each architecture: a dict from (architecture, method) to a row.

    Of several rows the one that is worth most on validation data stands for them; of those that learnt with the same
    settings those with the most test rows alone. Architectures come in the order of the papers' tables, and the highest
    of their methods first.

    Args:
      rows: list of dicts of one data set, see `experiments.method_table`.
    """
    found = {}
    for row in sorted(_of_most_rows(rows), key=_validated):
        if row["method"] in METHODS and worth(row).value is not None:
            found[architecture_of(row), row["method"]] = row  # the best comes last
    return dict(sorted(found.items(), key=lambda cell: (_place(cell[0][0]), -worth(cell[1]).value)))


def highest(rows):
    """The row of each architecture that has the highest figure among the methods of `cells`: list of rows."""
    found = {}
    for (architecture, _), row in cells(rows).items():
        found.setdefault(architecture, row)
    return list(found.values())


def best_published(row):
    """The best figure that is published of the architecture of a row, by any method, or None."""
    known = [figure for figure in papers_of(row) if figure is not None]
    return max(known, key=lambda figure: float(figure.log_likelihood), default=None)


def exceeds(row):
    """Whether a row exceeds what is published of its architecture by more than its errors.

    None where nothing is published, or where the row has no error to judge it by.
    """
    best, (value, error, _) = best_published(row), worth(row)
    return None if best is None or error is None else value - error > float(best.log_likelihood)


def _together(figure, *names):
    """Independent errors as one: None without the first, which is over rows; another that is not known is left out."""
    if figure.get(names[0]) is None:
        return None
    return math.hypot(*(figure.get(name) or 0.0 for name in names))


def _of_most_rows(rows):
    """The rows without those that another one, learnt with the same settings, tells of more test rows."""
    most = {}
    for row in rows:
        key = _learnt(row)
        most[key] = max(most.get(key, 0), _tested(row))
    return [row for row in rows if _tested(row) == most[_learnt(row)]]


def _learnt(row):
    """A key of the method, the architecture and all settings on which learning depends."""
    return rows_file.key_of(row["method"], row["architecture"], rows_file.of_learning(row["settings"]))


def _tested(row):
    return row.get("estimator", {}).get("rows", 0)


def _validated(row):
    """What validation data say of the weights that a row is about."""
    values = row.get("valid") or {"last": row["curve"][-1]["valid"] if row.get("curve") else None}
    return max(-math.inf if value is None else value for value in values.values())


def _place(name):
    """The place of an architecture in the papers' tables: by kind, then by the number and the sizes of layers."""
    kind, _, sizes = name.split(",")[0].split("/")[-1].partition(" ")
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS), sizes.count("-"), len(sizes), name
