"""Scores against closed forms."""

import numpy as np
import pytest
import scipy.stats

from experiments.imputation import scores
from experiments.imputation.coded import Coded
from experiments.imputation.completion import of_draws, of_values


def test_crps_is_that_of_the_normal_law_whatever_the_number_of_draws():
    """E CRPS of y under N(0, 1) is y (2 Φ(y) − 1) + 2 φ(y) − 1/√π (Gneiting and Raftery). At six standard errors a
    wrong estimator fails: that with m² in place of m (m − 1) is 1/(√π m) higher, 0.28 of two draws."""
    truth = np.array([-1.5, 0.0, 0.7])
    law = scipy.stats.norm
    exact = truth * (2 * law.cdf(truth) - 1) + 2 * law.pdf(truth) - 1 / np.sqrt(np.pi)
    for m in (2, 5):
        draws = np.random.default_rng(m).normal(size=(m, 20_000, 3))
        found = scores.crps(draws.reshape(m, -1), np.tile(truth, 20_000)).reshape(-1, 3)
        assert (np.abs(found.mean(0) - exact) < 6 * found.std(0) / np.sqrt(len(found))).all()


def test_squared_errors_are_those_of_infinitely_many_draws():
    draws = np.random.default_rng(0).normal(0.5, 2.0, (4, 40_000))
    found = scores.squared_error(draws, np.zeros(40_000))
    assert abs(found.mean() - 0.25) < 6 * found.std() / 200


@pytest.mark.parametrize("level", scores.LEVELS)
def test_intervals_of_exact_draws_cover(level):
    """Exactly, for uniform laws; widths are level (m − 1)/(m + 1) where both ranks are within the draws."""
    rng = np.random.default_rng(1)
    draws, truth = rng.random((20, 50_000)), rng.random(50_000)
    low, high = scores.interval(draws, level)
    covered = (low <= truth) & (truth <= high)
    assert abs(covered.mean() - level) < 6 * np.sqrt(level * (1 - level) / 50_000)
    assert abs((high - low).mean() - level) < 6 * (high - low).std() / np.sqrt(50_000)


def test_log_loss_has_half_a_vote_more():
    found = scores.log_loss(np.array([[20, 0], [3, 17]]), np.array([1, 0]))
    np.testing.assert_allclose(found, -np.log([0.5 / 21, 3.5 / 21]))


def test_scores_are_of_missing_entries_in_standard_deviations():
    values = np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 1.0]])
    table = Coded(values, np.array([0, 2]), np.zeros(2, bool))
    missing = np.array([[False, True], [True, False], [False, True]])
    filled = np.where(missing, [[9, 1], [3, 9], [9, 1]], values)
    found = scores.of_completion(of_values(filled, table), table, missing)
    assert found == {"accuracy": 0.5, "rmse": pytest.approx(1 / np.std([0, 2, 4]))}
    draws = np.stack([filled, filled])
    drawn = scores.of_completion(of_draws(draws, table), table, missing)
    assert drawn["rmse"] == pytest.approx(found["rmse"]) == drawn["crps"]
    assert drawn["coverage_0.9"] == 0 == drawn["width_0.5"]
    assert drawn["log_loss"] == pytest.approx(-np.log(0.5 / 3) / 2 - np.log(2.5 / 3) / 2)
