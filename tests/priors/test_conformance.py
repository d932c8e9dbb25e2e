"""Every prior of a weight meets the contract."""

import pytest
import tensorflow_probability as tfp

from tests.conformance.priors import run_prior_test
from tests.slow_cases import mostly_slow
from tfdsmcmc import priors
from tfdsmcmc.priors.base import FlatPrior, IndependentPrior

tfd = tfp.distributions

PRIORS = {
    "flat": lambda: (FlatPrior(), True),
    "normal": lambda: (IndependentPrior(tfd.Normal(0.1, 0.5)), False),
    "Student-t": lambda: (IndependentPrior(tfd.StudentT(2.2, 0.0, 0.3)), False),
    "horseshoe": lambda: (priors.Horseshoe(), True),
    "three-parameter": lambda: (priors.ThreeParameterBetaNormal(0.5, 1.0), True),
    "a scale for each parent": lambda: (priors.ThreeParameterBetaNormal(group="parent"), True),
    "a scale for each unit": lambda: (priors.ThreeParameterBetaNormal(group="unit"), True),
    "a scale for a tensor": lambda: (priors.ThreeParameterBetaNormal(group="tensor"), True),
    "columns": lambda: (priors.ColumnThreeParameterBetaNormal(), True),
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", mostly_slow(["horseshoe", "Student-t", "a scale for each parent"], PRIORS))
def test_priors(name):
    prior, configured = PRIORS[name]()
    run_prior_test(prior, configured=configured)
