"""Warnings that point at the line which asked for what is warned of."""

from __future__ import annotations

import os
import pathlib
import sys
import warnings
from types import FrameType

_PACKAGE = str(pathlib.Path(__file__).parents[1]) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the nearest line outside the package, however many of its functions lie between.

    Functions of scikit-learn are passed over too: `fit_transform` of an imputer is one.

    Args:
      message: the words.
      category: a subclass of `Warning`.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _passed_over(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)  # its `skip_file_prefixes` is of Python 3.12 and later


def _passed_over(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return frame.f_code.co_filename.startswith(_PACKAGE) or module.partition(".")[0] == "sklearn"
