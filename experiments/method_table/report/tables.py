"""Tables of finished rows: one figure a cell, its error in a column of its own."""

from experiments.common.markdown import cell, number, table
from experiments.method_table.methods import GIBBS, phi_apart
from experiments.method_table.report.curve import gain
from experiments.method_table.report.estimates import estimates_of
from experiments.method_table.report.text import architecture_of, kind_of, minutes_of, papers_of
from experiments.method_table.report.worth import best_published, cells, exceeds, highest, worth

HIGHEST = ("architecture", "method", "nats a test row", "error", "minutes", "best published", "by")
EACH = ("architecture", "method", "nats a test row", "error", "estimate", "minutes", "published of the method")
OF_ROW = ("data", "architecture", "method", "seed", "updates", "minutes")
ESTIMATES = (
    "estimate",
    "nats a row",
    "error over rows",
    "carried",
    "Monte Carlo error",
    "effective",
    "of samples",
    "rows",
    "steps",
)
_CLIMBING = ("architecture", "method", "seed", "minutes", "twice the time adds", "error", "last weights then")
NOTE = (
    "Errors are standard errors, over test rows and of the estimate together. Figures are annealed, else exact, else "
    "by importance samples of the weights that validation data prefer. Of several rows of a method the one that "
    "validation data prefer stands for it. Bold exceeds the best published figure of the architecture by more than "
    "its error; lower bounds are such figures too."
)
NOTE_OF_CLIMBING = (
    "These rows still climbed on validation rows when their time was over. What twice the time would add is "
    "extrapolated, not measured."
)
_NOTE_OF_GIBBS = (
    "\\* φ was fitted after learning, to the last weights and then to the others; annealing begins at the prior."
)


def highest_of(rows):
    """The table of each architecture's highest method beside the best published figure."""
    return table(HIGHEST, [[architecture_of(row), *highest_cells(row)] for row in highest(rows)])


def highest_cells(row):
    """Method, figure, error, minutes, the best published figure and its method: cells of a row."""
    value, error, _ = worth(row)
    best = best_published(row)
    published = ["–", ""] if best is None else [minus(best.log_likelihood), best.method]
    return [f"`{row['method']}`{kind_of(row)}", _bold(row, value), _known(error), minutes_of(row), *published]


def each_method(rows):
    """The table of what each method has reached with each architecture."""
    lines = []
    for (architecture, method), row in cells(rows).items():
        (value, error, estimate), (own, _) = worth(row), papers_of(row)
        figures = _bold(row, value), _known(error), estimate, minutes_of(row)
        published = "–" if own is None else minus(own.log_likelihood)
        lines.append([architecture, f"`{method}`{kind_of(row)}", *figures, published])
    return table(EACH, lines)


def estimate_lines(row):
    """The cells of all estimates of a row, under `OF_ROW` and `ESTIMATES`; one line for a row that diverged."""
    if "failed" in row:
        return [[*_about(row), row["failed"], *[""] * (len(ESTIMATES) - 1)]]
    return [[*_about(row), *_cells(estimate)] for estimate in estimates_of(row)]


def notes_of(rows):
    """The notes that the method column of some rows calls for."""
    return ["", _NOTE_OF_GIBBS] if any(_marked(row) for row in rows) else []


def climbing(rows):
    """The table of rows that still climbed when their time was over, by extrapolation; no lines where none did."""
    found = [(row, gain(row.get("curve", []))) for row in rows]
    lines = [_climbing(row, *gained) for row, gained in found if gained is not None]
    return table(_CLIMBING, lines) if lines else []


def minus(text):
    """A number of a source, with every digit that it has there."""
    return text.replace("-", "−")


def _bold(row, value):
    return f"**{number(value)}**" if exceeds(row) else number(value)


def _known(error):
    return "" if error is None else number(error)


def _about(row):
    mark = " \\*" if _marked(row) else ""
    updates = f"{row['updates']:,}" if "updates" in row else ""
    method, seed = f"`{row['method']}`{kind_of(row)}{mark}", row["settings"]["seed"]
    return [row["dataset"], architecture_of(row), method, seed, updates, minutes_of(row)]


def _marked(row):
    return phi_apart(row["method"], row["settings"])


def _cells(estimate):
    figures = [number(estimate.value), number(estimate.error), cell(estimate.carried), cell(estimate.monte_carlo)]
    rows, steps = (f"{count:,}" if count else "" for count in (estimate.rows, estimate.steps))
    return [estimate.of, *figures, cell(estimate.effective, 1), estimate.samples, rows, steps]


def _climbing(row, nats, error):
    last = row["log_likelihood"]["last"]["value"]
    # by importance sampling, which is no measure of what Gibbs sampling has learnt: there the curve is of annealing
    known = last is not None and row["method"] not in GIBBS
    about = architecture_of(row), f"`{row['method']}`{kind_of(row)}", row["settings"]["seed"], minutes_of(row)
    return [*about, number(nats), number(error), number(last + nats) if known else ""]
