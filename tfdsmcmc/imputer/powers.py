"""Which power makes a column of numbers more nearly symmetric.

With y = (x − c)/u, c the median and ψ the transform of Yeo and Johnson of power λ, the log-likelihood of n values as
normal in ψ(y) is, but for what neither λ nor u changes,

    −n/2 log var ψ(y) + Σ log ψ'(y) − n log u

λ and u are those of a grid at which it is largest, among those that leave ψ(y) of a size near 1. λ = 1, which leaves a
column as it is, competes.

Source: Yeo and Johnson, "A new family of power transformations to improve normality or symmetry", Biometrika 87
(2000), section 3; the unit u is a parameter besides, so that columns in other units have other u alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfdsmcmc._common.yeo_johnson import log_slope, transformed

_POWERS = (0.0, 0.5, 1.5, 2.0)  # few: columns of one power are worked on together
_UNITS = 2.0 ** np.arange(-4, 3)  # times the distance of the quartiles
_SIZES = (0.3, 3.0)  # of the standard deviation of ψ(y)
_LOOKED_AT = 2000  # quantiles of a longer column


class Transform(NamedTuple):
    """How numbers x of a column become more nearly symmetric: ψ((x − centre)/unit).

    Attributes:
      power: λ of ψ; 1 where no other is better.
      centre: c.
      unit: u.
      gain: nats a value by which the log-likelihood is above that of λ = 1, at least 0.
    """

    power: float
    centre: float
    unit: float
    gain: float


def transform_of(values: np.ndarray) -> Transform:
    """The transform of some numbers.

    Args:
      values: (n,) float64, finite, not all equal.
    """
    largest = np.abs(values).max()  # squares of 1e200 overflow, those of 1e-200 are 0
    values = values / largest
    if len(values) > _LOOKED_AT:
        values = np.quantile(values, (np.arange(_LOOKED_AT) + 0.5) / _LOOKED_AT)
    lower, centre, upper = np.quantile(values, (0.25, 0.5, 0.75))
    deviation = values.std()
    found = [(0.0, 1.0, deviation)]
    for power in _POWERS if deviation > 0 else ():
        for unit in _UNITS * (upper - lower if upper > lower else deviation):
            gain = _gain((values - centre) / unit, power)
            if gain is not None:
                found.append((gain + np.log(deviation / unit), power, unit))
    gain, power, unit = max(found)
    return Transform(power, float(largest * centre), float(largest * unit), float(gain))


def _gain(y, power):
    """The log-likelihood of y a value, but for a constant; None where ψ(y) is of another size."""
    y = np.float32(y)
    t, slope = (part.numpy().astype(np.float64) for part in (transformed(y, power), log_slope(y, power)))
    return -np.log(t.std()) + slope.mean() if _SIZES[0] < t.std() < _SIZES[1] else None
