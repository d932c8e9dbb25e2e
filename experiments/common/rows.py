"""Some of the rows of a data set, and the log-odds of their columns."""

import numpy as np


def random_rows(rows, count, seed):
    """So many of the rows in random order; all where `count` is None or more. The same seed has the same order."""
    return rows[np.random.default_rng(seed).permutation(len(rows))[:count]]


def spread_rows(rows, count):
    """So many of the rows, evenly spaced; all where `count` is None or more."""
    if count is None or count >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(int)]


def log_odds(rows):
    """Log-odds of the columns' means over what is not NaN, with a one and a zero more so that all are finite."""
    ones, seen = np.nansum(rows, 0, dtype=np.float64), np.isfinite(rows).sum(0)
    return np.log((ones + 1) / (seen - ones + 1)).astype(np.float32)
