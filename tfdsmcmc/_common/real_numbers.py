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
    texts = array.dtype.kind == "O" and any(isinstance(entry, (str, bytes)) for entry in array.flat)
    if array.dtype.kind in "SUTMm" or array.dtype.names or texts:
        raise ValueError(f"entries of type {'str' if texts else array.dtype}")
    return array.astype(np.float64, copy=False)
