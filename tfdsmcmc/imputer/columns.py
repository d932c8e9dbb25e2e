"""What the columns of a table hold, and its entries in the units of the data layer.

Real columns are learnt as (x − m)/s, with m and s the mean and the standard deviation of the column's observed entries;
s = 1 for a column that is constant. Binary ones are learnt as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfdsmcmc.rows import Rows, rows_of
from tfdsmcmc.supports import Binary, Real


class Columns(NamedTuple):
    """The columns of the rows that were learnt from.

    Attributes:
      kept: (D,), whether any entry of a column was observed.
      binary: whether all observed entries are 0 or 1.
      mean: (K,) float64, m of the kept columns; 0 where they are binary.
      scale: (K,) float64, s of the kept columns; 1 where they are binary.
      constant: (K,), whether all observed entries of a column that is not binary are the same: gaps are filled with it.
    """

    kept: np.ndarray
    binary: bool
    mean: np.ndarray
    scale: np.ndarray
    constant: np.ndarray | bool = False

    def standardised(self, x: np.ndarray) -> Rows:
        """The kept columns of rows, in the units of the data layer.

        Args:
          x: (n, D), with NaN where an entry is missing.

        Returns:
          `Rows` of arrays (n, K).

        Raises:
          ValueError: for entries that are infinite in these units or, where the columns are binary, neither 0 nor 1.
        """
        with np.errstate(over="ignore"):
            values = ((x[:, self.kept] - self.mean) / self.scale).astype(np.float32)
        return rows_of("X", values, values.shape[1], Binary() if self.binary else Real())

    def log_scales(self, rows: Rows) -> np.ndarray:
        """(n,), what the log-densities of rows lose in the units of the columns: Σ log s over what is observed."""
        scales = np.broadcast_to(np.log(self.scale), rows.values.shape)
        return (scales if rows.complete else np.where(rows.observed, scales, 0.0)).sum(-1)

    def restored(self, values: np.ndarray) -> np.ndarray:
        """Values (n, K) of the data layer in the units of the columns, float64."""
        return self.mean + self.scale * values

    def drawn(self, values: np.ndarray) -> np.ndarray:
        """`restored` of values that were drawn: those of a constant column are its one value."""
        return self.restored(np.where(self.constant, 0.0, values))

    def filled(self, x: np.ndarray, values: np.ndarray | None, keep_empty: bool) -> np.ndarray:
        """Rows with their gaps filled, of the type of x; what is observed is as it was.

        Args:
          x: (n, D), with NaN where an entry is missing.
          values: (n, K), in the units of the data layer; None where nothing of the kept columns is missing.
          keep_empty: whether columns of which nothing was observed stay, with 0 in the gaps.
        """
        filled = x[:, self.kept].copy()
        if values is not None:
            largest = np.finfo(x.dtype).max  # beyond it x would be infinite
            found = np.clip(self.drawn(values), -largest, largest)
            filled = np.where(np.isnan(filled), found, filled).astype(x.dtype)
        if self.kept.all() or not keep_empty:
            return filled
        whole = np.where(np.isnan(x), 0, x).astype(x.dtype)
        whole[:, self.kept] = filled
        return whole


def columns_of(x: np.ndarray) -> Columns:
    """The columns of rows.

    Args:
      x: (n, D), with NaN where an entry is missing.

    Raises:
      ValueError: if nothing is observed.
    """
    observed = ~np.isnan(x)
    kept = observed.any(0)
    if not kept.any():
        raise ValueError(f"At least one entry must be observed. Received: X with {x.size} missing entries of {x.size}")
    if np.isin(x[observed], (0, 1)).all():
        return Columns(kept, True, np.zeros(kept.sum()), np.ones(kept.sum()), np.zeros(kept.sum(), bool))
    values = x[:, kept].astype(np.float64)
    # in units of the largest entry: squares of 1e200 overflow, those of 1e-200 are 0
    largest = np.nanmax(np.abs(values), 0)
    largest = np.where(largest > 0, largest, 1.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean, scale = (largest * moment(values / largest, 0) for moment in (np.nanmean, np.nanstd))
    # by comparison: rounding makes the standard deviation of equal numbers a little more than 0
    only = np.nanmax(values, 0)
    constant = only == np.nanmin(values, 0)
    mean, scale = np.where(constant, only, mean), np.where(constant | (scale == 0), 1.0, scale)
    return Columns(kept, False, mean, scale, constant)
