"""Tests of chance: each fails a correct program at most once in 10⁶ runs (with fixed seeds: always or never).

The level of an assertion on several numbers is divided by their count (Bonferroni).
"""

from __future__ import annotations

import numpy as np
import scipy.stats

LEVEL = 1e-6


def assert_frequencies(counts, probabilities, level=LEVEL):
    """Pearson's chi-square test that counts come from a multinomial law; rare cells (below 10) are pooled."""
    counts, probabilities = np.asarray(counts, np.float64), np.asarray(probabilities, np.float64)
    assert counts.shape == probabilities.shape
    np.testing.assert_allclose(probabilities.sum(), 1.0, atol=1e-4)
    expected = probabilities / probabilities.sum() * counts.sum()
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    rare = max(np.searchsorted(expected, 10.0), np.searchsorted(np.cumsum(expected), 10.0) + 1)
    if rare > 1:
        counts = np.append(counts[:rare].sum(), counts[rare:])
        expected = np.append(expected[:rare].sum(), expected[rare:])
    assert len(counts) > 1, "all the cells are rare: draw more"
    p = scipy.stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1)
    assert p > level, f"chi-square p = {p:.2g}\ncounts   {counts}\nexpected {np.round(expected, 1)}"


def assert_means(draws, expected, deviation=None, level=LEVEL):
    """z-test that the mean of independent draws over the leading axis is the expected one.

    Args:
      draws: (n, …).
      expected: (…), the exact mean.
      deviation: (…), the exact standard deviation of a draw; by default the sample's (then n should be large).
    """
    draws = np.asarray(draws, np.float64)
    deviation = draws.std(0, ddof=1) if deviation is None else deviation
    assert_near(draws.mean(0), expected, deviation / np.sqrt(len(draws)), level)


def assert_near(estimate, expected, error, level=LEVEL):
    """z-test of normal estimates with known standard errors; a zero error asks for equality up to rounding."""
    estimate, expected, error = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (estimate, expected, error)))
    assert estimate.size, "nothing to test"
    bound = scipy.stats.norm.isf(level / 2 / estimate.size) * error + 1e-5 * (1 + np.abs(expected))
    worst = np.max(np.abs(estimate - expected) - bound)
    assert worst <= 0, f"off by more than chance\nestimate {estimate}\nexpected {expected}\nerror    {error}"
