"""All estimates of a row, each a figure with its errors."""

from typing import NamedTuple

_OF_WEIGHTS = {"last": "last weights", "best": "best on validation", "mean": "mean of samples"}
_UNITS = "average unit by unit"
_NAMES = {**_OF_WEIGHTS, "units": _UNITS}
_OF_SIDES = {
    "lower": "drawn rows, from below",
    "upper": "drawn rows, from above",
    "importance": "drawn rows, importance sampling",
    "gap": "drawn rows, above less below",
    "importance_gap": "drawn rows, above less importance sampling",
}
NOTE = (
    "*Best on validation* are the weights of the best look at validation data. *Mean of samples* is the mean of the "
    "posterior samples of the weights, with φ fitted to it again, as it is to their *average unit by unit*. Importance "
    "samples understate a figure, the more the fewer of them are effective. *Annealed* is the estimate from below by "
    "annealed importance sampling on some rows. The difference to importance sampling there carries it over to all "
    "rows; *carried* is the error of that difference. *Drawn rows* are rows that the model draws, whose log-likelihood "
    "reverse annealing bounds from above."
)


class Estimate(NamedTuple):
    """An estimate of a log-likelihood.

    Attributes:
      of: what it is of.
      value: nats a row; this and the errors are None where they are not finite.
      error: its standard error over the rows.
      carried: of an annealed figure the error of the difference that carries it over to all rows, else "".
      monte_carlo: its Monte Carlo error, or "".
      effective: the effective sample size, or "".
      samples: how many importance samples or annealing runs of a row, as text.
      rows: how many rows it is measured on, or "".
      steps: of annealing, or "".
    """

    of: str
    value: float | None
    error: float | None
    carried: float | str | None = ""
    monte_carlo: float | str | None = ""
    effective: float | str | None = ""
    samples: str = ""
    rows: int | str = ""
    steps: int | str = ""


def estimates_of(row):
    """The estimates of a row, a list of `Estimate`; none of a row that diverged."""
    if "failed" in row:
        return []
    settings, found = row["settings"], row["log_likelihood"]
    samples = f"{settings['test_samples']:,}"
    each = f"{row.get('posterior_samples')} × {max(1, settings['test_samples'] // 10):,}"
    given = [(name, _OF_WEIGHTS[name], samples) for name in _OF_WEIGHTS]
    given.append(("units", _UNITS, f"{settings.get('unit_samples', 0):,}"))
    lines = [
        _importance(what, found[name], count, row)
        for name, what, count in [*given, ("predictive", "predictive average", each)]
        if found.get(name) is not None
    ]
    for name in ("annealed", "annealed_predictive"):
        if row.get(name) is not None:
            lines.append(_annealed(row[name], settings))
    sides = row.get("both_sides") or {}
    return lines + [_of_drawn(what, sides[name], settings) for name, what in _OF_SIDES.items() if name in sides]


def _importance(what, figure, samples, row):
    errors = figure["value"], figure["row_standard_error"], "", figure["standard_error"]
    rows = row.get("estimator", {}).get("rows", "")
    if figure["effective_sample_size"] is None and figure["standard_error"] == 0.0:  # infinitely many
        return Estimate(f"{what}, exact", *errors, rows=rows)
    return Estimate(what, *errors, figure["effective_sample_size"], samples, rows)


def _annealed(figure, settings):
    of = f"predictive average of {figure['draws']} draws" if "draws" in figure else _NAMES[figure["of"]]
    errors = [figure.get(name, "") for name in ("row_standard_error", "difference_error", "standard_error")]
    runs, steps = str(settings["annealing_runs"]), settings["annealing_steps"]
    effective, rows = figure["effective_sample_size"], int(figure["rows"])
    return Estimate(f"{of}, annealed", figure["value"], *errors, effective, runs, rows, steps)


def _of_drawn(what, figure, settings):
    """Of rows that the model draws: as many as are annealed, unless the settings say otherwise."""
    drawn = settings.get("drawn_rows")
    rows = settings["annealing_rows"] if drawn is None else drawn
    errors = figure["row_standard_error"], "", figure.get("standard_error", "")
    return Estimate(what, figure["value"], *errors, figure.get("effective_sample_size", ""), rows=rows)
