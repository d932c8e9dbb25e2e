"""The effective size of Markov chains against autoregressive chains, of which it is known."""

import numpy as np
import pytest

from tfdsmcmc.imputation import effective_sample_size


def autoregressive(rho, length, chains, rows, seed=0):
    rng = np.random.default_rng(seed)
    x = np.empty((length, chains, rows))
    x[0] = rng.normal(size=(chains, rows))
    for i in range(1, length):
        x[i] = rho * x[i - 1] + np.sqrt(1 - rho**2) * rng.normal(size=(chains, rows))
    return x


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_autoregressive_chains(rho):
    """Their effective size is N (1 − ρ)/(1 + ρ); the mean over 40 rows is within a fifth of it."""
    size = effective_sample_size(autoregressive(rho, 2000, 4, 40))
    assert size.shape == (40,) and size.max() <= 8000
    assert size.mean() == pytest.approx(8000 * (1 - rho) / (1 + rho), rel=0.2)


def test_the_unit_of_the_values_does_not_matter():
    trace = autoregressive(0.5, 500, 4, 3)
    np.testing.assert_allclose(effective_sample_size(1e-9 * trace), effective_sample_size(trace), rtol=1e-9)


def test_chains_that_disagree_are_worth_few_states():
    trace = autoregressive(0.0, 500, 4, 3)
    trace[:, 0] += 20.0
    assert np.all(effective_sample_size(trace) < 10)
    assert np.all(effective_sample_size(trace - trace.mean(0)) > 1000)


def test_values_that_never_change_count_once_for_each_chain():
    np.testing.assert_array_equal(effective_sample_size(np.full((50, 3, 2), -812.25)), [3.0, 3.0])
    np.testing.assert_array_equal(effective_sample_size(np.zeros((50, 3, 2))), [3.0, 3.0])
    rounded = np.random.default_rng(0).choice([812.25, np.nextafter(np.float32(812.25), np.float32(0))], (50, 3, 2))
    np.testing.assert_array_equal(effective_sample_size(rounded), [3.0, 3.0])
    np.testing.assert_array_equal(effective_sample_size(np.zeros((2, 3, 2))), [3.0, 3.0])
    assert np.isnan(effective_sample_size(np.full((2, 3), np.inf)))
    stuck = np.repeat(np.array([[[1.0], [2.0], [5.0]]]), 100, 0)
    assert 1 <= effective_sample_size(stuck)[0] < 4


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_values_that_are_not_finite_tell_nothing(value):
    """One is enough, in its own row alone."""
    trace = autoregressive(0.5, 100, 2, 3)
    want = effective_sample_size(trace)
    trace[70, 1, 1] = value
    np.testing.assert_allclose(effective_sample_size(trace), np.where([False, True, False], np.nan, want))


@pytest.mark.parametrize("trace", [np.arange(10.0), 3.0, [["a"]], np.zeros((0, 2)), np.zeros((5, 0))])
def test_what_is_no_trace_is_refused(trace):
    with pytest.raises(ValueError, match="trace must be .* Received: "):
        effective_sample_size(trace)
