"""Gaps in a complete table, by three mechanisms (Rubin, "Inference and missing data", Biometrika 1976).

With z the standardised column (states stand for random scores), r the rate and σ the logistic function, an entry (i, j)
is missing, independently given the table, with probability

    MCAR    r
    MAR     σ(a_j + b z_i,d(j))    d(j) a column that is never missing itself
    MNAR    σ(a_j + b z_ij)

with b = 2 or −2 at random and a_j solved for: the mean of the probabilities over the rows is r. Under MAR a quarter of
the columns, one at least, have no gaps, and d(j) is a random one of them, so that what is missing depends on what is
observed alone; r is the rate of the other columns.
"""

import numpy as np
import scipy.optimize
import scipy.special

from experiments.imputation.coded import location

MECHANISMS = ("MCAR", "MAR", "MNAR")
SLOPE = 2.0


def missing(table, mechanism, rate, seed):
    """(n, D), True where an entry is to be missing.

    Args:
      table: `Coded`, complete.
      mechanism: "MCAR", "MAR" or "MNAR".
      rate: expected share of missing entries in each column that has any.
      seed: of `numpy.random.default_rng`.

    Raises:
      ValueError: for another mechanism, a rate that is not between 0 and 1, or MAR of a single column.
    """
    if mechanism not in MECHANISMS:
        raise ValueError(f"mechanism is one of {MECHANISMS}. Received: {mechanism!r}")
    if not 0 < rate < 1:
        raise ValueError(f"rate must be between 0 and 1. Received: {rate}")
    rng = np.random.default_rng(seed)
    chosen = probabilities(table, mechanism, rate, rng)
    return rng.random(chosen.shape) < chosen


def probabilities(table, mechanism, rate, rng):
    """(n, D), of each entry that it is missing."""
    n, columns = table.values.shape
    if mechanism == "MCAR":
        return np.full((n, columns), rate)
    z = np.stack([_scores(table.values[:, j], states, rng) for j, states in enumerate(table.states)], 1)
    slopes = SLOPE * rng.choice([-1.0, 1.0], columns)
    if mechanism == "MNAR":
        return np.stack([logistic(slope * z[:, j], rate) for j, slope in enumerate(slopes)], 1)
    if columns < 2:
        raise ValueError("MAR is of two columns at least. Received: a table of one")
    drivers = rng.permutation(columns)[: max(1, columns // 4)]
    found = np.zeros((n, columns))
    for j in np.setdiff1d(np.arange(columns), drivers):
        found[:, j] = logistic(slopes[j] * z[:, rng.choice(drivers)], rate)
    return found


def logistic(logits, rate):
    """σ(a + logits) with the a for which their mean is the rate."""
    bound = np.abs(logits).max() + abs(scipy.special.logit(rate)) + 1
    offset = scipy.optimize.brentq(lambda a: scipy.special.expit(a + logits).mean() - rate, -bound, bound, xtol=1e-12)
    return scipy.special.expit(offset + logits)


def _scores(column, states, rng):
    if states > 2:
        column = rng.normal(size=states)[column.astype(int)]
    mean, scale = location(column)
    return (column - mean) / scale
