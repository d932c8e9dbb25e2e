"""Tables of finished rows and of published figures in Markdown."""

from experiments.common.markdown import number, table
from experiments.common.published import CONFLICTS, PUBLISHED, sources_of
from experiments.method_table.methods import GIBBS, phi_apart
from experiments.method_table.report.curve import gain
from experiments.method_table.report.grid import grid_of
from experiments.method_table.report.text import architecture_of, as_published, kind_of, papers_of
from experiments.method_table.settings import command_of

_HEADER = (
    "method",
    "architecture",
    "seed",
    "updates",
    "minutes",
    "last weights",
    "best on validation",
    "mean of samples",
    "predictive average",
    "annealed",
    "annealed predictive",
    "bounds apart",
    "paper's",
    "best of others",
)
_FOLDED = 8  # at most so many are shown unfolded
_ALL = "All rows, with their estimates and errors"
_COMMANDS = "The command of each row, in the order of the table of all rows"
_STILL_CLIMBING = "Still climbing when the budget ended (extrapolated, not measured)"
_NOTE = (
    "Nats a test row ± error over the rows; in brackets the Monte Carlo error, and the effective of K importance "
    "samples, which understate a figure, the more the fewer are effective. *Best on validation* are the weights of the "
    "best of thirteen looks at validation data (`rws_published`, in two phases, of 26; of a sampler they may be of its "
    "climb), *mean of samples* that of the "
    "posterior samples of the weights, with φ fitted to it again. *Annealed* is the estimate from below by annealed "
    "importance sampling, of whichever of these two validation data prefer, on some rows, carried over to all by the "
    "difference to importance sampling there; ± the error of that difference, in brackets the Monte Carlo error and "
    "the effective of the runs; *annealed predictive* is that of the predictive average over some of the posterior "
    "samples. *Bounds apart*: on rows that the model draws, how "
    "far the bound from above (reverse annealing) lies above the bound from below, and in brackets above importance "
    "sampling. *Paper's* is the best published estimate of the method on the architecture, *best of others* that of "
    "any other method, with the number of its source."
)
_NOTE_OF_GIBBS = (
    "\\* φ did not learn beside the weights, but was fitted to the last ones, then to the others; annealing begins at "
    "the prior."
)


def page_of(dataset, rows):
    """The lines of a data set: its finished rows beside the papers' figures, and these figures.

    Args:
      dataset: name.
      rows: list of dicts, see `experiments.method_table`.
    """
    lines = []
    if rows:
        lines += [*grid_of(rows), _NOTE, "", *_folded(_ALL, table(_HEADER, [_cells(row) for row in rows]), len(rows))]
        if any(_marked(row) for row in rows):
            lines += ["", _NOTE_OF_GIBBS]
        lines += ["", *_folded(_COMMANDS, [f"    {command_of(row)}" for row in rows])]
        climbing = list(filter(None, map(_climbing, rows)))
        if climbing:
            lines += ["", *_folded(_STILL_CLIMBING, climbing)]
    if dataset in PUBLISHED:
        lines += [""] * bool(rows) + _published(dataset)
    return lines


def _folded(head, lines, count=None):
    """Lines below their head, which a reader unfolds where they are many."""
    if (len(lines) if count is None else count) <= _FOLDED:
        return [f"{head}:", "", *lines]
    return ["<details>", f"<summary>{head}</summary>", "", *lines, "", "</details>"]


def _cells(row):
    found = row["log_likelihood"]
    if "failed" in row:
        return [*_name(row), "–", "–", row["failed"], *["–"] * 8]
    settings = row["settings"]
    samples = f"{settings['test_samples']:,}"
    return [
        *_name(row),
        f"{row['updates']:,}",
        f"{row['wall_time_seconds'] / 60:.1f}",
        _figure(found.get("last"), samples),
        _figure(found.get("best"), samples),
        _figure(found.get("mean"), samples),
        _figure(
            found.get("predictive"), f"{row.get('posterior_samples')} × {max(1, settings['test_samples'] // 10):,}"
        ),
        _annealed(row.get("annealed"), settings),
        _annealed(row.get("annealed_predictive"), settings),
        _apart(row.get("both_sides")),
        *(as_published(figure, row["dataset"]) for figure in papers_of(row)),
    ]


def _marked(row):
    return phi_apart(row["method"], row["settings"])


def _name(row):
    mark = " \\*" if _marked(row) else ""
    return [f"`{row['method']}`{kind_of(row)}{mark}", architecture_of(row), str(row["settings"]["seed"])]


def _figure(figure, samples):
    if figure is None:
        return "–"
    value, error, monte_carlo = (number(figure[k]) for k in ("value", "row_standard_error", "standard_error"))
    if figure["effective_sample_size"] is None and figure["standard_error"] == 0.0:  # infinitely many
        return f"{value} ± {error} (exact)"
    return f"{value} ± {error} ({monte_carlo}; {number(figure['effective_sample_size'], 0)} of {samples})"


def _annealed(figure, settings):
    if figure is None:
        return "–"
    value, error, monte_carlo = (number(figure[k]) for k in ("value", "difference_error", "standard_error"))
    effective = f"{number(figure['effective_sample_size'], 1)} of {settings['annealing_runs']}"
    rows, steps = int(figure["rows"]), settings["annealing_steps"]
    names = {"best": "best on validation", "mean": "mean of samples", "last": "last weights"}
    of = f"{figure['draws']} draws" if "draws" in figure else names[figure["of"]]
    return f"{value} ± {error} ({monte_carlo}; {effective}), {of}, {rows:,} rows, {steps:,} steps"


def _apart(sides):
    if sides is None:
        return "–"
    gap, of_importance = sides["gap"], sides["importance_gap"]
    return f"{number(gap['value'])} ± {number(gap['row_standard_error'])} ({number(of_importance['value'])})"


def _climbing(row):
    found = gain(row.get("curve", []))
    if found is None:
        return None
    last = row["log_likelihood"]["last"]["value"]
    points = [(point["valid"], point["seconds"] / 60) for point in row["curve"]]
    curve = ", ".join(f"{number(value)} after {minutes:.1f}" for value, minutes in points)
    # by importance sampling, which is no measure of what Gibbs sampling has learnt: there the curve is of annealing
    known = last is not None and row["method"] not in GIBBS
    end = f", the last weights be at {number(last + found[0])}" if known else ""
    return (
        f"- `{row['method']}`{kind_of(row)}, {architecture_of(row)}, seed {row['settings']['seed']}: twice the minutes "
        f"would add {number(found[0])} ± {number(found[1])}{end}. On validation rows, minutes: {curve}."
    )


def _published(dataset):
    """The published figures, a line a model, and where they disagree."""
    by_model = {}
    for figure in PUBLISHED[dataset]:
        by_model.setdefault(figure.model, []).append(as_published(figure, dataset))
    lines = [[model, "; ".join(cells)] for model, cells in by_model.items()]
    numbered = [f"{i}. {source}" for i, source in enumerate(sources_of(dataset), 1)]
    conflicts = [f"- {text}" for text in CONFLICTS.get(dataset, [])]
    head = ["Published, sizes nearest to the data first:", "", *table(("model", "log-likelihood"), lines)]
    return [*head, "", *numbered, *([""] * bool(conflicts)), *conflicts]
