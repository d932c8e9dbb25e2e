"""Importance sampling until each row has the standard error that was asked for.

If the number of draws of a row depended on these very draws, the estimate would be biased downwards: where large
weights happen to be missed, the mean and the standard error of the weights are both too low, and drawing stops; where
they are met, more draws dilute them. Unlike the error of a row this does not average out over many rows. So the draws
that decide are others than those that the estimate is of, as in Stein's two stages. A row has two halves a and b, each
with K/2 first draws, and each half has a pilot: its first draws, and as many more as it asks for itself. The pilot of
one half decides how many draws the OTHER has for the standard error s:

    c_b²     squared coefficient of variation of a weight, by the pilot of b:  (n Σ w² / (Σ w)² − 1) n / (n − 1)
    pilot    drawn until n ≥ max(c_b², 40) / (4 s²)
    K_a = 1.2 c_b² / (2 s²), the first K/2 among them

    p(x) ≈ ½ (mean of the weights of a + mean of the weights of b)
    standard error of the logarithm    (c/2) √(1/K_a + 1/K_b),      c² by all draws of the row, pilots included

K_a depends on draws of b alone, so each mean is unbiased for p(x) given its number, and so is their sum with the fixed
weights ½: E exp(value) = p(x) exactly, for any weights, any s and any number of first draws. The logarithm lies below
log p(x) by about s²/2, as that of any unbiased estimate does. What is not guaranteed is the stated error where the
tail of the weights has not been met: large weights of probability π are missed by a pilot with probability
(1 − π)^(10/s²) or less, and the row then has too few draws. Where later draws of the row meet them the stated error
says so, being above s (`PrecisionNotReached`, from a tenth above it on); no more is drawn then, for that would bring
the bias back.

So how often two stated errors cover log p(x) goes by π, not by c² alone. At s = 0.1 a pilot has 10/s² = 1,000 draws at
least. Of weights of two sizes, with 100 first draws as with 1,000:

    c²                            53       53       53       53      181      181
    π                          1.8 %    1.3 %   0.15 %   0.05 %   0.37 %   0.05 %
    covered                     95 %     95 %     90 %     60 %     95 %     60 %
    error stated above 1.1 s     0 %      0 %     37 %     48 %      5 %     48 %

At π = 0.05 % both pilots miss in 37 % of the rows, and nothing tells those. More first draws do: 10,000, of which each
half has 5,000, cover in 87 %. The estimates are unbiased all the same.

A pilot that needs more gets what is missing, at least as many draws again, at most nine times as many. The halves that
need draws are sorted by how many and packed side by side; where they do not fill a batch, each takes several places.

Source: Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals of
Mathematical Statistics 16 (1945); the halves that decide for each other are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.warning import warn
from tfdsmcmc.likelihood import pareto
from tfdsmcmc.likelihood.cautions import PrecisionNotReached

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.likelihood.sampler import Sampler
    from tfdsmcmc.rows.source import RandomAccessSource

_MARGIN = 1.2  # the variation of the draws themselves is seldom more beyond that of the pilot
_PILOT = 0.5  # a pilot's draws, of those that it decides about
_LEAST = 20.0  # c² that a pilot is long enough for, whatever it has met
_TENTH_ABOVE = 1.1
_GROWTH = 2, 10  # least and most by which a round multiplies the draws of a pilot


def checked(num_samples: int, standard_error: float, max_samples: int) -> int:
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


def in_rounds(
    sampler: Sampler,
    source: RandomAccessSource,
    seed: Seed,
    num_samples: int,
    standard_error: float,
    max_samples: int,
    with_tails: bool,
) -> LogLikelihood:
    """Draws until the standard error of each row is met, or its draws are spent.

    Args:
      sampler: `Sampler`.
      source: of rows, with random access.
      seed: int32 of shape (2,).
      num_samples: the first draws of a row, at least 4.
      standard_error: s.
      max_samples: the most draws of a row, its pilots aside, which have at most as many.
      with_tails: whether k̂ is wanted; it is that of a row's longest run.
    """
    pilots, halves, drawn = (_Sums(source.num_rows) for _ in range(3))
    half_of_most, number = max_samples // 2, 0
    missing = np.full((2, source.num_rows), num_samples // 2)
    missing[0] += num_samples % 2
    kept = pilots, halves, drawn
    while missing.any():
        _draw(sampler, source, kept, missing, random.fold(seed, number), with_tails)
        missing = pilots.missing(standard_error, half_of_most)
        kept, number = (pilots, drawn), number + 1
    missing = np.maximum(pilots.wanted(standard_error, half_of_most)[::-1] - halves.count, 0)
    _draw(sampler, source, (halves, drawn), missing, random.fold(seed, number), with_tails)
    return _estimate(halves, drawn, with_tails)


def warn_of_missed(estimate: LogLikelihood, standard_error: float) -> None:
    """Warns of rows whose standard error is more than a tenth above what was asked for: less than that is chance."""
    missed = int(np.sum(~(estimate.standard_error <= _TENTH_ABOVE * standard_error)))
    if missed:
        warn(
            f"The standard error of {missed} of {len(estimate.value)} rows is above {standard_error:g} after "
            f"{int(np.max(estimate.num_samples)):,} draws. More first draws (num_samples), or a larger max_samples, "
            "may help.",
            PrecisionNotReached,
        )


class _Sums:
    """The sums of the weights of both halves of each row, arrays (2, n)."""

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
        """How many more draws each half is to have as a pilot, (2, n)."""
        needed = _PILOT * np.maximum(self._variation(), _LEAST / _PILOT) / (2 * standard_error**2)
        goal = np.clip(needed, *(factor * self.count for factor in _GROWTH))
        goal = np.minimum(np.ceil(goal), np.maximum(most, self.count)).astype(np.int64)
        return np.where(needed > self.count, goal - self.count, 0)

    def wanted(self, standard_error, most):
        """How many draws each half, as a pilot, gives the other one, (2, n)."""
        needed = _MARGIN * self._variation() / (2 * standard_error**2)
        return np.minimum(np.ceil(needed), most).astype(np.int64)

    def _variation(self):
        """c² of each half, (2, n); inf where all the weights are 0."""
        return _variation(self.log_total, self.log_squares, self.count)


def _draw(sampler, source, kept, missing, seed, with_tails):
    """One round: runs of draws for the halves that miss some, (2, n), packed by their lengths.

    Args:
      kept: several `_Sums` that the draws are added to; the last one of them notes the tails.
    """
    half, row = np.nonzero(missing)
    count = missing[half, row]
    order = np.argsort(-count, kind="stable")
    for number, start in enumerate(range(0, len(order), sampler.batch_size)):
        here = order[start : start + sampler.batch_size]
        place, share = _places(count[here], sampler.batch_size)
        runs = here[place]
        tail = pareto.Tail(len(runs), count[here].max()) if with_tails else None
        for block in sampler.blocks(source.take(row[runs]), share, random.fold(seed, number)):
            if with_tails:
                tail.add(block.log_weights)
        for sums in kept:
            sums.add(half[runs], row[runs], *block.log_sums, share)
        for i, run in enumerate(here if with_tails else ()):
            largest = tail.largest[place == i].reshape(1, -1)
            kept[-1].note_tail(row[run], count[run], pareto.pareto_k(largest, count[run])[0])


def _estimate(halves, drawn, with_tails):
    """The estimate from the draws of the halves, with the variation of a weight among all that were drawn."""
    log_means = halves.log_total - np.log(halves.count)
    value = np.logaddexp(*log_means) - np.log(2)
    pooled = (np.logaddexp(*drawn.log_total), np.logaddexp(*drawn.log_squares), drawn.count.sum(0))
    error = np.sqrt(_variation(*pooled) * (1 / halves.count).sum(0)) / 2
    # each draw of a half weighs as one over the draws of the half
    log_squares = np.logaddexp(*(halves.log_squares - 2 * np.log(halves.count))) - np.log(4)
    with np.errstate(invalid="ignore"):
        size = np.exp(2 * value - log_squares)
    error = np.where(np.isneginf(value), np.nan, error)
    return LogLikelihood(value, error, size, halves.count.sum(0), drawn.pareto_k if with_tails else None)


def _variation(log_total, log_squares, count):
    """c², the squared coefficient of variation of a weight, from sums; inf where all the weights are 0."""
    with np.errstate(invalid="ignore"):
        ratio = count * np.exp(log_squares - 2 * log_total)
    ratio = np.where(np.isneginf(log_total), np.inf, ratio)
    return np.maximum(ratio - 1, 0) * (count / (count - 1))


def _places(count, batch_size):
    """(whose each place of a batch is, the draws of each place): equally many places for each of the counts."""
    copies = batch_size // len(count)
    place = np.tile(np.arange(len(count)), copies)
    nth = np.repeat(np.arange(copies), len(count))
    share = count[place] // copies + (nth < count[place] % copies)
    return place[share > 0], share[share > 0]
