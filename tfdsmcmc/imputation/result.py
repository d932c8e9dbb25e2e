"""What an imputation returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Imputation(NamedTuple):
    """Rows with their missing entries drawn from p(x_missing given x_observed).

    Attributes:
      x: (num_imputations, n, D) float32, the draws; the observed entries are those given, in float32.
      probabilities: (n, D) float32, the mean of each missing entry given the observed ones, for binary data the
        probability of a one; the observed entries themselves elsewhere.
      effective_sample_size: (n,), how many independent draws those behind `probabilities` are worth, as far as the
        weights of the draws, or the trace of log p(x, z) along the chains, can tell; inf for rows with nothing missing,
        nan where log p is not finite, for there nothing can be told. Where means of the draws are averaged, see
        `imputation.sweep_plan`, the probabilities are worth more.
      acceptance_rate: (n,), the share of Metropolis proposals that were accepted, nan for rows with nothing missing;
        None for methods without.
    """

    x: np.ndarray
    probabilities: np.ndarray
    effective_sample_size: np.ndarray
    acceptance_rate: np.ndarray | None
