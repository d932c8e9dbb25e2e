"""Which power makes a column of numbers symmetric.

With y = (x − c)/u, c the median and ψ the transform of Yeo and Johnson of power λ, the log-likelihood of n values as
normal in ψ(y) is, but for what neither λ nor u changes,

    −n/2 log var ψ(y) + Σ log ψ'(y) − n log u

λ and u are those of a grid at which it is largest, among those that leave ψ(y) of a size near 1.

Source: Yeo and Johnson, "A new family of power transformations to improve normality or symmetry", Biometrika 87
(2000), section 3; the unit u is a parameter besides, so that columns in other units have other u alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfdsmcmc._common import yeo_johnson

_POWERS = (0.0, 0.5, 1.0, 1.5, 2.0)  # few: columns of one power are worked on together
_UNITS = 2.0 ** np.arange(-4, 3)  # times the distance of the quartiles
_SIZES = (0.3, 3.0)  # of the standard deviation of ψ(y)
_LOOKED_AT = 2000  # quantiles of a longer column


class Transform(NamedTuple):
    """How numbers x of a column become symmetric: ψ((x − centre)/unit).

    Attributes:
      power: λ of ψ.
      centre: c.
      unit: u.
      gain: nats a value by which the log-likelihood is above that of λ = 1.
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
    values = np.sort(values)
    if len(values) > _LOOKED_AT:
        values = values[np.linspace(0, len(values) - 1, _LOOKED_AT).astype(int)]
    lower, centre, upper = np.quantile(values, (0.25, 0.5, 0.75))
    spread = upper - lower if upper > lower else values.std()
    plain, found = -np.log(values.std()), []
    for power in _POWERS:
        for unit in spread * _UNITS:
            y = ((values - centre) / unit).astype(np.float32)
            deviation = float(yeo_johnson.transformed(y, power).numpy().astype(np.float64).std())
            if power != 1 and _SIZES[0] < deviation < _SIZES[1]:
                slope = float(yeo_johnson.log_slope(y, power).numpy().astype(np.float64).mean())
                found.append((-np.log(deviation) + slope - np.log(unit) - plain, power, float(unit)))
    gain, power, unit = max(found, default=(0.0, 1.0, float(spread)))
    return Transform(power, float(centre), unit, float(gain))
