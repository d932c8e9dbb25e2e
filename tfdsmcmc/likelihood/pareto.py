"""The shape k̂ of the tail of importance weights: how far their mean can be trusted.

The M = ⌈min(K/5, 3√K)⌉ largest of K weights, less the next smaller one, are fitted by a generalised Pareto law, of
which moments of order below 1/k exist. A mean of K weights is reliable where

    k̂ ≤ min(1 − 1/log₁₀ K, 0.7)

and beyond it neither the mean nor its standard error is. Only the M + 1 largest log-weights are kept, so that memory
grows as √K. The fit is ArviZ's.

Source: Vehtari, Simpson, Gelman, Yao and Gabry, "Pareto smoothed importance sampling", Journal of Machine Learning
Research 25 (2024), sections 2.4 and 3.2.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_FEWEST = 5  # a smaller tail is not fitted
_SLIGHT = 0.05  # of all weights: so few that are larger by so little in all do no harm
_ENTRIES = 2**20  # of the arrays that are fitted at once


def tail_size(num_samples: int | np.integer[Any]) -> int:
    """M."""
    return math.ceil(min(num_samples / 5, 3 * math.sqrt(num_samples)))


def threshold(num_samples: int | np.ndarray) -> np.ndarray:
    """The largest k̂ at which a mean of K weights is reliable, for K an array of integers."""
    return np.minimum(1 - 1 / np.log10(np.maximum(num_samples, 2)), 0.7)


class Tail:
    """The largest log-weights of each row, of all that were added.

    Args:
      rows: number of rows.
      num_samples: the most draws that a row will have.
    """

    def __init__(self, rows: int, num_samples: int | np.integer[Any]):
        self._capacity = tail_size(num_samples) + 1
        self.largest: np.ndarray = np.empty((rows, 0), np.float32)

    def add(self, log_weights: np.ndarray) -> None:
        """Adds log-weights, (draws, rows)."""
        pool = np.concatenate([self.largest, np.transpose(log_weights)], 1)
        if pool.shape[1] > self._capacity:
            pool = np.partition(pool, -self._capacity, axis=1)[:, -self._capacity :]
        self.largest = pool


def pareto_k(largest: np.ndarray, num_samples: int | np.integer[Any]) -> np.ndarray:
    """k̂ of each row.

    Args:
      largest: (n, ≥ M + 1), log-weights of which the M + 1 largest of the row are part.
      num_samples: K, an integer.

    Returns:
      (n,): nan where there is nothing to fit, as M is below 5, all the weights of the tail are the same, or fewer than
      5 are larger, by at most a twentieth of what M + 1 of the next smaller one sum to; inf where fewer than 5 are
      larger by more, or all are 0.
    """
    size = tail_size(num_samples)
    if size < _FEWEST:
        return np.full(len(largest), np.nan)
    tails = np.sort(np.asarray(largest, np.float64), 1)[:, -size - 1 :]
    # the fit takes a fifth of a short array for the tail, and its reff makes 3√(length/reff) the M of all K
    length = min(num_samples, 5 * size)
    rows = max(1, _ENTRIES // length)
    parts = [_fit(tails[i : i + rows], length, length / num_samples) for i in range(0, len(tails), rows)]
    k = np.concatenate(parts)
    cut_off, top = tails[:, 0], tails[:, -1]
    return np.where(np.isneginf(top), np.inf, np.where((top == cut_off) | _slight(tails), np.nan, k))


def _slight(tails):
    """Of each row, whether fewer than 5 weights are larger than the cut-off, and together by little.

    Draws of few states have few weights, most of them the same. All weights sum to M + 1 of the cut-off at least.
    """
    with np.errstate(all="ignore"):
        over = np.expm1(tails[:, 1:] - tails[:, :1])
    return (np.sum(over > 0, 1) < _FEWEST) & (np.sum(over, 1) <= _SLIGHT * tails.shape[1])


def _fit(tails, length, reff):
    """k̂ of tails (n, M + 1), each preceded by copies of its cut-off to the length that the fit expects."""
    import arviz

    rest = np.repeat(tails[:, :1], length - tails.shape[1], 1)
    with np.errstate(all="ignore"):
        return np.atleast_1d(arviz.psislw(np.concatenate([rest, tails], 1), reff=reff)[1])
