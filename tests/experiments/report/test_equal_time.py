"""The sampler beside an optimizer: paired differences, who is ahead; settings beside each other."""

import numpy as np

from experiments.report import equal_time


def run(dataset="digits", architecture="SBN 5", **rows):
    about = {"architecture": architecture, "dataset": dataset, "budget": 150.0, "seed": 0, "prior": "flat"}
    about |= {"average": "units", "temperature": 1.0}
    return about, {name: np.array(values, np.float64) for name, values in rows.items()}


def test_differences_are_paired():
    runs = [
        run("digits[:400]", units=[-9.0, -11.0], rws=[-12.0, -12.0]),
        run("adult", units=[-5.0] * 2, rws=[-4.0] * 2),
    ]
    first, second = equal_time.comparisons(runs)
    assert (first.dataset(), first.label()) == ("adult", "SBN 5") and first.difference == (-1.0, 0.0)
    assert (second.dataset(), second.label()) == ("digits", "SBN 5, first 400 rows")
    np.testing.assert_allclose([second.sampler, second.optimizer, second.difference], [(-10, 1), (-12, 0), (2, 1)])
    assert equal_time.beside([second])[-1] == (
        "| SBN 5, first 400 rows | 150 | −10.00 | 1.00 | −12.00 | 0.00 | +2.00 | 1.00 |"
    )


def test_ahead_is_beyond_two_errors():
    def one(value, error):
        return equal_time.Comparison("digits", "SBN 5", 150.0, (0, 0), (0, 0), (value, error))

    above, level, below = one(2.1, 1.0), one(2.0, 1.0), one(-2.1, 1.0)
    assert equal_time.ahead([above, level, below]) == ([above], [below])


def test_settings_are_means_over_the_seeds():
    def of(setting, seed, seconds, **rows):
        about = {"architecture": "SBN 5", "setting": setting, "chains": 3, "seed": seed, "processor_seconds": seconds}
        return about, rows

    runs = [
        of("sampler", 0, 60.0, predictive=[-9.0, -11.0], last=[-20.0, -20.0]),
        of("sampler", 1, 180.0, predictive=[-10.0, -12.0, -99.0], last=[-20.0, -20.0]),
        of("rws", 0, 60.0, last=[-13.0, -15.0], annealed=[-12.0]),
    ]
    assert equal_time.settings(runs)[2:] == [
        "| SBN 5 | `rws` | 3 | 1 | 1.0 | best on validation | −14.00 | 1.00 |",
        "| SBN 5 | `rws` | 3 | 1 | 1.0 | annealed | −12.00 | not finite |",
        "| SBN 5 | `sampler` | 3 | 2 | 2.0 | average of all samples | −10.50 | 1.00 |",
    ]
