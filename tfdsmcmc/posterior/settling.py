"""When a validation log-likelihood has settled: a trend with its error.

    value_i = α + β step_i + ε_i over the last `window` steps,      rising where β̂ > 2 s(β̂)

by least squares. Successive values of a chain are correlated, so s(β̂) is too small and some trends that are none count
as rising: collecting then starts a little later, which costs time alone.
"""

from __future__ import annotations

import numpy as np

_FEWEST = 5  # values that make a trend


def settled(steps, values, window):
    """Whether the values do not rise over the last `window` steps.

    Args:
      steps: (n,) increasing, at which there were values.
      values: (n,), NaN where there was none; what is not finite is left out.
      window: steps looked back upon; five values at least, however far apart.

    Returns:
      bool; False where the steps do not span the window, or values are fewer than five.
    """
    kept = np.isfinite(values)
    steps, values = np.asarray(steps, np.float64)[kept], np.asarray(values, np.float64)[kept]
    if len(steps) < _FEWEST or steps[-1] - steps[0] < window:
        return False
    first = min(int(np.searchsorted(steps, steps[-1] - window)), len(steps) - _FEWEST)
    x, y = steps[first:] - steps[first:].mean(), values[first:] - values[first:].mean()
    slope = (x @ y) / (x @ x)
    residual = y - slope * x
    error = np.sqrt((residual @ residual) / (len(x) - 2) / (x @ x))
    return bool(slope <= 2 * error)
