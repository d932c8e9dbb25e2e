"""Averages over samples that come one at a time, in memory that does not grow with their number.

    mean of weights       θ̄_m = θ̄_{m−1} + (θ_m − θ̄_{m−1})/m
    predictive average    log p̄_m(x),  p̄_m(x) = (1/m) Σ_{i ≤ m} p̂_i(x),  p̂_i the estimate of p(x given θ_i)
    its standard error    √(Σᵢ (p̂_i s_i)²) / Σᵢ p̂_i,  s_i the standard error of log p̂_i (delta method)
    its effective sample size    (Σᵢ p̂_i)² / Σᵢ p̂_i²/n_i,  n_i that of p̂_i

The estimates p̂_i are independent given the θ_i. An error that all rows share, r_i of log p̂_i, such as that of a log Z,
may be one and the same for all i: the average has at most Σᵢ p̂_i r_i / Σᵢ p̂_i of it, and that is stated. Densities
are held relative to a running maximum (see `streams`).

Source: Owen, "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.streams import WeightSums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class RunningMean:
    """The mean of lists of arrays, in float64.

    Attributes:
      count: the lists so far.
      value: list of float64 arrays, their mean; None before the first.
    """

    def __init__(self):
        self.count: int = 0
        self.value: list[np.ndarray] | None = None

    def add(self, weights: Sequence[ArrayLike]) -> None:
        """Takes in one more list of arrays."""
        self.count += 1
        if self.value is None:
            self.value = [np.asarray(w, np.float64) for w in weights]
        else:
            self.value = [mean + (w - mean) / self.count for mean, w in zip(self.value, weights, strict=True)]


class DensitySums(NamedTuple):
    """What the predictive average follows from, in tensors: (…) float64 each, relative to the largest p̂ so far.

    Attributes:
      total: Σ p̂, as `WeightSums`.
      variance: Σ (p̂ s)², of the errors that rows do not share.
      shared: Σ p̂ r.
      squares: Σ p̂²/n.
    """

    total: WeightSums
    variance: tf.Tensor
    shared: tf.Tensor
    squares: tf.Tensor

    @classmethod
    def of_nothing(cls, shape: Sequence[int] | tf.Tensor | tf.TensorShape, dtype: tf.DType = tf.float32) -> DensitySums:
        """The sums over no estimates; of rows of a shape, and logarithms of a type."""
        zero = tf.zeros(shape, tf.float64)
        return cls(WeightSums.of_nothing(shape, dtype), zero, zero, zero)

    def add(
        self,
        value: ArrayLike,
        variance: ArrayLike,
        effective_sample_size: ArrayLike,
        shared: ArrayLike = 0.0,
    ) -> DensitySums:
        """The sums with K more estimates, (K, …): log p̂, s², n and r."""
        total, shift = self.total.add(value)
        shared = tf.broadcast_to(shared, tf.shape(value))
        return DensitySums(
            total,
            shift.carry(self.variance, variance, power=2),
            shift.carry(self.shared, shared),
            shift.carry(self.squares, 1.0 / effective_sample_size, power=2),
        )

    def estimate(self, count: int | tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
        """(log p̄, its standard error, its effective sample size, the part of the error that rows share), of `count`."""
        total = self.total.total
        value = self.total.log_total - tf.math.log(tf.cast(count, total.dtype))
        return value, tf.sqrt(self.variance + self.shared**2) / total, total**2 / self.squares, self.shared / total


class PredictiveAverage:
    """The average of estimated densities, given as their logarithms.

    Attributes:
      count: the estimates so far.
    """

    def __init__(self):
        self.count: int = 0
        self._sums: DensitySums | None = None

    def add(self, estimate: LogLikelihood) -> None:
        """Takes in the estimate at one more θ."""
        value = estimate.value.astype(np.float64)[None]
        if self._sums is None:
            self._sums = DensitySums.of_nothing(value.shape[1:], tf.float64)
        shared = np.float64(estimate.shared_standard_error)
        own = np.maximum(np.square(estimate.standard_error[None].astype(np.float64)) - shared**2, 0.0)
        self._sums = self._sums.add(value, own, estimate.effective_sample_size[None], shared)
        self.count += 1

    def log_likelihood(self) -> LogLikelihood:
        """log p̄ of each row, with its error; −∞ ± nan where all densities are 0."""
        *found, shared = (part.numpy() for part in self._sums.estimate(self.count))
        told = shared[np.isfinite(shared)]  # where all densities are 0 there is no error
        return LogLikelihood(*found, shared_standard_error=float(told.mean()) if len(told) else 0.0)
