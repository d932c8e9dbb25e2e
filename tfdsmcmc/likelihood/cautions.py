"""Warnings about estimates of the log-likelihood, which point at the line that asked for them."""

from __future__ import annotations

import os
import pathlib
import sys
import warnings

_PACKAGE = str(pathlib.Path(__file__).parents[1]) + os.sep


class UnreliableImportanceWeights(UserWarning):
    """Importance weights have such heavy tails that the estimate and its standard error cannot be trusted."""


class LowEffectiveSampleSize(UnreliableImportanceWeights):
    """The importance weights are so uneven that the estimate and its standard error are too low."""


class PrecisionNotReached(UserWarning):
    """Some rows have a larger standard error than was asked for."""


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the nearest line outside the package, however many of its functions lie between.

    Args:
      message: the words.
      category: a subclass of `Warning`.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
