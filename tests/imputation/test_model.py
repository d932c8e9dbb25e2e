"""`model.impute`: draws, probabilities and the majority."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import Oracle, tiny_model

X = np.array([[1, np.nan, 0], [np.nan, np.nan, 1], [0, 1, 1]])
OPTIONS = {"burn_in": 10, "num_samples": 10, "num_chains": 1000}


@pytest.mark.slow
def test_the_three_forms():
    """Probabilities near the exact ones (over 10,000 states each), the majority on their side of ½, observed entries
    as they were."""
    model = tiny_model((2, 2), seed=4)
    known = ~np.isnan(X)
    exact = np.array([p @ rows for rows, p in (Oracle(model).missing(*pair) for pair in zip(X, known))])
    probabilities = model.impute(X, probabilities=True, **OPTIONS)
    assert probabilities.shape == (3, 3) and probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, exact, atol=0.03)
    assert np.abs(exact[~known] - 0.5).min() > 0.05
    majority = model.impute(X, majority=True, **OPTIONS)
    np.testing.assert_array_equal(majority, exact > 0.5)
    draws = model.impute(X, num_imputations=5, burn_in=1, num_samples=1)
    assert draws.shape == (5, 3, 3) and set(np.unique(draws)) == {0.0, 1.0}
    np.testing.assert_array_equal(draws[:, known], np.repeat(X[None, known], 5, 0))
    np.testing.assert_array_equal(draws, ds.imputation.impute(model, X, None, 5, burn_in=1, num_samples=1).x)


def test_what_has_no_majority_is_refused():
    model = tiny_model((2,))
    with pytest.raises(ValueError, match="Received: majority"):
        model.impute(X, majority=True, probabilities=True)
    with pytest.raises(TypeError):
        model.impute(X, no_such_option=1)
    layers = ds.layers.SBN(2), ds.layers.MLPGaussian(3, hidden_units=[2])
    normal = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), ds.RecognitionNetwork([ds.layers.SBN(2)]))
    with pytest.raises(ValueError, match="Received: majority.*MLPGaussian"):
        normal.impute(X, majority=True)
