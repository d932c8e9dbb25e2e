"""The number that knows its errors."""

import copy
import pickle

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common.estimates import Estimate, LogLikelihood

VALUE = np.array([-1.0, -2.0, -4.0, -3.0], np.float32)
ERROR = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
SIZE = np.array([10.0, 20.0, 30.0, 60.0], np.float32)


def test_the_mean_and_its_two_errors():
    mean = LogLikelihood(VALUE, ERROR, SIZE).mean()
    assert mean == mean.value == pytest.approx(-2.5)
    assert mean.standard_error == pytest.approx(np.sqrt(0.01 + 0.04 + 0.09 + 0.16) / 4)
    assert mean.row_standard_error == pytest.approx(np.sqrt((1.5**2 + 0.5**2 + 1.5**2 + 0.5**2) / 3) / 2)
    assert mean.effective_sample_size == pytest.approx(30.0)


def test_errors_that_are_not_known():
    one = LogLikelihood(VALUE[:1], ERROR[:1], SIZE[:1]).mean()
    assert np.isnan(one.row_standard_error) and one.standard_error == pytest.approx(0.1)
    unknown = LogLikelihood(VALUE, np.full(4, np.nan, np.float32), SIZE).mean()
    assert np.isnan(unknown.standard_error) and unknown == -2.5


def test_it_is_a_float():
    estimate = Estimate(-2.5, 0.1, 0.2, 30.0)
    assert isinstance(estimate, float)
    assert estimate + 1 == -1.5 and estimate < -2 and f"{estimate:.1f}" == "-2.5" and np.exp(estimate) < 0.1
    assert repr(estimate) == (
        "Estimate(-2.500, standard_error=0.100, row_standard_error=0.200, effective_sample_size=30.0)"
    )


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_the_errors(twin):
    estimate = twin(Estimate(-2.5, 0.1, 0.2, 30.0))
    assert (float(estimate), estimate.standard_error) == (-2.5, 0.1)
    assert (estimate.row_standard_error, estimate.effective_sample_size) == (0.2, 30.0)


TWINS = [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]


@pytest.mark.parametrize("twin", TWINS)
def test_copies_keep_all_that_is_known_of_the_rows(twin):
    k = np.array([0.1, 0.2, np.inf, np.nan])
    estimate = twin(LogLikelihood(VALUE, ERROR, SIZE, np.array([10, 20, 30, 60]), k))
    value, error, size = estimate[:3]
    for a, b in zip((value, error, size, estimate.value, estimate.pareto_k), (VALUE, ERROR, SIZE, VALUE, k)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(estimate.num_samples, [10, 20, 30, 60])
    assert isinstance(estimate, LogLikelihood) and len(estimate) == 6
    bare = twin(LogLikelihood(VALUE, ERROR, SIZE))
    assert bare.num_samples is None and bare.pareto_k is None


def test_nothing_is_lost_on_the_way():
    """In nests and replacements, where an attribute beside the fields would be."""
    k = np.array([0.1, 0.2, np.inf, np.nan])
    estimate = LogLikelihood(VALUE, ERROR, SIZE, np.array([10, 20, 30, 60]), k)
    for other in (estimate._replace(value=-VALUE), tf.nest.map_structure(np.negative, estimate)):
        assert isinstance(other, LogLikelihood)
        np.testing.assert_array_equal(other.value, -VALUE)
        np.testing.assert_array_equal(np.abs(other.num_samples), estimate.num_samples)
        np.testing.assert_array_equal(np.abs(other.pareto_k), k)


def test_an_error_that_rows_share_does_not_average_out():
    """n rows with errors of their own of 0.3 and one in common of 0.4, so that each has 0.5."""
    rows = LogLikelihood(np.arange(4.0), np.full(4, 0.5), np.ones(4), shared_standard_error=0.4)
    assert rows.mean().standard_error == pytest.approx(np.sqrt(0.3**2 / 4 + 0.4**2))
    twice = LogLikelihood.joined([rows, rows])
    assert twice.mean().standard_error == pytest.approx(np.sqrt(0.3**2 / 8 + 0.4**2))
    assert rows._replace(shared_standard_error=0.0).mean().standard_error == pytest.approx(0.25)
