"""Rows that users pass for a layer of some kind of units, as `rows` has them, and values of these units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc import rows
from tfdsmcmc.rows import DatasetSource, Source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from tfdsmcmc.boltzmann.units.base import Units
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows


def source_of(
    units: Units,
    name: str,
    x: RowsLike,
    width: int,
    mask: ArrayLike | None = None,
    num_rows: int | None = None,
    missing: bool = True,
) -> Source:
    """`rows.source_of` for these units.

    The rows of a source are read once, where there is anything to check beyond zeros and ones; those of a dataset are
    checked as they come.

    Args:
      units: `Units`.
      name: what to call the data in an error.
      x: what `rows.source_of` takes.
      width: D.
      mask: of an array.
      num_rows: of a dataset.
      missing: of a dataset, whether entries may be missing.

    Raises:
      ValueError: for data that do not fit.
    """
    source = rows.source_of(name, x, width, units.binary, mask, num_rows, missing)
    if not units.checks:
        return source
    if isinstance(x, (tf.data.Dataset, keras.utils.PyDataset)):

        def checked(batch, plain=source.rows_of):
            return _checked(units, name, plain(batch))

        return DatasetSource(name, source.dataset, width, num_rows, checked, missing)
    if not isinstance(source, DatasetSource):
        for batch in source.batches(10_000):
            _checked(units, name, batch)
    return source


def rows_in_memory(units: Units, name: str, x: RowsLike, width: int, mask: ArrayLike | None = None) -> Rows:
    """`rows.rows_in_memory` for these units.

    Args:
      units: `Units`.
      name: what to call the data in an error.
      x: what `source_of` takes.
      width: D.
      mask: of an array, or of the rows of a source.

    Raises:
      ValueError: for data that do not fit.
    """
    return _checked(units, name, rows.rows_in_memory(name, x, width, units.binary, mask))


def complete_rows(units: Units, name: str, x: RowsLike, width: int) -> np.ndarray:
    """Rows without gaps, as an array (N, D)."""
    found = rows_in_memory(units, name, x, width)
    if not found.complete:
        raise ValueError(f"{name} must be complete rows. Received: rows with missing entries")
    return found.values


def _checked(units, name, found):
    units.check(name, found)
    return found
