"""The pictures of the pages, drawn from the records."""

from itertools import cycle

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.method_table.methods import METHODS
from experiments.method_table.report.text import architecture_of
from experiments.method_table.report.worth import best_published, cells, worth
from experiments.report.titles import short_title

_COLOURS = dict(zip(METHODS, colormaps["tab20"].colors))


def reached(rows):
    """What each method has reached with each architecture, with errors, and the best published figures.

    Args:
      rows: list of dicts of one data set, see `experiments.method_table`.

    Returns:
      `matplotlib.figure.Figure`.
    """
    found = cells(rows)
    names = list(dict.fromkeys(architecture for architecture, _ in found))
    methods = [method for method in METHODS if any(of == method for _, of in found)]
    figure = Figure(figsize=(8.0, 1.2 + 0.5 * len(names)), layout="constrained")
    axes = figure.subplots()
    for place, method in enumerate(methods):
        own = {names.index(name): worth(row) for (name, of), row in found.items() if of == method}
        heights = np.array(list(own)) + 0.06 * (place - (len(methods) - 1) / 2)  # beside each other
        values, errors = [one.value for one in own.values()], _drawn(one.error for one in own.values())
        axes.errorbar(values, heights, xerr=errors, fmt="o", markersize=4, color=_COLOURS[method], label=method)
    known = {names.index(name): best_published(row) for (name, _), row in found.items()}
    known = {place: float(best.log_likelihood) for place, best in known.items() if best is not None}
    axes.plot(list(known.values()), list(known), "k|", markersize=12, label="best published")
    axes.set_yticks(range(len(names)), [name.split(",")[0].split("/")[-1] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel("test log-likelihood (nats a row)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    return figure


def curves(rows):
    """A panel for each architecture: test log-likelihood of the last weights against minutes, a line a row."""
    rows = [row for row in rows if row.get("curve")]
    names = [name for name in dict.fromkeys(name for name, _ in cells(rows))]
    columns = min(3, max(1, len(names)))
    shape = max(1, -(-len(names) // columns)), columns
    figure = Figure(figsize=(3.2 * columns, 2.4 * shape[0] + 0.6), layout="constrained")
    panels = figure.subplots(*shape, squeeze=False).flat
    seen = {}
    for name, axes in zip(names, panels):
        for row in [row for row in rows if architecture_of(row) == name and row["method"] in METHODS]:
            # the axis is logarithmic, and the first round of a run takes no seconds until the second has been made
            points = [point for point in row["curve"] if point["test"] is not None and point["seconds"] > 0]
            minutes, values = [point["seconds"] / 60 for point in points], [point["test"] for point in points]
            (line,) = axes.plot(minutes, values, marker="o", markersize=2, color=_COLOURS[row["method"]])
            seen[row["method"]] = line
        axes.set_title(name.split(",")[0].split("/")[-1], fontsize=9)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(alpha=0.3)
    for axes in panels:  # those without an architecture
        axes.axis("off")
    methods = [method for method in METHODS if method in seen]
    figure.legend([seen[method] for method in methods], methods, loc="outside right upper", fontsize=8)
    figure.supxlabel("minutes of learning", fontsize=9)
    figure.supylabel("test log-likelihood (nats a row)", fontsize=9)
    return figure


def equal_time(comparisons):
    """The sampler less the optimizer: a line for each data set and model, a mark for each budget."""
    pairs = list(dict.fromkeys((one.data, one.model) for one in comparisons))
    budgets = sorted({one.seconds for one in comparisons})
    figure = Figure(figsize=(8.0, 1.2 + 0.24 * len(pairs)), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("symlog", linthresh=1.0)  # before anything is drawn, so that margins are in its units
    for order, (budget, marker) in enumerate(zip(budgets, cycle("os^D"))):
        own = [one for one in comparisons if one.seconds == budget]
        shift = 0.3 * (order - (len(budgets) - 1) / 2)
        places = [pairs.index((one.data, one.model)) + shift for one in own]
        values, errors = zip(*(one.difference for one in own))
        axes.errorbar(values, places, xerr=_drawn(errors), fmt=marker, markersize=4, label=f"{budget:g} s")
    axes.axvline(0.0, color="k", linewidth=0.8)
    shown = {(one.data, one.model): f"{short_title(one.dataset())}, {one.pair()}" for one in comparisons}
    axes.set_yticks(range(len(pairs)), [shown[pair] for pair in pairs], fontsize=8)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("sampler less optimizer (nats a test row)")
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8, title="budget")
    return figure


def _drawn(errors):
    """Errors as bars; one that is not known has none."""
    return [0.0 if error is None else error for error in errors]
