"""Estimates of log p(x_observed) of rows with gaps."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.gaps import ROWS, log_likelihood
from tests.oracles import Oracle, tiny_model


@pytest.mark.parametrize("latent_units", [(2,), pytest.param((2, 1), marks=pytest.mark.slow)])
def test_estimates_of_rows_with_gaps(latent_units):
    """Enumeration is the sum over completions; importance sampling, to a precision too, and annealing on every path lie
    within 6 standard errors of it."""
    model = tiny_model(latent_units, seed=4, scale=0.6)
    model.compile("sgnht", jit_compile=False)
    oracle = Oracle(model)
    expected = np.array([log_likelihood(oracle, row) for row in ROWS])
    likelihood = ds.likelihood
    np.testing.assert_allclose(likelihood.exact(model, ROWS).value, expected, rtol=1e-5, atol=1e-5)
    estimates = [
        likelihood.importance_sampling(model, ROWS, 4000, seed=1, warn=False),
        likelihood.importance_sampling(model, ROWS, 400, seed=1, warn=False, standard_error=0.02),
        *(likelihood.annealed_importance_sampling(model, ROWS, 4, 500, path=path) for path in ("prior", "recognition")),
        likelihood.annealed_importance_sampling(model, ROWS, 4, 500, path="weights", schedule="adaptive"),
    ]
    for estimate in estimates:
        assert np.all(np.abs(estimate.value - expected) < 6 * estimate.standard_error + 1e-5)
        assert np.all(estimate.standard_error < 0.08)
    bound = likelihood.evidence_lower_bound(model, ROWS, 4000)
    assert np.all(bound.value < expected + 5 * bound.standard_error)
    # a row with nothing observed has probability 1
    assert expected[-1] == pytest.approx(0.0, abs=1e-9)


def test_estimates_refuse_gaps_where_units_depend_on_each_other():
    layers = [ds.layers.SBN(2), ds.layers.DARN(3)]
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), ds.RecognitionNetwork([ds.layers.SBN(2)]))
    model.compile("sgnht", jit_compile=False)
    calls = (model.log_likelihood, lambda x: ds.likelihood.exact(model, x), model.fit,
             lambda x: ds.likelihood.annealed_importance_sampling(model, x))  # fmt: skip
    before = model.get_weights()
    for call in calls:
        with pytest.raises(ValueError, match="SBN, MLPBernoulli, MLPGaussian or Mixed. Received: DARN"):
            call(ROWS)
    for a, b in zip(before, model.get_weights()):
        np.testing.assert_array_equal(a, b)
