"""Rows of grey values, to be made binary anew each epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.datasets.labels import label_array
from tfdsmcmc.datasets.mapped_file import plain_array, row_shape

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class GreyRows:
    """Rows of intensities, of which `fit` draws zeros and ones anew in each epoch; 1 with probability value/255.

    The draws of a row follow from the model's seed, the epoch and the row's number alone. Where rows are only read, as
    in validation and estimates, the draws are the same whenever that is.

    Args:
      values: uint8 array (n, D).
      shape: of a row; (D,) by default.
      labels: (n,) or None.

    Attributes:
      units: D.
      num_rows: n, as `len` gives it.
      shape: of a row, such as (28, 28).
      labels: array (n,), or None where the data have none.

    Raises:
      ValueError: for another type or shape.
    """

    values: np.ndarray
    labels: np.ndarray | None

    def __init__(self, values: ArrayLike, shape: Sequence[int] | None = None, labels: ArrayLike | None = None):
        array = plain_array("Grey rows", values)
        if array.dtype != np.uint8 or array.ndim != 2 or 0 in array.shape:
            raise ValueError(
                "Grey rows are uint8 (rows, features), a row or more. "
                f"Received: {array.dtype.name} of shape {array.shape}"
            )
        self.shape: tuple[int, ...] = row_shape(array.shape[1:] if shape is None else shape, array.shape[1])
        labels = None if labels is None else label_array("labels", labels)
        if labels is not None and labels.shape != array.shape[:1]:
            raise ValueError(f"labels must be one for each of {len(array)} rows. Received: shape={labels.shape}")
        self.values, self.labels = array, labels
        self.units: int = array.shape[1]

    @property
    def num_rows(self) -> int:
        return len(self.values)

    def __len__(self) -> int:
        return len(self.values)

    __iter__ = None  # Python would ask for the rows one by one

    def __getitem__(self, part: slice) -> GreyRows:
        if not isinstance(part, slice) or not len(self.values[part]):
            raise ValueError(f"Some of the rows, one at least, are chosen by a slice. Received: [{part!r}]")
        return GreyRows(self.values[part], self.shape, None if self.labels is None else self.labels[part])

    def __repr__(self) -> str:
        return f"GreyRows(num_rows={len(self)}, shape={self.shape})"
