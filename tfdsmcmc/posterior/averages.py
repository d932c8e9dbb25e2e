"""Averages over samples that come one at a time, in memory that does not grow with their number.

    mean of weights       θ̄_m = θ̄_{m−1} + (θ_m − θ̄_{m−1})/m
    predictive average    log p̄_m(x),  p̄_m(x) = (1/m) Σ_{i ≤ m} p̂_i(x),  p̂_i the estimate of p(x given θ_i)
    its standard error    √(Σᵢ (p̂_i s_i)²) / Σᵢ p̂_i,  s_i the standard error of log p̂_i (delta method)
    its effective sample size    (Σᵢ p̂_i)² / Σᵢ p̂_i²/n_i,  n_i that of p̂_i

The estimates p̂_i are independent given the θ_i. Densities are held relative to a running maximum, so none overflows.

Source: Owen, "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3.
"""

from __future__ import annotations

import numpy as np

from tfdsmcmc.likelihood import LogLikelihood


class RunningMean:
    """The mean of lists of arrays, in float64.

    Attributes:
      count: the lists so far.
      value: list of float64 arrays, their mean; None before the first.
    """

    def __init__(self):
        self.count = 0
        self.value = None

    def add(self, weights):
        """Takes in one more list of arrays."""
        self.count += 1
        if self.value is None:
            self.value = [np.asarray(w, np.float64) for w in weights]
        else:
            self.value = [mean + (w - mean) / self.count for mean, w in zip(self.value, weights, strict=True)]


class PredictiveAverage:
    """The average of estimated densities, given as their logarithms.

    Attributes:
      count: the estimates so far.
    """

    def __init__(self):
        self.count = 0
        self._total = self._variance = self._squares = 0.0
        self._reference = None

    def add(self, estimate: LogLikelihood):
        """Takes in the estimate at one more θ."""
        value = estimate.value.astype(np.float64)
        previous = value if self._reference is None else self._reference
        self._reference = np.maximum(previous, value)
        # where every density so far is 0 the maximum is −∞: any finite shift will do
        shift = np.where(np.isfinite(self._reference), self._reference, 0.0)
        shrink, density = np.exp(previous - shift), np.exp(value - shift)
        self._total = self._total * shrink + density
        self._variance = self._variance * shrink**2 + _product(density**2, estimate.standard_error**2)
        self._squares = self._squares * shrink**2 + _product(density**2, 1.0 / estimate.effective_sample_size)
        self.count += 1

    def log_likelihood(self) -> LogLikelihood:
        """log p̄ of each row, with its error; −∞ ± nan where all densities are 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return LogLikelihood(
                self._reference + np.log(self._total) - np.log(self.count),
                np.sqrt(self._variance) / self._total,
                self._total**2 / self._squares,
            )


def _product(weight, values):
    """weight · values, 0 where the weight is, whatever the value: an estimate of 0 states no error."""
    return np.where(weight > 0, weight * values, weight)
