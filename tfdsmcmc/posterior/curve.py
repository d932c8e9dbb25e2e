"""How the log-likelihood grows with the number of posterior samples.

    predictive average    of m samples: log (1/m) Σ_{i ≤ m} p(x given θ_i), or another of `posterior.averages`
    mean of weights       log p(x given θ̄_m),  θ̄_m = (1/m) Σ_{i ≤ m} θ_i

Of the average over draws each p(x given θ_i) is estimated once and serves every later point, so that the points share
their errors; the other averages are made anew at each point, and those of the mean of weights have draws of their own.
What warns of few samples or of heavy tails looks at the first θ_i and at the last mean alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.posterior.averages import Component, Components
from tfdsmcmc.posterior.running_means import PredictiveAverage, RunningMean

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.store import Sample
    from tfdsmcmc.rows.from_users import RowsLike


class Curve(NamedTuple):
    """The log-likelihood of held-out rows against the number of posterior samples.

    `point.mean()` of a `LogLikelihood` is the mean over the rows with its errors.

    Attributes:
      counts: m, a tuple of integers that rises.
      predictive: a `LogLikelihood` for each m, of the average of the first m samples.
      mean_of_weights: a `LogLikelihood` for each m, at the mean of the weights of the first `mean_counts` draws.
      mean_counts: how many weights each mean is of: m with one chain; with several, the draws of one chain that are
        among the first m samples, since a mean over chains whose hidden units have swapped roles is no model's weights.
      average: what `predictive` is an average over, "units", "draws" or "weights".
    """

    counts: tuple[int, ...]
    predictive: tuple[LogLikelihood, ...]
    mean_of_weights: tuple[LogLikelihood, ...]
    mean_counts: tuple[int, ...]
    average: Average = "draws"

    @property
    def difference(self) -> tuple[LogLikelihood, ...]:
        """Predictive average minus mean of weights, row by row: the rows' own spread is not in its errors."""
        return tuple(
            LogLikelihood(
                average.value - mean.value,
                np.hypot(average.standard_error, mean.standard_error),
                np.minimum(average.effective_sample_size, mean.effective_sample_size),
                shared_standard_error=float(np.hypot(average.shared_standard_error, mean.shared_standard_error)),
            )
            for average, mean in zip(self.predictive, self.mean_of_weights)
        )


def curve(
    samples: Sequence[Sample],
    chains: Sequence[int],
    model: Model,
    x: RowsLike,
    num_samples: int,
    counts: Sequence[int] | None,
    seed: Seed,
    batch_size: int,
    average: Average = "draws",
    log_partition: Any = None,
) -> Curve:
    """The curve of a sequence of samples; see `Posterior.curve`.

    Args:
      samples: sequence of `Sample`.
      chains: the chain's number of each sample.
      model: `contract.Model`.
      x: a source of rows.
      num_samples: K.
      counts: sequence of integers, or None.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      average: "units", "draws" or "weights".
      log_partition: as `model.density` takes it.

    Raises:
      ValueError: for counts out of range.
    """
    counts = _counts(counts, len(samples))

    def estimate(part, own, warn):
        return part.density.log_likelihood(x, num_samples, own, batch_size, warn)

    mixed, means, predictive = PredictiveAverage(), _Means(model, chains[0], seed, estimate, log_partition), []
    for m in range(counts[-1]):
        sample = samples[m]
        means.add(sample, chains[m])
        if average == "draws":
            part = Component(model, sample.theta, sample.phi, log_partition)
            mixed.add(estimate(part, random.fold(seed, m), m == 0))
        if m + 1 in counts:
            means.end(m, last=m + 1 == counts[-1])
            if average != "draws":
                components = Components(samples[: m + 1], chains[: m + 1], model, average, (), log_partition)
                mixed = _over_chains(components, seed, estimate, warn=m + 1 == counts[-1])
            predictive.append(mixed.log_likelihood())
    return Curve(counts, tuple(predictive), tuple(means.found), tuple(means.counts), average)


def _over_chains(components, seed, estimate, warn):
    """An average with a component for each chain."""
    mixed = PredictiveAverage()
    for c, part in enumerate(components):
        mixed.add(estimate(part, random.fold(seed, c), warn and c == 0))
    return mixed


class _Means:
    """The mean of weights over the draws of one chain: its points are in `found`, how many each is of in `counts`."""

    def __init__(self, model, chain, seed, estimate, log_partition):
        self._log_partition = log_partition
        self._model, self._chain, self._estimate = model, chain, estimate
        self._seed, self._mean = random.stream(seed, "mean of weights"), RunningMean()
        self.found, self.counts = [], []

    def add(self, sample, chain):
        if chain == self._chain:
            self._mean.add([*sample.theta, *sample.phi])
            self._split = len(sample.theta)

    def end(self, m, last):
        """A point after the sample m; it warns if it is the last."""
        theta, phi = self._mean.value[: self._split], self._mean.value[self._split :]
        part = Component(self._model, theta, phi, self._log_partition)
        self.found.append(self._estimate(part, random.fold(self._seed, m), last))
        self.counts.append(self._mean.count)


def _counts(counts, most):
    """The points of the curve: those asked for in rising order, or the powers of two and the number of samples."""
    if counts is None:
        return tuple(sorted({*(1 << i for i in range(most.bit_length())), most}))
    found = tuple(sorted({checks.positive_integer("counts", count) for count in np.ravel(counts)}))
    if not found or found[-1] > most:
        raise ValueError(f"counts must be between 1 and the number of samples, {most}. Received: counts={counts!r}")
    return found
