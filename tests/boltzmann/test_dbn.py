"""Deep belief networks: bounds, estimates and draws against enumeration of all hidden units."""

import functools

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import WIDTHS, Truth, V, tiny_dbn
from tests.chance import assert_frequencies, assert_near
from tests.oracles import log_sum, state_numbers


@functools.cache
def truth_of(widths):
    return Truth(tiny_dbn(widths))


@pytest.mark.parametrize("widths", WIDTHS)
def test_the_bound_and_the_estimate(widths):
    """The mean of 4,000 draws against the enumerated bound by the exact deviation of a draw; never above log p(v); the
    importance samples against log p(v)."""
    truth, dbn = truth_of(widths), tiny_dbn(widths)
    assert log_sum(truth.log_p) == pytest.approx(0, abs=1e-10)
    assert np.all(truth.bound <= truth.log_p + 1e-12)
    found = dbn.log_likelihood_bound(V, num_samples=4000)
    deviation = np.sqrt((truth.q * (truth.terms - truth.bound) ** 2).sum(0))
    assert_near(found.value, truth.bound, deviation / np.sqrt(4000))
    np.testing.assert_allclose(found.standard_error, deviation / np.sqrt(4000), rtol=0.25, atol=1e-12)
    if len(widths) > 2:
        assert (truth.log_p - truth.bound).max() > 0.05
    estimate = dbn.log_likelihood(V, num_samples=4000, seed=1)
    assert_near(estimate.value, truth.log_p, estimate.standard_error + 1e-6)
    assert isinstance(found, ds.likelihood.LogLikelihood)


def test_the_error_of_log_z_stays_in_the_mean():
    dbn = tiny_dbn()
    known = ds.boltzmann.LogPartition.of_weights(np.log([1.0, 2.0, 1.5, 1.2]))
    free = dbn.log_likelihood_bound(V, 50, 0.0)
    found = dbn.log_likelihood_bound(V, 50, known)
    np.testing.assert_allclose(found.value, free.value - known.value)
    assert found.mean().standard_error == pytest.approx(np.hypot(free.mean().standard_error, known.standard_error))
    assert np.isnan(dbn.log_likelihood_bound(V, 1).standard_error).all()


@pytest.mark.parametrize("widths", WIDTHS[:2])
def test_samples_have_the_law(widths):
    """Frequencies of 10,000 ends of chains of 30 steps by a chi-square test."""
    dbn = tiny_dbn(widths, 0.8)
    law = np.exp(Truth(dbn).log_p)
    drawn = dbn.sample(10_000, seed=1, steps=30)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), law)
    means = dbn.sample(10_000, seed=1, steps=30, probabilities=True)
    assert 0 < means.min() and means.max() < 1 and np.abs(means.mean(0) - drawn.mean(0)).max() < 0.03


@pytest.mark.parametrize("widths", WIDTHS[:2])
def test_imputations_have_the_law(widths):
    """Missing entries given the others, after 20 sweeps of 5,000 chains."""
    dbn = tiny_dbn(widths, 1.0)
    law = np.exp(Truth(dbn).log_p)
    x = np.array([[np.nan, 1.0, np.nan]])
    found = dbn.impute(x, num_imputations=5_000, seed=3, steps=20)
    free = V[:, 1] == 1
    counts = np.bincount(state_numbers(found[:, 0]), minlength=8)
    assert found.shape == (5_000, 1, 3) and counts[~free].sum() == 0
    assert_frequencies(counts[free], law[free] / law[free].sum())
    np.testing.assert_array_equal(dbn.impute(V, num_imputations=2), np.stack([V] * 2))


def test_a_single_machine_is_itself():
    dbn = tiny_dbn((3, 2))
    exact = dbn.rbms[0].log_likelihood(V).value
    for found in (dbn.log_likelihood_bound(V), dbn.log_likelihood(V, num_samples=3)):
        np.testing.assert_allclose(found.value, exact, rtol=1e-5)
        assert not found.standard_error.any()
    assert dbn.sample(4, steps=2).shape == (4, 3) and dbn.impute([[np.nan, 0, 1]], steps=2).shape == (1, 1, 3)
