"""Densities but for terms of the value: what ratios at one value need."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.columns.laws import law
from tests.columns.test_kinds import KINDS, REAL, values
from tfdsmcmc.columns import Count, Layout, Real


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_a_factor_differs_from_the_law_by_terms_of_the_value(kind):
    """Of five rows of parameters the difference is one."""
    parameters, shared = law(kind)
    value = np.random.default_rng(1).normal(size=(1, 3, kind.entries)) if kind.word in REAL else None
    value = values(kind)[[0, 1, -1], None] if value is None else np.abs(value) if kind.word[0] == "s" else value
    for one in np.asarray(value, np.float32):
        one = np.broadcast_to(one, (5, 3, kind.entries))
        found = kind.log_factor(one, parameters, shared) - kind.log_prob(one, parameters, shared)
        np.testing.assert_allclose(found, np.broadcast_to(found[:1], found.shape), rtol=1e-5, atol=1e-4)


def test_a_count_with_a_law_of_its_own_has_its_factor_too():
    class Flat(Count):
        def log_prob(self, value, parameters, shared):
            return 0.25 * super().log_prob(value, parameters, shared)

    parameters, shared = law(Flat("poisson"))
    value = np.ones((5, 3, 1), np.float32)
    found = Flat("poisson").log_factor(value, parameters, shared)
    np.testing.assert_array_equal(found, Flat("poisson").log_prob(value, parameters, shared))


def test_factors_of_columns_that_depend_on_each_other_and_of_mixtures():
    """The first see the columns before them; in the second nothing drops out."""
    layout, rng = Layout([Real(), Real(), Count()]), np.random.default_rng(1)
    row, y = rng.normal(size=(layout.parameters,)).astype(np.float32), np.float32([3.0, -2.0, 2.0])
    shared = [np.full((len(group.columns), group.kind.shared), 0.7, np.float32) for group in layout.groups]
    lateral = rng.normal(size=(3, layout.parameters)).astype(np.float32)
    dependent = ds.columns.DependentColumns(layout, row, shared, lateral)
    factors, logs = dependent.column_log_factors(y), dependent.column_log_probs(y)
    np.testing.assert_allclose(factors[:2], logs[:2], rtol=1e-5)
    assert abs(factors[2] - logs[2]) > 0.1
    twice = [np.stack([part, part]) for part in shared]
    mixture = ds.columns.IndependentColumnsMixture(layout, np.stack([row, 0.5 * row]), twice)
    np.testing.assert_array_equal(mixture.column_log_factors(y), mixture.column_log_probs(y))
