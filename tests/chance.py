"""Tests of chance: each fails a correct program at most once in 10⁶ runs (with fixed seeds: always or never).

The level of an assertion on several numbers is divided by their count (Bonferroni).
"""

from __future__ import annotations

import numpy as np
import scipy.stats

LEVEL = 1e-6


def assert_frequencies(counts, probabilities, level=LEVEL):
    """Pearson's chi-square test that counts come from a multinomial law; rare cells (below 30) are pooled."""
    counts, probabilities = np.asarray(counts, np.float64), np.asarray(probabilities, np.float64)
    assert counts.shape == probabilities.shape
    np.testing.assert_allclose(probabilities.sum(), 1.0, atol=1e-4)
    expected = probabilities / probabilities.sum() * counts.sum()
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    rare = max(np.searchsorted(expected, 30.0), np.searchsorted(np.cumsum(expected), 30.0) + 1)
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
    _assert_within(estimate, expected, scipy.stats.norm.isf(level / 2 / estimate.size) * error)


def assert_bounded_means(means, expected, deviation, bound, count, level=LEVEL):
    """Bernstein's inequality for means of independent bounded draws: it holds for any law, however skewed, as the
    weights of importance samples are, and any number of draws.

    Args:
      means: (…), each of `count` draws.
      expected: (…), the exact mean.
      deviation: (…), the exact standard deviation of a draw.
      bound: (…), the most by which a draw can differ from its mean.
      count: number of draws behind each mean.
    """
    means, expected, deviation, bound = np.broadcast_arrays(
        *(np.asarray(a, np.float64) for a in (means, expected, deviation, bound))
    )
    log_level = np.log(2 * means.size / level)
    linear = log_level * bound / (3 * count)
    _assert_within(means, expected, linear + np.sqrt(linear**2 + 2 * log_level * deviation**2 / count))


def _assert_within(estimate, expected, tolerance):
    assert estimate.size, "nothing to test"
    tolerance = tolerance + 1e-5 * (1 + np.abs(expected))
    wrong = np.abs(estimate - expected) > tolerance
    assert not wrong.any(), (
        f"{wrong.sum()} of {wrong.size} off by more than chance\nestimate  {estimate[wrong]}\n"
        f"expected  {expected[wrong]}\ntolerance {tolerance[wrong]}"
    )
