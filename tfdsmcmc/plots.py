"""Pictures: arrays in, a matplotlib figure out. matplotlib is imported when a picture is drawn."""

from __future__ import annotations

import math
import pathlib

import numpy as np

from tfdsmcmc import checks, files


def samples(x, shape, columns=None, title=None):
    """Rows of data as a grid of images.

    Args:
      x: (n, height · width), entries in [0, 1]; 1 is drawn dark.
      shape: (height, width).
      columns: images in a row; by default about √n.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: if x and shape do not fit, or columns is no positive integer.
    """
    return _figure(_grid(_images(x, shape), columns, 0.0, 0.5), "gray_r", (0.0, 1.0), title)


def features(weights, shape, columns=None, title=None, limit=64):
    """Receptive fields: for each unit its weights to the data, as an image, red positive and blue negative.

    Args:
      weights: (units, height · width), such as the kernel of the data layer.
      shape: (height, width).
      columns: images in a row.
      title: of the figure.
      limit: the most images; those of the largest norm are taken.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: if weights and shape do not fit, or columns or limit is no positive integer.
    """
    limit = checks.positive_integer("limit", limit)
    images = _images(weights, shape)
    norms = np.linalg.norm(images.reshape(len(images), -1), axis=1)
    images = images[np.argsort(-norms, kind="stable")[:limit]]
    # one scale for all, so that units that the prior has switched off look it; a few outliers are cut
    scale = np.quantile(np.abs(images), 0.99)
    images = np.clip(images / (scale if scale > 0 else 1.0), -1.0, 1.0)
    return _figure(_grid(images, columns, 0.0, 0.0), "RdBu_r", (-1.0, 1.0), title)


def learning_curves(history, names=("log_likelihood", "val_log_likelihood"), title=None):
    """Metrics against the epoch.

    Args:
      history: dict from metric name to a list of values, one an epoch; or a Keras `History`.
      names: those to draw, where there are any.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for no dict, or if none of the names is in the history.
    """
    history = getattr(history, "history", history)
    if not isinstance(history, dict):
        raise ValueError(f"A history is a dict from names to lists of values. Received: {type(history).__name__}")
    drawn = [name for name in names if name in history]
    if not drawn:
        raise ValueError(f"None of {list(names)} is in the history. Received: {sorted(history)}")
    labels = {
        "log_likelihood": "training, the step's own estimate",
        "val_log_likelihood": "validation, importance sampling",
    }
    figure = _new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    for name in drawn:
        values = _array(name, history[name])
        axes.plot(np.arange(1, len(values) + 1), values, label=labels.get(name, name))
    axes.set_xlabel("epoch")
    axes.set_ylabel("log-likelihood (nats a row)" if any("log_likelihood" in n for n in drawn) else "")
    axes.set_title(title or "")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def traces(trace, limit=12, title=None):
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
    arrays = {name: _array(name, a) for name, a in trace.items()} if isinstance(trace, dict) else {}
    if not arrays or any(a.ndim != 2 or not a.size for a in arrays.values()):
        other = "an empty dict" if isinstance(trace, dict) else type(trace).__name__
        raise ValueError(
            "A trace is a dict from names to arrays (chains, draws). "
            f"Received: {({name: a.shape for name, a in arrays.items()}) or other}"
        )
    shown = list(arrays.items())[:limit]
    figure = _new_figure((8.0, 0.6 + 1.5 * len(shown)))
    grid = figure.subplots(len(shown), 2, squeeze=False, sharey="row", width_ratios=(5, 1))
    for (name, array), (left, right) in zip(shown, grid):
        bins = np.histogram_bin_edges(array[np.isfinite(array)], min(40, max(5, round(math.sqrt(array.size)))))
        for number, chain in enumerate(array):
            line = {"color": f"C{number % 10}", "linewidth": 0.8}
            left.plot(np.arange(1, len(chain) + 1), chain, label=f"chain {number}", **line)
            right.hist(chain, bins, histtype="step", orientation="horizontal", density=True, **line)
        left.set_title(_spoken(name), loc="left", fontsize="medium")
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


def predictive_curve(curve, title=None):
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
    figure = _new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    one_chain = tuple(curve.mean_counts) == tuple(curve.counts)
    lines = (
        (curve.predictive, "predictive average", "o-"),
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


def chains(states, betas, shape, title=None):
    """Runs of annealing from left to right, one below the other.

    Args:
      states: (β, runs, height · width), as `boltzmann.annealed_chains` returns; 1 is drawn dark.
      betas: those of the first axis.
      shape: (height, width).
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for arrays that do not fit.
    """
    states, betas = _array("states", states), _array("betas", betas)
    if states.ndim != 3 or betas.shape != states.shape[:1]:
        raise ValueError(
            "States are (betas, runs, units), of as many betas as there are. "
            f"Received: shapes {states.shape} and {betas.shape}"
        )
    images = _images(np.swapaxes(states, 0, 1).reshape(-1, states.shape[-1]), shape)
    figure = _figure(_grid(images, len(betas), 0.0, 0.5), "gray_r", (0.0, 1.0), title)
    axes = figure.axes[0]
    axes.set_axis_on()
    width = shape[1] + 1
    axes.set_xticks(np.arange(len(betas)) * width + width / 2, [f"{beta:.3g}" for beta in betas])
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.set_frame_on(False)
    axes.set_xlabel("β")
    return figure


def log_partitions(counts, below, above=None, exact=None, label="annealing steps", title=None):
    """Estimates of log Z from below, and from above, against what they cost.

    The bars are intervals at three standard errors; an end that is infinite is not drawn.

    Args:
      counts: of runs or of steps, one for each estimate.
      below: list of `boltzmann.LogPartition`, forward.
      above: likewise, in reverse; None for none.
      exact: log Z where it is known.
      label: what the counts are of.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for what are no such estimates, or not one for each count.
    """
    counts = _array("counts", counts)
    figure = _new_figure((6.0, 4.0))
    axes = figure.add_subplot()
    for estimates, name, style in ((below, "from below", "o-"), (above, "from above", "s--")):
        if estimates is None:
            continue
        if len(estimates) != len(counts) or not all(hasattr(part, "interval") for part in estimates):
            raise ValueError(f"There is a LogPartition for each of {len(counts)} counts. Received: {estimates!r}")
        values, ends = (_array(name, [getattr(e, field) for e in estimates]) for field in ("value", "interval"))
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


def save(figure, path):
    """Writes a figure to a file, atomically.

    Args:
      figure: `matplotlib.figure.Figure`.
      path: of the file; its suffix names the format. Folders are made. The path is returned, as a string.

    Raises:
      ValueError: for a suffix that is missing or names no format.
    """
    path = pathlib.Path(path)
    formats = sorted(figure.canvas.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"The suffix of a picture's file is one of {formats}. Received: path={str(path)!r}")
    with files.replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)
    return str(path)


def _array(name, x):
    try:
        return np.asarray(x, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers ({error}). Received: {type(x).__name__}") from None


def _images(x, shape):
    try:
        height, width = (checks.positive_integer("shape", length) for length in shape)
    except (TypeError, ValueError):
        raise ValueError(f"A shape is (height, width), two positive integers. Received: shape={shape!r}") from None
    x = _array("images", x).astype(np.float32)
    if x.ndim != 2 or not len(x) or x.shape[1] != height * width:
        raise ValueError(f"Images of {height} × {width} need rows of {height * width}. Received: shape={x.shape}")
    return x.reshape(-1, height, width)


def _grid(images, columns, background, border):
    """The images side by side with a border of one pixel, as one array."""
    count, height, width = images.shape
    columns = math.ceil(math.sqrt(count)) if columns is None else checks.positive_integer("columns", columns)
    columns = min(count, columns)
    rows = -(-count // columns)
    canvas = np.full((rows * (height + 1) + 1, columns * (width + 1) + 1), border, np.float32)
    for i in range(rows * columns):
        top, left = (i // columns) * (height + 1) + 1, (i % columns) * (width + 1) + 1
        canvas[top : top + height, left : left + width] = images[i] if i < count else background
    return canvas


def _figure(canvas, colours, limits, title):
    height, width = canvas.shape
    figure = _new_figure((6.0, max(1.0, 6.0 * height / width) + (0.4 if title else 0.0)))
    axes = figure.add_subplot()
    axes.imshow(canvas, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="nearest")
    axes.set_axis_off()
    axes.set_title(title or "")
    return figure


def _new_figure(size):
    from matplotlib.figure import Figure  # no pyplot: no global state, no window

    return Figure(figsize=size, layout="constrained")


def _spoken(name):
    return {"log_likelihood": "log-likelihood (nats a row)", "log_prior": "log prior"}.get(name, str(name))
