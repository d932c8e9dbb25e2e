"""The sampler beside an optimizer in equal processor time, and the settings of the sampler beside each other."""

from typing import NamedTuple

import numpy as np

from experiments.budget_study.table import chosen_and_best, grouped
from experiments.common.markdown import number, table
from experiments.sampler_study.settings import OPTIMIZERS, SETTINGS

BESIDE = ("model", "seconds", "sampler", "error", "`rws`", "error", "sampler less `rws`", "error")
_SETTINGS = ("model", "setting", "chains", "seeds", "minutes", "estimate", "nats a test row", "error")
_PARTS = {"predictive": "average of all samples", "last": "last weights", "annealed": "annealed"}


class Comparison(NamedTuple):
    """A sampler and an optimizer on the same test rows.

    Attributes:
      data: name of the data, "NAME[:400]" for its first rows.
      model: architecture.
      seconds: the budget of processor time.
      sampler, optimizer, difference: pairs (nats a test row, its error over the rows).
    """

    data: str
    model: str
    seconds: float
    sampler: tuple
    optimizer: tuple
    difference: tuple

    def dataset(self):
        """The name of the data without its rows."""
        return self.data.partition("[")[0]

    def label(self):
        """The model, and of how many rows it has learnt where these are not all."""
        _, _, rows = self.data.partition("[:")
        return f"{self.model}, first {rows.removesuffix(']')} rows" if rows else self.model


def comparisons(runs):
    """A `Comparison` for each data set, model and budget of `experiments.budget_study`, in this order."""
    found = []
    for (model, data, seconds), group in sorted(grouped(runs).items(), key=lambda item: (item[0][1], item[0][0])):
        sampler, best = chosen_and_best(group)
        found.append(Comparison(data, model, seconds, *map(mean_and_error, (sampler, best, sampler - best))))
    return found


def mean_and_error(rows):
    """The mean of figures of rows, and its standard error; None for the error of a single row."""
    rows = np.asarray(rows, np.float64)
    return rows.mean(), rows.std(ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else None


def ahead(found):
    """(comparisons in which the sampler is ahead by more than two errors, those in which it is behind by as much)."""
    above = [one for one in found if one.difference[0] > 2 * one.difference[1]]
    return above, [one for one in found if -one.difference[0] > 2 * one.difference[1]]


def beside(found):
    """The lines of the table of some comparisons."""
    lines = []
    for one in found:
        pairs = [number(value) for pair in (one.sampler, one.optimizer) for value in pair]
        difference, error = one.difference
        lines.append([one.label(), f"{one.seconds:g}", *pairs, number(difference, sign="+"), number(error)])
    return table(BESIDE, lines)


def settings(runs):
    """The lines of the table of the runs of `experiments.sampler_study` of a data set: means over the seeds."""
    groups = {}
    for about, rows in runs:
        groups.setdefault((about["architecture"], about["setting"], about.get("chains", 1)), []).append((about, rows))
    lines = []
    for (model, setting, chains), group in sorted(groups.items(), key=_place):
        taken = [about.get("processor_seconds", about.get("seconds")) for about, _ in group]
        about = model, f"`{setting}`", chains, len(group), number(np.mean(taken) / 60, 1)
        names = [name for name in _PARTS if all(name in rows for _, rows in group)]
        for name in names if "predictive" not in names else [name for name in names if name != "last"]:
            size = min(len(rows[name]) for _, rows in group)
            value, error = mean_and_error(np.mean([rows[name][:size] for _, rows in group], 0))
            what = "best on validation" if setting in OPTIMIZERS and name == "last" else _PARTS[name]
            lines.append([*about, what, number(value), number(error)])
    return table(_SETTINGS, lines)


def _place(item):
    model, setting, chains = item[0]
    return model, SETTINGS.index(setting), chains
