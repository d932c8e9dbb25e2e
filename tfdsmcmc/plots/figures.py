"""What every picture is made of: arrays of numbers in, a figure without a window, a file that is there whole."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import files
from tfdsmcmc._common.real_numbers import real_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import FilePath


def save(figure: Figure, path: FilePath) -> str:
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


def numbers(name: str, x: ArrayLike) -> np.ndarray:
    try:
        return real_numbers(x)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers ({error}). Received: {type(x).__name__}") from None


def new_figure(size: tuple[float, float]) -> Figure:
    from matplotlib.figure import Figure  # no pyplot: no global state, no window

    return Figure(figsize=size, layout="constrained")
