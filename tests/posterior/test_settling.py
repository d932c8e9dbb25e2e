"""When a trend has settled: SciPy's regression says the same, and chance decides rarely."""

import numpy as np
import pytest
import scipy.stats

from tfdsmcmc.posterior.settling import settled


def test_it_is_a_regression_over_the_window():
    rng = np.random.default_rng(0)
    answers = set()
    for slope in (-0.01, 0.0, 0.002, 0.02):
        for n in (6, 30):
            steps = np.cumsum(rng.integers(5, 20, n))
            values = slope * steps + rng.normal(size=n)
            window = int((steps[-1] - steps[0]) * rng.uniform(0.6, 1.0))
            inside = steps >= steps[-1] - window
            if inside.sum() < 5:
                inside = np.arange(n) >= n - 5
            line = scipy.stats.linregress(steps[inside], values[inside])
            answers.add(settled(steps, values, window))
            assert settled(steps, values, window) == (line.slope <= 2 * line.stderr)
    assert answers == {True, False}


def test_white_noise_counts_as_rising_in_one_case_of_forty():
    """The t law at 28 degrees of freedom has 2.8 % beyond 2; 2,000 cases, six standard errors."""
    rng = np.random.default_rng(1)
    rising = np.mean([not settled(np.arange(30), rng.normal(size=30), 29) for _ in range(2000)])
    want = scipy.stats.t.sf(2, 28)
    assert abs(rising - want) < 6 * np.sqrt(want / 2000)


@pytest.mark.parametrize(
    ("steps", "values", "window", "want"),
    [
        ([], [], 10, False),
        ([10, 20, 30, 40], [1, 1, 1, 1], 10, False),  # too few
        ([10, 20, 30, 40, 50], [1, 1, 1, 1, 1], 50, False),  # too short
        ([10, 20, 30, 40, 50], [1, 1, 1, 1, 1], 40, True),
        ([10, 20, 30, 40, 50], [1, 2, 3, 4, 5], 10, False),  # five values, whatever the window
        ([10, 20, 30, 40, 50], [5, 4, 3, 2, 1], 10, True),
        ([10, 20, 30, 40, 50, 60], [1, 1, np.nan, 1, 1, 1], 40, True),  # what is not there is left out
        ([10, 20, 30, 40, 50], [1, 1, np.nan, 1, 1], 40, False),
    ],
)
def test_few_values_and_none(steps, values, window, want):
    assert settled(np.array(steps), np.array(values, float), window) is want
