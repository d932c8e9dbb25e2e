"""Stated standard errors of importance sampling against what they claim, over 200 models.

Each of 4,800 rows, 24 of each of 200 models of random weights, has z = (estimate − exact)/stated standard error. The
number of rows within one and within two standard errors is binomial with the probabilities 0.683 and 0.954 of the
normal law, up to the skewness that a thousand draws leave, for which each probability may lie in an interval. The
counts fail a correct program with probability below 1e-6 in all, and errors that are stated 1.15 times too large or too
small.
"""

import numpy as np
import pytest
import scipy.stats

from tests.chance import LEVEL
from tests.likelihood.support import quick_model
from tests.oracles import Oracle, binary_states, randomize
from tfdsmcmc.likelihood import importance_sampling

MODELS, X = 200, np.repeat(binary_states(3), 3, 0)
PROBABILITIES = {1: (0.66, 0.70), 2: (0.935, 0.96)}


def errors_in_units_of_what_is_stated(**arguments):
    model, other = quick_model((2, 2), seed=0), quick_model((2, 2), seed=0)
    groups = other.generative.trainable_variables, other.recognition.trainable_variables
    z = []
    for number in range(MODELS):
        randomize(other, seed=number, scale=0.6)
        weights = [[variable.numpy() for variable in group] for group in groups]
        estimate = importance_sampling(model, X, seed=number, weights=weights, warn=False, **arguments)
        z.append((estimate.value - Oracle(other).log_likelihood(X)) / estimate.standard_error)
    return np.concatenate(z)


def assert_calibrated(z):
    for distance, (least, most) in PROBABILITIES.items():
        count = int((np.abs(z) < distance).sum())
        tails = scipy.stats.binom.cdf(count, len(z), least), scipy.stats.binom.sf(count - 1, len(z), most)
        assert min(tails) > LEVEL / 4, f"{count} of {len(z)} within {distance}"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"num_samples": 1000}, marks=pytest.mark.slow),
        pytest.param({"num_samples": 400, "standard_error": 0.05}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_stated_errors_cover_as_often_as_they_claim(arguments):
    z = errors_in_units_of_what_is_stated(**arguments)
    assert_calibrated(z)
    for factor in (1.15, 1 / 1.15):
        with pytest.raises(AssertionError):
            assert_calibrated(z * factor)
