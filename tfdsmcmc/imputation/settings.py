"""How long the chains of an imputation are, and how many."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """Arguments of `imputation.impute`, checked.

    Attributes:
      num_imputations: of each row.
      num_samples: sweeps of all chains of a row that count, or draws of "resampling".
      burn_in: sweeps of each chain before the first that counts.
      thinning: least number of sweeps between two imputations of one chain.
      num_chains: chains for each row.
    """

    num_imputations: int
    num_samples: int
    burn_in: int = 50
    thinning: int = 10
    num_chains: int = 2
