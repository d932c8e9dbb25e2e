"""Importance sampling until each row has the standard error that was asked for.

If the number of draws of a row depended on these very draws, the estimate would be biased downwards: where large
weights happen to be missed, the mean and the standard error of the weights are both too low, and drawing stops; where
they are met, more draws dilute them. Unlike the error of a row this does not average out over many rows. So the draws
of a row are kept in two halves a and b, each of which says how many draws the OTHER needs for the standard error s:

    c_a² = (K_a Σ_a w² / (Σ_a w)² − 1) K_a / (K_a − 1)      squared coefficient of variation of a weight
    K_b ≥ c_a² / (2 s²),      K_a ≥ c_b² / (2 s²)

    p(x) ≈ ½ (mean of the weights of a + mean of the weights of b)
    standard error of the logarithm    ½ √(c_a²/K_b + c_b²/K_a)

The first draws of b decide about the second draws of a, of which they are independent: after two rounds each mean, and
their sum with the fixed weights ½, is exactly unbiased for p(x). From the third round on K_a depends on the draws of a
through K_b, that is on how much b has seen. What this leaves is small beside s where the first draws show the tail of
the weights; where they do not, the value and its standard error are both too low, whether or not more is drawn: a
thousand first draws are better than a hundred. The logarithm lies below log p(x) by about s²/2, as that of any unbiased
estimate does. The standard error takes c² of each half against the number of the other: both c² have the same limit, so
it is the delta method's, and it is s or less exactly where both halves have what they need.

A half that needs more gets what is missing, at least as many draws again, at most nine times as many. The halves that
need draws are sorted by how many and packed side by side; where they do not fill a batch, each takes several places.
"""

from __future__ import annotations

import numpy as np

from tfdsmcmc import checks, random
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.likelihood import pareto
from tfdsmcmc.likelihood.cautions import PrecisionNotReached, warn

_MARGIN = 1.1  # c² tends to rise as more draws are seen; a little more now spares a round
_GROWTH = 2, 10  # least and most by which a round multiplies the draws


def checked(num_samples, standard_error, max_samples) -> int:
    """Returns `max_samples`, the three arguments being fit for each other.

    Raises:
      ValueError: for a standard error that is not above 0, fewer than 4 first draws, or more than `max_samples`.
    """
    standard_error = float(checks.positive_number("standard_error", standard_error))
    if not standard_error > 1e-6:  # beyond what float32 weights can tell
        raise ValueError(f"standard_error must be above 1e-6. Received: standard_error={standard_error!r}")
    max_samples = checks.positive_integer("max_samples", max_samples)
    if num_samples < 4:
        raise ValueError(f"With standard_error num_samples must be at least 4. Received: num_samples={num_samples}")
    if max_samples < num_samples:
        raise ValueError(
            f"max_samples must not be below num_samples, {num_samples}. Received: max_samples={max_samples}"
        )
    return max_samples


def in_rounds(sampler, source, seed, num_samples, standard_error, max_samples, with_tails) -> LogLikelihood:
    """Draws until the standard error of each row is met, or its draws are spent.

    Args:
      sampler: `Sampler`.
      source: of rows, with random access.
      seed: int32 of shape (2,).
      num_samples: the first draws of a row, at least 4.
      standard_error: s.
      max_samples: the most draws of a row.
      with_tails: whether k̂ is wanted; it is that of a row's longest run.
    """
    halves = _Halves(source.num_rows)
    missing = np.full((2, source.num_rows), num_samples // 2)
    missing[0] += num_samples % 2
    number = 0
    while missing.any():
        half, row = np.nonzero(missing)
        _draw(sampler, source, halves, half, row, missing[half, row], random.fold(seed, number), with_tails)
        missing = halves.missing(standard_error, max_samples // 2)
        number += 1
    return halves.estimate(with_tails)


def warn_of_missed(estimate, standard_error):
    """Warns of rows whose standard error is above what was asked for."""
    missed = int(np.sum(~(estimate.standard_error <= standard_error)))
    if missed:
        warn(
            f"The standard error of {missed} of {len(estimate.value)} rows is above {standard_error:g} after "
            f"{int(np.max(estimate.num_samples)):,} draws.",
            PrecisionNotReached,
        )


class _Halves:
    """The sums of both halves of each row, arrays (2, n)."""

    def __init__(self, rows):
        self.log_total = np.full((2, rows), -np.inf)
        self.log_squares = np.full((2, rows), -np.inf)
        self.count = np.zeros((2, rows), np.int64)
        self.pareto_k = np.full(rows, np.nan)
        self.longest = np.zeros(rows, np.int64)

    def add(self, half, row, log_total, log_squares, count):
        """Adds runs of draws; a half may have several."""
        for sums, values in ((self.log_total, log_total), (self.log_squares, log_squares)):
            np.logaddexp.at(sums, (half, row), values)
        np.add.at(self.count, (half, row), count)

    def note_tail(self, row, count, pareto_k):
        """Keeps k̂ of a run that is as long as the longest of its row so far."""
        if count >= self.longest[row]:
            self.longest[row], self.pareto_k[row] = count, pareto_k

    def missing(self, standard_error, most):
        """How many more draws each half is to have, (2, n)."""
        needed = self._variation()[::-1] / (2 * standard_error**2)
        goal = np.clip(_MARGIN * needed, *(factor * self.count for factor in _GROWTH))
        goal = np.minimum(np.ceil(goal), np.maximum(most, self.count)).astype(np.int64)
        return np.where(needed > self.count, goal - self.count, 0)

    def estimate(self, with_tails):
        log_means = self.log_total - np.log(self.count)
        value = np.logaddexp(*log_means) - np.log(2)
        error = np.sqrt((self._variation() / self.count[::-1]).sum(0)) / 2
        # each draw of a half weighs as one over the draws of the half
        log_squares = np.logaddexp(*(self.log_squares - 2 * np.log(self.count))) - np.log(4)
        with np.errstate(invalid="ignore"):
            size = np.exp(2 * value - log_squares)
        error = np.where(np.isneginf(value), np.nan, error)
        return LogLikelihood(value, error, size, self.count.sum(0), self.pareto_k if with_tails else None)

    def _variation(self):
        """c² of each half, (2, n); inf where all the weights are 0."""
        with np.errstate(invalid="ignore"):
            ratio = self.count * np.exp(self.log_squares - 2 * self.log_total)
        ratio = np.where(np.isneginf(self.log_total), np.inf, ratio)
        return np.maximum(ratio - 1, 0) * (self.count / (self.count - 1))


def _draw(sampler, source, halves, half, row, count, seed, with_tails):
    """One round: runs of draws for some halves, given by three arrays, packed by their lengths."""
    order = np.argsort(-count, kind="stable")
    for number, start in enumerate(range(0, len(order), sampler.batch_size)):
        here = order[start : start + sampler.batch_size]
        place, share = _places(count[here], sampler.batch_size)
        runs = here[place]
        tail = pareto.Tail(len(runs), count[here].max()) if with_tails else None
        for block in sampler.blocks(source.take(row[runs]), share, random.fold(seed, number)):
            if with_tails:
                tail.add(block.log_weights)
        halves.add(half[runs], row[runs], *block.log_sums, share)
        for i, run in enumerate(here if with_tails else ()):
            largest = tail.largest[place == i].reshape(1, -1)
            halves.note_tail(row[run], count[run], pareto.pareto_k(largest, count[run])[0])


def _places(count, batch_size):
    """(whose each place of a batch is, the draws of each place): equally many places for each of the counts."""
    copies = batch_size // len(count)
    place = np.tile(np.arange(len(count)), copies)
    nth = np.repeat(np.arange(copies), len(count))
    share = count[place] // copies + (nth < count[place] % copies)
    return place[share > 0], share[share > 0]
