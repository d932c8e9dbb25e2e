"""The sampler beside an optimizer in equal processor time, and the settings of the sampler beside each other."""

from typing import NamedTuple

import numpy as np

from experiments.budget_study.table import best_of_any_seed, chosen_and_best, grouped
from experiments.budget_study.verdict import verdict
from experiments.common.markdown import cell, number, table
from experiments.common.paired import stated, with_error
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
      sampler, optimizer, difference: pairs (nats a test row, its error over the rows, None where it is not known).
      to_best: the same of the difference to the best optimizer of any seed.
    """

    data: str
    model: str
    seconds: float
    sampler: tuple
    optimizer: tuple
    difference: tuple
    to_best: tuple

    def dataset(self):
        """The name of the data without its rows."""
        return self.data.partition("[")[0]

    def pair(self):
        """The model, and of how many rows it has learnt where these are not all."""
        rows = self.first_rows()
        return f"{self.model}, first {rows} rows" if rows else self.model

    def first_rows(self):
        """How many rows were learnt from where these are not all, else ""."""
        return self.data.partition("[:")[2].removesuffix("]")

    def verdict(self):
        """Whether the sampler is "ahead", "level" or "behind", by two errors; "not judged" without an error."""
        return verdict(*self.difference)

    def stated(self):
        """The difference ± its error."""
        return stated(*self.difference)


def comparisons(runs):
    """A `Comparison` for each data set, model and budget of `experiments.budget_study`, in this order."""
    found = []
    for (model, data, seconds), group in sorted(grouped(runs).items(), key=_by_data):
        sampler, best = chosen_and_best(group)
        of_rows = sampler, best, sampler - best, sampler - best_of_any_seed(group)
        found.append(Comparison(data, model, seconds, *map(with_error, of_rows)))
    return found


def _by_data(item):
    (model, data, seconds), _ = item
    return data, model, seconds


def labels(found):
    """The label of each comparison: its pair, and its budget where another of the same data and model has one too."""
    pairs = [(one.data, one.model) for one in found]
    budget = [f", {one.seconds:g} s" if pairs.count(pair) > 1 else "" for pair, one in zip(pairs, found)]
    return [one.pair() + own for one, own in zip(found, budget)]


def beside(found):
    """The lines of the table of some comparisons; an error that is not known is an empty cell."""
    lines = []
    for one in found:
        pairs = [cell("" if value is None else value) for pair in (one.sampler, one.optimizer) for value in pair]
        difference, error = one.difference
        figures = number(difference, sign="+"), cell("" if error is None else error)
        lines.append([one.pair(), f"{one.seconds:g}", *pairs, *figures])
    return table(BESIDE, lines)


def settings(runs):
    """The lines of the table of the runs of `experiments.sampler_study` of a data set: means over the seeds.

    Runs of other lengths have lines of their own.
    """
    groups = {}
    for about, rows in runs:
        key = about["architecture"], about["setting"], about.get("chains", 1), about.get("updates", 0)
        groups.setdefault(key, []).append((about, rows))
    lines = []
    for (model, setting, chains, _), group in sorted(groups.items(), key=_place):
        taken = [about.get("processor_seconds", about.get("seconds")) for about, _ in group]
        about = model, f"`{setting}`", chains, len(group), number(np.mean(taken) / 60, 1)
        names = [name for name in _PARTS if all(name in rows for _, rows in group)]
        for name in names if "predictive" not in names else [name for name in names if name != "last"]:
            size = min(len(rows[name]) for _, rows in group)
            value, error = with_error(np.mean([rows[name][:size] for _, rows in group], 0))
            what = "best on validation" if setting in OPTIMIZERS and name == "last" else _PARTS[name]
            lines.append([*about, what, number(value), cell("" if error is None else error)])
    return table(_SETTINGS, lines)


def _place(item):
    model, setting, chains, updates = item[0]
    return model, SETTINGS.index(setting), chains, updates
