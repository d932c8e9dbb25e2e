"""Rows of data, weights and Markov chains as images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.plots.figures import new_figure, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike


def samples(x: ArrayLike, shape: Sequence[int], columns: int | None = None, title: str | None = None) -> Figure:
    """Rows of data as a grid of images.

    Args:
      x: (n, height · width), 1 is drawn dark and 0 light; what lies beyond is cut.
      shape: (height, width).
      columns: images in a row; by default about √n.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: if x and shape do not fit, entries are not finite, or columns is no positive integer.
    """
    images = _images(x, shape)
    return _figure(_grid(images, columns, 0.0, 0.5), "gray_r", (0.0, 1.0), title)


def features(
    weights: ArrayLike,
    shape: Sequence[int],
    columns: int | None = None,
    title: str | None = None,
    limit: int = 64,
    scales: ArrayLike | None = None,
) -> Figure:
    """Receptive fields: for each unit its weights to the data, as an image, red positive and blue negative.

    Args:
      weights: (units, height · width), such as the kernel of the data layer.
      shape: (height, width).
      columns: images in a row.
      title: of the figure.
      limit: the most images; those of the largest norm, or scale, are taken.
      scales: (units,), by which images are sorted, the largest first, such as `augmentation.column_scales`; by default
        the norms.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: if weights, shape and scales do not fit, weights are not finite, or columns or limit is no positive
        integer.
    """
    limit = checks.positive_integer("limit", limit)
    images = _images(weights, shape)
    norms = np.linalg.norm(images.reshape(len(images), -1), axis=1)
    scales = norms if scales is None else numbers("scales", scales)
    if scales.shape != norms.shape:
        raise ValueError(f"There is a scale for each of {len(norms)} units. Received: scales of shape {scales.shape}")
    images = images[np.argsort(-scales, kind="stable")[:limit]]
    # one scale for all, so that units that the prior has switched off look it; a few outliers are cut
    scale = np.quantile(np.abs(images), 0.99)
    images = np.clip(images / (scale if scale > 0 else 1.0), -1.0, 1.0)
    return _figure(_grid(images, columns, 0.0, 0.0), "RdBu_r", (-1.0, 1.0), title)


def chains(states: ArrayLike, betas: ArrayLike, shape: Sequence[int], title: str | None = None) -> Figure:
    """Runs of annealing from left to right, one below the other.

    Args:
      states: (β, runs, height · width), as `boltzmann.partition.annealed_chains` returns; 1 is drawn dark.
      betas: those of the first axis.
      shape: (height, width).
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.

    Raises:
      ValueError: for arrays that do not fit, or states that are not finite.
    """
    states, betas = numbers("states", states), numbers("betas", betas)
    if states.ndim != 3 or not states.size or betas.shape != states.shape[:1]:
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


def _images(x, shape):
    try:
        height, width = (checks.positive_integer("shape", length) for length in shape)
    except (TypeError, ValueError):
        raise ValueError(f"A shape is (height, width), two positive integers. Received: shape={shape!r}") from None
    x = numbers("images", x).astype(np.float32)
    if x.ndim != 2 or not len(x) or x.shape[1] != height * width:
        raise ValueError(f"Images of {height} × {width} need rows of {height * width}. Received: shape={x.shape}")
    wrong = int((~np.isfinite(x)).sum())
    if wrong:  # NaN would look like 0
        raise ValueError(f"Entries of pictures must be finite. Received: {wrong} that are not")
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
    figure = new_figure((6.0, max(1.0, 6.0 * height / width) + (0.4 if title else 0.0)))
    axes = figure.add_subplot()
    axes.imshow(canvas, cmap=colours, vmin=limits[0], vmax=limits[1], interpolation="nearest")
    axes.set_axis_off()
    axes.set_title(title or "")
    return figure
