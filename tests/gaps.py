"""Rows with gaps for a tiny model, and what is exact about them: the sum over every way to fill the gaps."""

from __future__ import annotations

import numpy as np

from tests.oracles import binary_states, log_sum
from tfdsmcmc.rows import rows_of
from tfdsmcmc.supports import Binary

NAN = np.nan
ROWS = np.array([[1, NAN, 0], [NAN, 1, NAN], [0, 0, 1], [NAN, NAN, NAN]], np.float32)


def rows_with_gaps(x=ROWS, support=None):
    """`Rows` of an array in which NaN is missing, with float32 values."""
    rows = rows_of("x", x, np.shape(x)[1], support or Binary())
    return rows._replace(values=rows.values.astype(np.float32))


def completions(row):
    """Every way to fill the gaps of a row of zeros and ones, (2^gaps, D)."""
    gaps = np.isnan(row)
    filled = np.repeat(row[None], 2 ** gaps.sum(), 0)
    filled[:, gaps] = binary_states(gaps.sum())
    return filled


def log_joint(oracle, row):
    """log p(x_observed, z) of every latent state, (S,)."""
    return log_sum(oracle.log_joint(completions(row)), 1)


def log_likelihood(oracle, row):
    """log p(x_observed)."""
    return log_sum(oracle.log_likelihood(completions(row)))
