"""Rows of any source, each counted in the target as often as a weight says.

    log p(θ) + Σ_i w_i log p(x_i; θ),      W = Σ_i w_i

A step works on the target divided by W, as it divides by N where all weights are 1: with integer weights a learning
rate and a temperature are those of the rows repeated. Minibatches are drawn from the n rows uniformly, so

    Σ_i (w_i/W) ℓ_i = (1/n) Σ_i v_i ℓ_i = E[mean_B v ℓ],      v_i = n w_i/W

and rows carry v, of mean 1. Divided by Σ_B v instead of B the mean would be biased, as a ratio is, by the order 1/B; of
all rows at once it is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common.real_numbers import real_numbers
from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Index, Seed
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source


class WeightedSource(RandomAccessSource):
    """A source of rows with weights, which are kept in memory.

    Args:
      source: of the rows, with random access.
      weights: w, (n,) float64, checked.
    """

    def __init__(self, source: RandomAccessSource, weights: np.ndarray):
        self.source: RandomAccessSource = source
        self.weights: np.ndarray = weights
        self.units: int = source.units
        self.on_device: bool = source.on_device
        self._relative = (weights * (len(weights) / weights.sum())).astype(np.float32)[:, np.newaxis]

    @property
    def num_rows(self) -> int:
        return self.source.num_rows

    @property
    def total_weight(self) -> float:
        return float(self.weights.sum())

    @property
    def complete(self) -> bool:
        return self.source.complete

    @property
    def checksum(self) -> int:
        return self.source.checksum  # of the rows, whatever they weigh

    def take(self, index: Index) -> Rows:
        return self.source.take(index)._replace(weight=self._relative[index])

    def part(self, rows: slice) -> WeightedSource:
        return WeightedSource(self.source.part(rows), self.weights[rows])

    def of_epoch(self, seed: Seed) -> WeightedSource:
        return WeightedSource(self.source.of_epoch(seed), self.weights)


def weighted(source: Source, weights: ArrayLike) -> WeightedSource:
    """The rows with weights that a user passes.

    Args:
      source: of the rows.
      weights: (n,), finite, none below 0 and some above.

    Raises:
      ValueError: for other weights, or rows without random access.
    """
    if not source.random_access:
        raise ValueError(f"sample_weight is for rows with random access. Received: x={type(source).__name__}")
    try:
        found = real_numbers(weights)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must be real numbers. Received: sample_weight={weights!r}") from None
    if found.shape != (source.num_rows,):
        raise ValueError(
            f"sample_weight must have one number for each of {source.num_rows} rows. "
            f"Received: an array of the shape {found.shape}"
        )
    if not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise ValueError(
            "sample_weight must be finite, none below 0 and some above. "
            f"Received: numbers from {found.min()} to {found.max()}"
        )
    if not np.finfo(np.float32).tiny <= found.sum() <= np.finfo(np.float32).max:
        raise ValueError(f"The sum of sample_weight must be a number of float32. Received: {found.sum()}")
    return WeightedSource(source, found)
