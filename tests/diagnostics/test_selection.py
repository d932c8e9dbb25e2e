"""Which weights a pattern chooses."""

import numpy as np
import pytest

from tfdsmcmc.diagnostics.selection import select

WEIGHTS = [
    ("sbn_2/kernel", np.zeros((0, 2))),
    ("sbn_2/bias", np.arange(2.0)),
    ("sbn_12/kernel", 10 + np.arange(6.0).reshape(2, 3)),
    ("sbn_12/bias", np.arange(3.0)),
]
THETA = [weight for _, weight in WEIGHTS]


def labels(patterns):
    return [part.label for part in select(WEIGHTS, patterns)]


def test_patterns_are_searched_in_the_names():
    assert labels("sbn_2/") == ["sbn_2/bias"]  # its kernel has no entries
    assert labels(["bias", "^sbn_12"]) == ["sbn_2/bias", "sbn_12/bias", "sbn_12/kernel"]
    assert labels(()) == []


def test_an_index_is_one_into_the_weight():
    (entry,) = select(WEIGHTS, "sbn_12/kernel[1, 2]")
    assert (entry.label, entry.shape, float(entry.of(THETA))) == ("sbn_12/kernel[1, 2]", (), 15.0)
    (entry,) = select(WEIGHTS, ["sbn_12/kernel[ -2,-1 ]", "kernel$[0,2]"][:1])
    assert (entry.label, float(entry.of(THETA))) == ("sbn_12/kernel[0, 2]", 12.0)
    (row,) = select(WEIGHTS, "sbn_12/kernel[1]")
    np.testing.assert_array_equal(row.of(THETA), [13, 14, 15])
    assert labels(["bias[1]"]) == ["sbn_2/bias[1]", "sbn_12/bias[1]"]


def test_entries_have_their_labels_and_values():
    (kernel,) = select(WEIGHTS, "sbn_12/kernel")
    found = {entry.label: float(entry.of(THETA)) for entry in kernel.entries()}
    assert found == {f"sbn_12/kernel[{i}, {j}]": 10.0 + 3 * i + j for i in range(2) for j in range(3)}
    (row,) = select(WEIGHTS, "sbn_12/kernel[1]")
    assert [entry.label for entry in row.entries()] == [f"sbn_12/kernel[1, {j}]" for j in range(3)]


def test_a_whole_name_before_brackets_makes_them_an_index():
    """As the labels have it, whatever other names the brackets would find as a class of characters."""
    weights = [("w1", np.zeros(3)), ("w", np.zeros(3))]
    assert [part.label for part in select(weights, "w[1]")] == ["w1[1]", "w[1]"]


def test_what_chooses_nothing_is_refused():
    for patterns, reason in (
        ("sbn_3", "must be found in a weight's name.*Received: 'sbn_3'"),
        ("bias[2]", r"index must be one into 'sbn_2/bias' of shape \(2,\). Received: "),
        ("sbn_12/kernel[0, 3]", r"index must be one into 'sbn_12/kernel' of shape \(2, 3\). Received: "),
        ("sbn_12/bias[0, 0]", r"index must be one into 'sbn_12/bias' of shape \(3,\). Received: "),
        ("sbn_[12]", r"an index, and here a class of characters too.*Received: 'sbn_\[12\]'"),
        ("(", r"are regular expressions.*Received: '\('"),
        ([3], "A pattern of weight names is a string. Received: 3"),
        ([None], "A pattern of weight names is a string. Received: None"),
    ):
        with pytest.raises(ValueError, match=reason):
            select(WEIGHTS, patterns)
