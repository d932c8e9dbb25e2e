"""Pictures: arrays in, a matplotlib figure out. matplotlib is imported when a picture is drawn."""

from __future__ import annotations

import math
import os
import pathlib

import numpy as np


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
      ValueError: if x and shape do not fit.
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
      ValueError: if weights and shape do not fit.
    """
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
      ValueError: if none of the names is in the history.
    """
    history = getattr(history, "history", history)
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
        values = np.asarray(history[name], np.float64)
        axes.plot(np.arange(1, len(values) + 1), values, label=labels.get(name, name))
    axes.set_xlabel("epoch")
    axes.set_ylabel("log-likelihood (nats a row)" if any("log_likelihood" in n for n in drawn) else "")
    axes.set_title(title or "")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def save(figure, path):
    """Writes a figure to a file whose suffix names the format, atomically; returns the path as a string."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        figure.savefig(temporary, dpi=150)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return str(path)


def _images(x, shape):
    x = np.asarray(x, np.float32)
    height, width = shape
    if x.ndim != 2 or not len(x) or x.shape[1] != height * width:
        raise ValueError(f"Images of {height} × {width} need rows of {height * width}. Received: shape={x.shape}")
    return x.reshape(-1, height, width)


def _grid(images, columns, background, border):
    """The images side by side with a border of one pixel, as one array."""
    count, height, width = images.shape
    columns = min(count, columns or math.ceil(math.sqrt(count)))
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
