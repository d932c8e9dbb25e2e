"""The sampler beside an optimizer: paired differences, who is ahead; settings beside each other."""

import numpy as np
import pytest

from experiments.report import equal_time, pictures, summary
from experiments.report.dataset_page import lead
from experiments.report.records import Records


def run(dataset="digits", architecture="SBN 5", budget=150.0, **rows):
    about = {"architecture": architecture, "dataset": dataset, "budget": budget, "seed": 0, "prior": "flat"}
    about |= {"average": "units", "temperature": 1.0, "annealing_steps": 0}
    return about, {name: np.array(values, np.float64) for name, values in rows.items()}


def test_differences_are_paired():
    runs = [
        run("digits[:400]", units=[-9.0, -11.0], rws=[-12.0, -12.0]),
        run("adult", units=[-5.0] * 2, rws=[-4.0] * 2),
    ]
    first, second = equal_time.comparisons(runs)
    assert (first.dataset(), first.pair()) == ("adult", "SBN 5") and first.difference == (-1.0, 0.0)
    assert (second.dataset(), second.pair()) == ("digits", "SBN 5, first 400 rows")
    np.testing.assert_allclose([second.sampler, second.optimizer, second.difference], [(-10, 1), (-12, 0), (2, 1)])
    assert equal_time.beside([second])[-1] == (
        "| SBN 5, first 400 rows | 150 | −10.00 | 1.00 | −12.00 | 0.00 | +2.00 | 1.00 |"
    )


def compared(value, error, data="digits", seconds=150.0, model="SBN 5"):
    """Beside the best optimizer of any seed the sampler has 2.5 less."""
    return equal_time.Comparison(data, model, seconds, (0, 0), (0, 0), (value, error), (value - 2.5, error))


@pytest.mark.parametrize(
    ("value", "error", "expected"),
    [
        (2.1, 1.0, "ahead"),
        (2.0, 1.0, "level"),
        (-2.0, 1.0, "level"),
        (-2.1, 1.0, "behind"),
        (9.0, None, "not judged"),
        (-9.0, float("nan"), "not judged"),
        (float("-inf"), 1.0, "not judged"),
    ],
)
def test_ahead_is_beyond_two_errors_and_nothing_is_said_without_one(value, error, expected):
    assert compared(value, error).verdict() == expected


def test_a_single_test_row_has_no_error():
    (one,) = equal_time.comparisons([run(units=[-9.0], rws=[-12.0])])
    assert one.difference == (3.0, None) and one.stated() == "+3.00 ± not known"
    assert equal_time.beside([one])[-1] == "| SBN 5 | 150 | −9.00 |  | −12.00 |  | +3.00 |  |"
    assert "ahead of an optimizer in 0 of 1 comparisons" in " ".join(summary.equal_time([one]))
    assert summary.counted([one])[-1] == "| 150 | SBN 5 | 1 | 0 | 0 | 0 | 1 |"
    (bar,) = pictures.equal_time([one]).axes[0].containers
    assert [point[0] for point in bar.lines[2][0].get_segments()[0]] == [3.0, 3.0]


def test_two_budgets_of_a_pair_are_told_apart():
    """In sentences, in the picture by their marks; a pair of one budget has its name alone."""
    runs = [run(budget=budget, units=[-9.0, -11.0], rws=[-12.0, -12.0 - budget]) for budget in (480.0, 150.0)]
    found = equal_time.comparisons([*runs, run("digits[:400]", units=[-9.0] * 2, rws=[-9.0] * 2)])
    assert equal_time.labels(found) == ["SBN 5, 150 s", "SBN 5, 480 s", "SBN 5, first 400 rows"]
    said = " ".join(lead("digits", Records([], runs, [], [], [], [])))
    assert "with SBN 5, 150 s; " in said and "with SBN 5, 480 s." in said
    figure = pictures.equal_time(found)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["150 s", "480 s"]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["Digits, SBN 5", "Digits, SBN 5, first 400 rows"]


def test_what_is_won_and_what_is_not_is_named():
    found = [
        compared(5.0, 1.0, "adult"),
        compared(3.0, 1.0, "adult", 480.0),
        compared(4.0, 1.0, "dna"),
        compared(0.0, 1.0),
        compared(-3.0, 1.0, "digits[:400]"),
    ]
    assert summary.equal_time(found) == [
        "In equal time sampling the weights is **ahead of an optimizer in 3 of 5 comparisons**. "
        "Each is of a data set, a model and a budget. It is level in 1 and behind in 1. "
        "Beside the best optimizer of any seed it is ahead in 1, level in 2 and behind in 2.",
        "",
        "| the sampler is | data | model | budget, s | sampler less optimizer | error |",
        "| --- | --- | --- | --- | --- | --- |",
        "| ahead, the most | Adult | SBN 5 | 150 | +5.00 | 1.00 |",
        "| ahead, the most | DNA | SBN 5 | 150 | +4.00 | 1.00 |",
        "| behind | Digits, first 400 rows | SBN 5 | 150 | −3.00 | 1.00 |",
        "| level | Digits | SBN 5 | 150 | +0.00 | 1.00 |",
        "",
    ]
    assert summary.counted(found)[2:] == ["| 150 | SBN 5 | 4 | 2 | 1 | 1 |", "| 480 | SBN 5 | 1 | 1 | 0 | 0 |"]


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
        "| SBN 5 | `rws` | 3 | 1 | 1.0 | annealed | −12.00 |  |",
        "| SBN 5 | `sampler` | 3 | 2 | 2.0 | average of all samples | −10.50 | 1.00 |",
    ]


def test_no_mark_of_the_picture_stands_at_its_edge():
    axes = pictures.equal_time([compared(-0.7, 0.5), compared(35.0, 1.6, seconds=480.0)]).axes[0]
    width = axes.bbox.width
    for value, error in ((-0.7, -0.5), (35.0, 1.6)):
        place = axes.transData.transform((value + error, 0.0))[0] - axes.bbox.x0
        assert 0.02 * width < place < 0.98 * width
