"""When a validation log-likelihood has settled: a trend with its error.

    value_i = α + β step_i + ε_i over the last `window` steps,      rising where β̂ > 2 s(β̂)

by least squares. Successive values of a chain are correlated, so s(β̂) is too small and some trends that are none count
as rising: collecting then starts a little later, which costs time alone.
"""

from __future__ import annotations

import collections
import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_FEWEST = 5  # values that make a trend


def settled(steps: ArrayLike, values: ArrayLike, window: int) -> bool:
    """Whether the values do not rise over the last `window` steps.

    Args:
      steps: (n,) increasing, at which there were values.
      values: (n,), NaN where there was none; what is not finite is left out.
      window: steps looked back upon; five values at least, however far apart.

    Returns:
      bool; False where the steps do not span the window, or values are fewer than five.
    """
    trend = Trend(window)
    for step, value in zip(steps, values):
        trend.add(step, value)
    return trend.settled()


class Trend:
    """The same of values that come one by one; those before the window are forgotten.

    Args:
      window: steps looked back upon.
    """

    def __init__(self, window: int):
        self._window, self._first = window, None
        self._kept = collections.deque()

    def add(self, step: int, value: float | None) -> None:
        """Adds the value at a step after all others; None, or one that is not finite, is left out."""
        if value is None or not math.isfinite(value):
            return
        self._first = step if self._first is None else self._first
        self._kept.append((step, value))
        while len(self._kept) > _FEWEST and self._kept[0][0] < step - self._window:
            self._kept.popleft()

    def settled(self) -> bool:
        """Whether the values do not rise over the window; False where they do not span it, or are fewer than five."""
        if len(self._kept) < _FEWEST or self._kept[-1][0] - self._first < self._window:
            return False
        steps, values = np.array(self._kept, np.float64).T
        x, y = steps - steps.mean(), values - values.mean()
        slope = (x @ y) / (x @ x)
        residual = y - slope * x
        error = np.sqrt((residual @ residual) / (len(x) - 2) / (x @ x))
        return bool(slope <= 2 * error)
