"""Arrays of real numbers in double precision, of what a user passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def real_numbers(x: ArrayLike) -> np.ndarray:
    """An array in float64.

    Raises:
      TypeError: for complex numbers, of which NumPy would drop a part, and for masked entries, which it would show.
      ValueError: for what is no array of numbers, which text of digits and times are not.
    """
    if np.ma.is_masked(x) or isinstance(x, (list, tuple)) and any(map(np.ma.is_masked, x)):
        raise TypeError("masked entries")
    if np.iscomplexobj(x):
        raise TypeError("complex numbers")
    array = np.asarray(x)
    if array.dtype.kind in "SUTMm":
        raise ValueError(f"entries of type {array.dtype}")
    return array.astype(np.float64, copy=False)
