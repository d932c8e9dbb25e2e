"""Imputations averaged over samples θ_1, …, θ_M of the weights, read one at a time.

With X the data that the samples were learned from,

    p(x_missing given x_observed, X) = ∫ p(x_missing given x_observed, θ) p(θ given x_observed, X) dθ

For a new row p(θ given x_observed, X) is proportional to p(x_observed given θ) p(θ given X), so that

    p(x_missing given x_observed, X) ≈ Σ_m π_m p(x_missing given x_observed, θ_m),
    π_m = p(x_observed given θ_m) / Σ_l p(x_observed given θ_l)

A row that the samples were learned from, by its observed entries, has its factor in p(θ given X) already: its π_m are
equal, as in multiple imputation.

Each imputation is that of θ_m with probability π_m: it keeps the one with the largest log π_m + Gumbel noise so far.
The effective sample size is (Σ π)² / Σ π²/n_m, n_m that of θ_m, since the samples are independent given θ.

Source: Rubin, "Multiple imputation for nonresponse in surveys" (1987), chapter 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.imputation.plans import Part

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed


class Mixture:
    """Takes in a `Part` for each θ, in memory that does not grow with their number."""

    def __init__(self):
        self._x = self._keys = self._sums = None
        self._probabilities = self._inverse_size = self._rate = None

    def add(self, part: Part, log_weight: ArrayLike, seed: Seed) -> None:
        """Takes in the imputations at one more θ.

        Args:
          part: of n rows.
          log_weight: (n,), log π_m up to a constant of the row.
          seed: int32 of shape (2,).
        """
        log_weight = np.asarray(log_weight, np.float64)
        uniform = random.open_uniform(part.x.shape[:2], seed).numpy().astype(np.float64)
        keys = log_weight[:, None] - np.log(-np.log(uniform))
        if self._x is None:
            self._x, self._keys, self._sums = part.x, keys, WeightSums.of_nothing([len(log_weight)], tf.float64)
            self._probabilities = tf.zeros(part.probabilities.shape, tf.float64)
            self._inverse_size = self._rate = tf.zeros([len(log_weight)], tf.float64)
        better = keys > self._keys
        self._x, self._keys = np.where(better[..., None], part.x, self._x), np.maximum(keys, self._keys)
        self._sums, shift = self._sums.add(log_weight[None])
        self._probabilities = shift.carry(self._probabilities, part.probabilities[None])
        self._inverse_size = shift.carry(self._inverse_size, 1.0 / part.effective_sample_size[None], power=2)
        if part.acceptance_rate is not None:
            self._rate = shift.carry(self._rate, part.acceptance_rate[None])

    def result(self, rates: bool) -> Part:
        """The mixture as one `Part`; `rates` says whether there are rates of acceptance.

        Where every weight is 0 nothing is known: there all but the draws is nan.
        """
        total = self._sums.total
        return Part(
            self._x,
            (self._probabilities / total[:, None]).numpy(),
            (total**2 / self._inverse_size).numpy(),
            (self._rate / total).numpy() if rates else None,
            None,
        )
