"""Arrays that users pass, checked against a support."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc._common.reasons import reason_of

if TYPE_CHECKING:
    from tfdsmcmc.supports.base import Support


def checked_array(name: str, x: object, units: int, support: Support, missing: bool = False) -> np.ndarray:
    """Returns data as an array (n, units): uint8 where they are complete and of zeros and ones, else float32.

    Args:
      name: what to call the data in an error.
      x: array-like of shape (n, units).
      units: the width of the data layer.
      support: `supports.Support`, of what values entries may have.
      missing: whether entries may be missing: NaN, what pandas takes for it, or what a masked array hides.

    Raises:
      ValueError: no rows, another shape or width, entries that are infinite in float32, missing ones unless they may
        be, or others than the support has.
    """
    array = real_numbers(name, x)
    if array.ndim != 2 or array.shape[1] != units:
        raise ValueError(f"{name} must have the shape (rows, {units}). Received: shape={array.shape}")
    if array.shape[0] == 0:
        raise ValueError(f"{name} must have at least one row. Received: shape={array.shape}")
    floating = np.issubdtype(array.dtype, np.floating)
    known = ~np.isnan(array) if floating and missing else np.ones(array.shape, bool)
    if not support.bits:
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)  # in which large float64 numbers are infinite
    bad = int((~np.isfinite(array[known])).sum()) if floating else 0
    if bad:
        raise ValueError(f"{name} must be finite in float32. Received: {bad} entries that are NaN or infinite")
    complete = bool(known.all())
    support.check(name, array, None if complete else known)
    return array.astype(np.uint8 if support.bits and complete else np.float32, copy=False)


def real_numbers(name: str, x: object) -> np.ndarray:
    """Returns data as an array of real numbers, NaN where pandas or a masked array says that they are missing.

    Args:
      name: what to call the data in an error.
      x: array-like.

    Raises:
      ValueError: for what is no such array.
    """
    if x is None:
        raise ValueError(f"{name} must be an array of numbers. Received: NoneType")
    if hasattr(x, "toarray"):
        raise ValueError(f"{name} must be dense: use .toarray(). Received: {type(x).__name__}")
    try:
        array = checks.numbers(x)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} must be an array of numbers ({reason_of(error)}). Received: {type(x).__name__}"
        ) from None
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool) or np.iscomplexobj(array):
        raise ValueError(f"{name} must be an array of real numbers. Received: dtype={array.dtype}")
    return array
