"""Labels beside rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def label_array(name: str, labels: ArrayLike) -> np.ndarray:
    """Labels as an array (n,) of numbers or texts."""
    if np.ma.is_masked(labels):
        raise ValueError(f"{name} must be complete. Received: a masked array that hides entries")
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} must be an array (rows,) of numbers or texts. Received: {error}") from None
    if array.dtype.kind in "OT" and len({_kind(label) for label in array.flat}) == 1:
        array = np.array(array.tolist())  # of pandas, or of NumPy's texts of any length
    if array.ndim != 1 or array.dtype.kind not in "biufSU":
        raise ValueError(
            f"{name} must be an array (rows,) of numbers or texts. Received: {array.dtype} of shape {array.shape}"
        )
    gaps = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0  # those of pandas' nullable integers
    if gaps:
        raise ValueError(f"{name} must be complete. Received: {gaps} entries that are NaN")
    return array


def _kind(label):
    """Of text, of bytes or of anything else: a number beside texts would become one."""
    return next((kind for kind in (str, bytes) if isinstance(label, kind)), None)
