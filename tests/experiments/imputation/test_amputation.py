"""Gaps: their rates, and what they depend on."""

import numpy as np
import pytest

from experiments.imputation import amputation
from experiments.imputation.coded import Coded

ROWS = 20_000


def two_columns(seed=0):
    """A state of two, and a number that depends on it."""
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 2, ROWS)
    return Coded(np.stack([state, state + rng.normal(size=ROWS)], 1), np.array([2, 0]), np.zeros(2, bool))


@pytest.mark.parametrize("mechanism", amputation.MECHANISMS)
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_the_rate_is_solved_for(mechanism, rate):
    table = two_columns()
    chosen = amputation.probabilities(table, mechanism, rate, np.random.default_rng(1))
    means = chosen.mean(0)
    np.testing.assert_allclose(means[means > 0], rate, atol=1e-9)
    assert (means > 0).sum() == (1 if mechanism == "MAR" else 2)
    found = amputation.missing(table, mechanism, rate, 1).mean(0)
    assert (np.abs(found - means) <= 6 * np.sqrt(rate * (1 - rate) / ROWS)).all()


def difference(mechanism):
    """Of the number, where it is missing less where it is not, given the state, in standard errors; its gaps by state.

    A seed for which the state has no gaps under MAR."""
    table = two_columns()
    for seed in range(50):
        missing = amputation.missing(table, mechanism, 0.5, seed)
        if missing[:, 1].any() and (mechanism != "MAR" or not missing[:, 0].any()):
            break
    found, gaps = [], missing[:, 1]
    for state in (0, 1):
        own = table.values[:, 0] == state
        without, with_gap = table.values[own & ~gaps, 1], table.values[own & gaps, 1]
        error = np.sqrt(without.var() / len(without) + with_gap.var() / len(with_gap))
        found.append((with_gap.mean() - without.mean()) / error)
    return np.abs(found), [gaps[table.values[:, 0] == state].mean() for state in (0, 1)]


def test_at_random_gaps_do_not_depend_on_what_they_hide():
    """Given what is observed; they do depend on that. Six standard errors: a false alarm in 10⁸."""
    apart, rates = difference("MAR")
    assert (apart < 6).all() and abs(rates[0] - rates[1]) > 0.3


def test_gaps_not_at_random_depend_on_what_they_hide():
    assert (difference("MNAR")[0] > 20).all()
    apart, rates = difference("MCAR")
    assert (apart < 6).all() and abs(rates[0] - rates[1]) < 0.05


def test_the_seed_says_which():
    first, same, other = (amputation.missing(two_columns(), "MNAR", 0.3, seed) for seed in (1, 1, 2))
    assert (first == same).all() and (first != other).any()


@pytest.mark.parametrize(
    ("mechanism", "rate", "received"), [("MAR?", 0.3, "'MAR\\?'"), ("MAR", 1.0, "1.0"), ("MCAR", 0.0, "0.0")]
)
def test_what_cannot_be_is_refused(mechanism, rate, received):
    with pytest.raises(ValueError, match=f"Received: {received}$"):
        amputation.missing(two_columns(), mechanism, rate, 0)


def test_at_random_takes_two_columns():
    table = Coded(np.arange(5.0)[:, np.newaxis], np.zeros(1, int), np.zeros(1, bool))
    with pytest.raises(ValueError, match="Received: a table of one$"):
        amputation.missing(table, "MAR", 0.3, 0)
