"""Is a row still climbing when its budget ends? Its curve on validation rows, and where that would lead.

    v(t) = a − b (t/T)^(−c),      b ≥ 0,  c of ¼, ½, 1, 2,  by least squares over the second half of the T seconds

A row still climbs if another T seconds would add b (1 − 2^(−c)) nats of more than 0.1 and of more than two standard
errors. The same rows are looked at each time, so that what they are is not in the error, only how the looks scatter.
"""

import numpy as np

_POWERS = (0.25, 0.5, 1.0, 2.0)
_LEAST = 0.1  # nats


def gain(curve):
    """What twice the budget would add by extrapolation.

    Args:
      curve: list of points, see `experiments.method_table.looks`.

    Returns:
      (nats, standard error) where the row still climbs, else None; None too where fewer than four looks tell.
    """
    points = [point for point in curve if point["valid"] is not None]
    last = points[-1]["seconds"] if points else 0.0
    points = [point for point in points if 2 * point["seconds"] >= last > 0]
    if len(points) < 4:
        return None
    times = np.array([point["seconds"] for point in points]) / last
    values = np.array([point["valid"] for point in points])
    fits = [(*_fitted(times**-power, values), 1 - 2**-power) for power in _POWERS]
    slope, error, _, factor = min(fits, key=lambda fit: fit[2])
    nats, error = -slope * factor, error * factor
    return (nats, error) if nats > max(_LEAST, 2 * error) else None


def _fitted(x, values):
    """(slope, its standard error, sum of squared residuals) of a straight line."""
    centred = x - x.mean()
    square = centred @ centred
    slope = centred @ values / square
    residuals = values - values.mean() - slope * centred
    return slope, np.sqrt(residuals @ residuals / (len(x) - 2) / square), residuals @ residuals
