"""Estimates and metrics as curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.plots.figures import new_figure, numbers

if TYPE_CHECKING:
    import keras
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from tfdsmcmc.boltzmann.partition.log_partition import LogPartition
    from tfdsmcmc.posterior.curve import Curve


def learning_curves(
    history: Mapping[str, Sequence[float]] | keras.callbacks.History,
    names: Sequence[str] = ("log_likelihood", "val_log_likelihood"),
    title: str | None = None,
) -> Figure:
    """Metrics against the epoch.

    Args:
      history: dict from metric name to a list of values, one an epoch, from the first on; or a Keras `History`, which
        knows its epochs. `fit` of this package notes `validation_freq` there, so that validation stands at the epochs
        that it is of. Elsewhere that is taken for the one integer that gives as many values, if there is one.
      names: those to draw, where there are any.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for no dict or no list of names, if none of these is in the history, or where one has not a value
        for each epoch and which epochs its values are of is not known, as of a dict with `validation_freq`.
    """
    epochs, told = getattr(history, "epoch", None), getattr(history, "params", None) or {}
    history = getattr(history, "history", history)
    if not isinstance(history, dict):
        raise ValueError(f"A history is a dict from names to lists of values. Received: {type(history).__name__}")
    if isinstance(names, str) or not np.iterable(names):
        raise ValueError(f"names is a list of names of metrics. Received: names={names!r}")
    drawn = [name for name in names if name in history]
    if not drawn:
        raise ValueError(f"None of {list(names)} is in the history. Received: {sorted(history)}")
    curves = {name: numbers(name, history[name]) for name in drawn}
    whole = range(1, max(map(np.size, history.values())) + 1) if epochs is None else [epoch + 1 for epoch in epochs]
    counts = _every(told, whole) if epochs is not None else []
    places = {name: _epochs_of(name, values, whole, counts) for name, values in curves.items()}
    if None in places.values():
        found = {name: values.shape for name, values in curves.items()}
        raise ValueError(
            f"A curve has a value for each of {len(whole)} epochs, or is validation in a History of a known "
            f"validation_freq. Received: shapes {found}"
        )
    labels = {
        "log_likelihood": "training, the step's own estimate",
        "val_log_likelihood": "validation, importance sampling",
    }
    figure = new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    for name, values in curves.items():
        axes.plot(places[name], values, label=labels.get(name, name))
    axes.set_xlabel("epoch")
    axes.set_ylabel("log-likelihood (nats a row)" if any("log_likelihood" in n for n in drawn) else "")
    axes.set_title(title or "")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def traces(trace: Mapping[str, ArrayLike], limit: int = 12, title: str | None = None) -> Figure:
    """Each quantity of a trace against the draw, one colour a chain, and beside it the chains' histograms.

    Args:
      trace: dict from name to array (chains, draws), as `diagnostics.trace` returns.
      limit: the most quantities, the first ones.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for no dict, an empty one, arrays of other shapes or not of numbers, or a limit that is not positive.
    """
    limit = checks.positive_integer("limit", limit)
    arrays = {name: numbers(name, a) for name, a in trace.items()} if isinstance(trace, dict) else {}
    if not arrays or any(a.ndim != 2 or not a.size for a in arrays.values()):
        other = "an empty dict" if isinstance(trace, dict) else type(trace).__name__
        raise ValueError(
            "A trace is a dict from names to arrays (chains, draws). "
            f"Received: {({name: a.shape for name, a in arrays.items()}) or other}"
        )
    shown = list(arrays.items())[:limit]
    figure = new_figure((8.0, 0.6 + 1.5 * len(shown)))
    grid = figure.subplots(len(shown), 2, squeeze=False, sharey="row", width_ratios=(5, 1))
    for (name, array), (left, right) in zip(shown, grid):
        bins = _bin_edges(array[np.isfinite(array)], min(40, max(5, round(math.sqrt(array.size)))))
        for number, chain in enumerate(array):
            line = {"color": f"C{number % 10}", "linewidth": 0.8}
            left.plot(np.arange(1, len(chain) + 1), chain, label=f"chain {number}", **line)
            right.hist(chain, bins, histtype="step", orientation="horizontal", density=True, **line)
        left.set_title(_spoken(name), loc="left", fontsize="medium", parse_math=False)
        left.margins(x=0.01)
        left.grid(alpha=0.3)
        left.ticklabel_format(axis="y", useOffset=False)
        left.tick_params(labelbottom=left is grid[-1, 0])
        right.set_axis_off()
    grid[-1, 0].set_xlabel("draw")
    if 1 < (chains := max(len(array) for _, array in shown)) <= 10:
        figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=min(chains, 5))
    if title:
        figure.suptitle(title)
    return figure


def predictive_curve(curve: Curve, title: str | None = None) -> Figure:
    """Mean log-likelihood of held-out rows against the number of posterior samples.

    The bars are two Monte Carlo standard errors; that of the choice of rows moves both lines alike and is not drawn.

    Args:
      curve: `Curve`, as `Posterior.curve` returns.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for anything else.
    """
    if not hasattr(curve, "predictive") or not hasattr(curve, "mean_of_weights"):
        raise ValueError(f"A predictive curve is what posterior.curve returns. Received: {type(curve).__name__}")
    figure = new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    one_chain = tuple(curve.mean_counts) == tuple(curve.counts)
    lines = (
        (curve.predictive, f"average over {getattr(curve, 'average', 'draws')}", "o-"),
        (curve.mean_of_weights, "mean of weights" if one_chain else "mean of weights, of one chain's draws", "s--"),
    )
    for points, label, style in lines:
        means = [point.mean() for point in points]
        values, errors = np.array([[float(mean), 2.0 * mean.standard_error] for mean in means]).T
        axes.errorbar(np.array(curve.counts), values, errors, label=label, fmt=style, capsize=3, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(curve.counts, [str(count) for count in curve.counts])
    axes.minorticks_off()
    axes.set_xlabel("posterior samples")
    axes.set_ylabel("log-likelihood (nats a row)")
    axes.set_title(title or "")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def log_partitions(
    counts: Sequence[float] | np.ndarray,
    below: Sequence[LogPartition],
    above: Sequence[LogPartition] | None = None,
    exact: float | None = None,
    label: str = "annealing steps",
    title: str | None = None,
) -> Figure:
    """Estimates of log Z from below, and from above, against what they cost.

    The bars are intervals at three standard errors; an end that is infinite is not drawn.

    Args:
      counts: of runs or of steps, one for each estimate, positive.
      below: list of `boltzmann.LogPartition`, forward.
      above: likewise, in reverse; None for none.
      exact: log Z where it is known.
      label: what the counts are of.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for no counts or such as are not positive, what are no such estimates, or not one for each count.
    """
    counts = numbers("counts", counts)
    if counts.ndim != 1 or not counts.size or not (np.isfinite(counts) & (counts > 0)).all():  # a logarithmic axis
        raise ValueError(f"counts must be a sequence of positive numbers. Received: counts={counts.tolist()}")
    figure = new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    for estimates, name, style in ((below, "from below", "o-"), (above, "from above", "s--")):
        if estimates is None:
            continue
        if len(estimates) != len(counts) or not all(hasattr(part, "interval") for part in estimates):
            raise ValueError(f"There is a LogPartition for each of {len(counts)} counts. Received: {estimates!r}")
        values, ends = (numbers(name, [getattr(e, field) for e in estimates]) for field in ("value", "interval"))
        bars = np.abs(ends - values[:, np.newaxis]).T
        bars = np.where(np.isfinite(bars), bars, 0.0)
        axes.errorbar(counts, values, bars, label=name, fmt=style, capsize=3, markersize=4)
    if exact is not None:
        axes.axhline(float(exact), color="black", linewidth=0.8, label="exact")
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel("log Z")
    axes.set_title(title or "")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def _bin_edges(values, bins):
    """Of a histogram; wider than the values where these are as close as rounding, so that no two edges are equal."""
    low, high = (values.min(), values.max()) if values.size else (0.0, 1.0)
    least = max(4 * bins * np.spacing(max(abs(low), abs(high))), 1e-300)  # densities are finite
    margin = 0.0 if high - low > least else max(least, 0.5 * (low == high))
    return np.linspace(low - margin, high + margin, bins + 1)


def _spoken(name):
    return {"log_likelihood": "log-likelihood (nats a row)", "log_prior": "log prior"}.get(name, str(name))


def _every(told, epochs):
    """What validation_freq may have been: what a fit noted, else any integer."""
    return [told["validation_freq"]] if "validation_freq" in told else range(2, max(epochs, default=0) + 1)


def _epochs_of(name, values, epochs, frequencies):
    """The epochs that values are of, as Keras counts them from 1; None where they are not known."""
    if values.shape == (len(epochs),):
        return list(epochs)
    if values.ndim != 1 or not name.startswith("val_"):
        return None
    looks = {tuple(e for e in epochs if (e in f if np.iterable(f) else e % f == 0)) for f in frequencies}
    fitting = [look for look in looks if len(look) == len(values)]
    return list(fitting[0]) if len(fitting) == 1 else None
