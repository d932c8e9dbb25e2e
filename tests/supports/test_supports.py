"""The supports keep their contract, and what is special of each."""

import numpy as np
import pytest

from tests.conformance.supports import run_support_test
from tfdsmcmc import random
from tfdsmcmc.rows import rows_of, source_of
from tfdsmcmc.supports import Amounts, Binary, Counts, OneHot, Real, SideBySide, Skewed, Spin

NAN = np.nan
GROUPS = OneHot([2, 3])
TABLE = SideBySide([(Real(), [0, 5]), (OneHot([3]), [1, 2, 3]), (Counts([4.0]), [4]), (Binary(), [6])])


@pytest.mark.parametrize(
    ("support", "good", "bad"),
    [
        (Binary(), [[0, 1, 1], [1, 0, 0]], [[0, 1, 2], [0.5, 1, 1]]),
        (Spin(), [[-1, 1, 1], [1, -1, -1]], [[0, 1, 1], [2, 1, -1]]),
        (Real(), [[-1.5, 1, 1e30], [1, 0, 0]], np.zeros((0, 3))),
        (Skewed([0.0, 0.5, 2]), [[-1.5, 1, 1e30], [1, 0, 0]], np.zeros((0, 3))),
        (GROUPS, [[1, 0, 0, 0, 1], [0, 1, 1, 0, 0]], [[1, 1, 1, 0, 0], [0, 0, 1, 0, 0], [1, 0, 2, -1, 0]]),
        (OneHot([2, 3], True), [[1, 0, 0, 0, 1], [0, 0, 0, 0, 0]], [[1, 1, 1, 0, 0], [0, 0, 1, 0, 1]]),
        (Amounts([1.5, 20]), [[0, 3.5], [1e30, 7]], [[-0.5, 1], [np.inf, 2]]),
        (Counts([1.5, 20]), [[0, 3], [2**24, 7]], [[0.5, 1], [-1, 2], [2**25, 0]]),
        (
            TABLE,
            [[-0.5, 0, 1, 0, 17, 1e9, 1], [0, 1, 0, 0, 0, 0, 0]],
            [[0, 1, 1, 0, 0, 0, 0], [0, 1, 0, 0, -1, 0, 0], [0, 1, 0, 0, 0, 0, 2]],
        ),
    ],
)
def test_they_keep_the_contract(support, good, bad):
    run_support_test(support, good, bad)


def test_they_are_values():
    assert Binary() == Binary() != Real() and OneHot([2, 3]) == GROUPS != OneHot([3, 2])
    assert len({Binary(), Binary(), GROUPS, OneHot([2, 3])}) == 2


def test_groups_are_whole_or_missing():
    rows = rows_of("x", [[1, 0, NAN, NAN, NAN], [NAN, NAN, 0, 1, 0]], 5, GROUPS)
    np.testing.assert_array_equal(rows.observed, [[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
    third = np.float32(1) / np.float32(3)
    np.testing.assert_allclose(rows.values, [[1, 0, third, third, third], [0.5, 0.5, 0, 1, 0]], rtol=1e-6)
    for row in ([1, NAN, 0, 1, 0], [1, 0, NAN, 1, 0], [NAN, 0, NAN, NAN, NAN]):
        with pytest.raises(ValueError, match="in each group, all states .*Received: "):
            rows_of("x", [row], 5, GROUPS)


def test_the_likeliest_states():
    np.testing.assert_array_equal(GROUPS.mode(np.array([[0.4, 0.6, 0.2, 0.5, 0.3]])), [[0, 1, 0, 1, 0]])
    np.testing.assert_array_equal(Binary().mode(np.array([[0.5, 0.6]])), [[0, 1]])
    np.testing.assert_array_equal(Spin().mode(np.array([[-0.5, 0.6]])), [[-1, 1]])


def test_the_noise_of_groups_is_even():
    """Each state with probability 1/q: 6,000 draws, 5 standard deviations."""
    found = GROUPS.noise([6000, 5], 1).numpy().mean(0)
    want = np.array([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])
    assert (np.abs(found - want) < 5 * np.sqrt(want * (1 - want) / 6000)).all()


def test_sources_made_elsewhere_are_looked_at():
    bits = source_of("x", np.array([[1, 1, 1, 0, 0]]), 5, Binary())
    assert source_of("x", bits, 5, Binary()) is bits
    with pytest.raises(ValueError, match="in each group.*Received: 2 other entries"):
        source_of("x", bits, 5, GROUPS)


@pytest.mark.parametrize("groups", [[], 3, [2, 1], [2, 0], [2.5], "23", None])
def test_numbers_of_states(groups):
    with pytest.raises(ValueError, match="groups must .*Received: "):
        OneHot(groups)


def test_noise_of_large_counts_is_a_count():
    drawn = Counts([4e6]).noise([10000, 1], random.as_seed(1))
    assert Counts([4e6]).holds(drawn).numpy().all() and (drawn == 2**24).numpy().any()


def test_counts_are_seen_by_their_logarithms():
    """In a row among others too; where nothing is to be changed the very tensor comes back."""
    seen = Amounts([3.0, 1.0]).seen(np.array([[0.0, 3.0]], np.float32))
    np.testing.assert_allclose(seen, [[-np.log(2), np.log(2)]], rtol=1e-6)
    seen = Counts([3.0, 1.0]).seen(np.array([[3.0, 7.0]], np.float32))
    np.testing.assert_allclose(seen, [[0.0, np.log(4.0)]], rtol=1e-6)
    seen = Counts([3.0, 8.0], [1.0, 8.0]).seen(np.array([[7.0, 0.0]], np.float32))
    np.testing.assert_allclose(seen, [[np.log(2.0), -np.log(2.0)]], rtol=1e-6)
    assert Counts([3.0]) == Counts([3.0], [1.0]) != Counts([3.0], [3.0])
    seen = Skewed([0.0, 2.0, 1.0]).seen(np.array([[np.e - 1, 1 - np.e, -3.0]], np.float32))
    np.testing.assert_allclose(seen, [[1.0, -1.0, -3.0]], rtol=1e-6)
    np.testing.assert_array_equal(Skewed([2.0, 0.0]).seen(np.array([[1e30, -1e30]])), [[30.0, -30.0]])
    row = np.array([[-0.5, 0, 1, 0, 17, 2, 1]], np.float32)
    np.testing.assert_allclose(TABLE.seen(row), [[-0.5, 0, 1, 0, np.log(18 / 5), 2, 1]], rtol=1e-6)
    np.testing.assert_allclose(TABLE.seen(TABLE.filling[None])[0, 4], 0.0, atol=1e-7)
    plain = SideBySide([(Real(), [1]), (Binary(), [0])])
    assert plain.seen(row) is row and Binary().seen(row) is row and not plain.discrete and not plain.bits


def test_columns_are_whole_or_missing():
    row = [0.5, NAN, NAN, NAN, 3, NAN, 1]
    rows = rows_of("x", [row], 7, TABLE)
    np.testing.assert_array_equal(rows.observed, [[1, 0, 0, 0, 1, 0, 1]])
    np.testing.assert_allclose(rows.values, [[0.5, 1 / 3, 1 / 3, 1 / 3, 3, 0, 1]], rtol=1e-6)
    with pytest.raises(ValueError, match="all entries of a column observed or none.*Received: "):
        rows_of("x", [[0.5, NAN, 1, 0, 3, NAN, 1]], 7, TABLE)
    means = np.array([[0.2, 0.1, 0.5, 0.4, 2.6, -1.5, 0.7]])
    np.testing.assert_allclose(TABLE.mode(means), [[0.2, 0, 1, 0, 3, -1.5, 1]], rtol=1e-6)


@pytest.mark.parametrize("typical", [[], 3, [0], [-1.0], ["2"], [2**24], None])
def test_typical_counts(typical):
    with pytest.raises(ValueError, match="typical must .*Received: "):
        Counts(typical)
    if typical is not None:
        with pytest.raises(ValueError, match="offsets must .*Received: "):
            Counts([1.0, 2.0], typical)
    if typical != [2**24]:
        with pytest.raises(ValueError, match="Received: typical="):
            Amounts(typical)


@pytest.mark.parametrize("powers", [[], 1.0, [-0.1], [2.5], ["1"], None])
def test_powers(powers):
    with pytest.raises(ValueError, match="Received: powers="):
        Skewed(powers)


@pytest.mark.parametrize("parts", [[], [(Real(), [0, 2])], [(Real(), [0]), (Binary(), [0])], [(GROUPS, [0, 1])]])
def test_parts_that_make_no_row(parts):
    with pytest.raises(ValueError, match="Received: "):
        SideBySide(parts)
