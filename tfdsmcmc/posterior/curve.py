"""How the log-likelihood grows with the number of posterior samples.

    predictive average    log p(x given X) ≈ log (1/m) Σ_{i ≤ m} p(x given θ_i)
    mean of weights       log p(x given θ̄_m),  θ̄_m = (1/m) Σ_{i ≤ m} θ_i

Each p(x given θ_i) is estimated once and serves every later point, so the points of the predictive curve share their
errors; the points of the mean of weights have draws of their own. What warns of few samples or of heavy tails looks at
the first θ_i and at the last mean alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfdsmcmc import checks, random
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.likelihood import importance_sampling
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.posterior.averages import PredictiveAverage, RunningMean
from tfdsmcmc.rows import kept


class Curve(NamedTuple):
    """The log-likelihood of held-out rows against the number of posterior samples.

    `point.mean()` of a `LogLikelihood` is the mean over the rows with its errors.

    Attributes:
      counts: m, a tuple of integers that rises.
      predictive: a `LogLikelihood` for each m, of the predictive average of the first m samples.
      mean_of_weights: a `LogLikelihood` for each m, at the mean of the weights of the first `mean_counts` draws.
      mean_counts: how many weights each mean is of: m with one chain; with several, the draws of one chain that are
        among the first m samples, since a mean over chains whose hidden units have swapped roles is no model's weights.
    """

    counts: tuple[int, ...]
    predictive: tuple[LogLikelihood, ...]
    mean_of_weights: tuple[LogLikelihood, ...]
    mean_counts: tuple[int, ...]

    @property
    def difference(self) -> tuple[LogLikelihood, ...]:
        """Predictive average minus mean of weights, row by row: the rows' own spread is not in its errors."""
        return tuple(
            LogLikelihood(
                average.value - mean.value,
                np.hypot(average.standard_error, mean.standard_error),
                np.minimum(average.effective_sample_size, mean.effective_sample_size),
            )
            for average, mean in zip(self.predictive, self.mean_of_weights)
        )


def curve(samples, chains, model, x, num_samples, counts, seed, batch_size) -> Curve:
    """The curve of a sequence of samples, each read once; see `Posterior.curve`.

    Args:
      samples: sequence of `Sample`.
      chains: the chain's number of each sample.
      model: `DeepGenerativeModel`.
      x: (n, D).
      num_samples: K.
      counts: sequence of integers, or None.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Raises:
      ValueError: for counts out of range.
    """
    counts = _counts(counts, len(samples))
    x = kept(rows_to_estimate(model, x))
    average, mean = PredictiveAverage(), RunningMean()
    mean_seed = random.stream(seed, "mean of weights")
    predictive, mean_of_weights, mean_counts = [], [], []
    for m, (sample, chain) in enumerate(zip(samples, chains)):
        weights = sample.theta, sample.phi
        average.add(importance_sampling(model, x, num_samples, random.fold(seed, m), batch_size, weights, warn=m == 0))
        if chain == chains[0]:
            mean.add([*sample.theta, *sample.phi])
        if m + 1 in counts:
            split, last = len(sample.theta), m + 1 == counts[-1]
            weights = mean.value[:split], mean.value[split:]
            point = importance_sampling(model, x, num_samples, random.fold(mean_seed, m), batch_size, weights, last)
            predictive.append(average.log_likelihood())
            mean_of_weights.append(point)
            mean_counts.append(mean.count)
        if m + 1 == counts[-1]:
            break
    return Curve(counts, tuple(predictive), tuple(mean_of_weights), tuple(mean_counts))


def _counts(counts, most):
    """The points of the curve: those asked for in rising order, or the powers of two and the number of samples."""
    if counts is None:
        return tuple(sorted({*(1 << i for i in range(most.bit_length())), most}))
    found = tuple(sorted({checks.positive_integer("counts", count) for count in np.ravel(counts)}))
    if not found or found[-1] > most:
        raise ValueError(f"counts must be between 1 and the number of samples, {most}. Received: counts={counts!r}")
    return found
