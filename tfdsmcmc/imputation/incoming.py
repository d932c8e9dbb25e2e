"""Rows with missing entries, as users pass them."""

from __future__ import annotations

import numpy as np

from tfdsmcmc import checks


def rows_and_mask(x, mask, units, binary):
    """Checks rows and parts them into values and what is observed.

    Whatever stands in x where the mask is False is gone from here on: NaN takes its place before anything is read.

    Args:
      x: (n, units), array-like; NaN is missing where there is no mask, and so is what a masked array hides.
      mask: (n, units) or (units,), True where an entry is observed; None for all that is not NaN.
      units: D.
      binary: whether observed entries must be 0 or 1.

    Returns:
      (values, observed): float32 with 0 where an entry is missing, and booleans, both (n, units).

    Raises:
      ValueError: for data that do not fit, or NaN where the mask is True.
    """
    if mask is not None:
        x = _masked(x, mask, units)
    x = checks.rows("x", x, units, binary, missing=True).astype(np.float32)
    observed = ~np.isnan(x)
    return np.where(observed, x, np.float32(0)), observed


def _masked(x, mask, units):
    """x with NaN where the mask is False; as it is where it is no array of numbers, which the check of rows refuses."""
    try:
        array = checks.numbers(x)
        if array.dtype.kind not in "biufO":
            return x
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return x
    if array.ndim != 2 or array.shape[1] != units:
        return x
    observed = checks.observed("mask", mask, array.shape)
    unknown = int(np.isnan(array[observed]).sum())
    if unknown:
        raise ValueError(f"x must be known where mask is True. Received: {unknown} such entries that are NaN")
    return np.where(observed, array, np.nan)
