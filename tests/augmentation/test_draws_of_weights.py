"""Draws of q(w) where regressors are nearly collinear: wider than q by no more than is said."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.shared.inverses import raise_of
from tfdsmcmc.augmentation.variational import full_covariance


@pytest.mark.parametrize("regressors", [4, 40])
@pytest.mark.parametrize("deviation", [1.0, 3.0, 10.0])
def test_a_regressor_that_is_always_on_beside_the_bias(deviation, regressors):
    """The deviation of w_0 + w_P, by float64, is told a hundred times as well as those of the two."""
    rows = np.random.default_rng(0).integers(0, 2, (500, regressors)).astype(np.float32)
    rows[:, [0, -1]] = 1.0
    gamma = np.full((500, 1), 120 * 0.25, np.float32)  # as 60,000 rows may tell
    parts = [tf.constant(part) for part in (gamma, np.zeros_like(gamma), rows)]
    precision = tf.fill([1, regressors], np.float32(deviation**-2))
    mean, covariance, _ = full_covariance.update(
        full_covariance.statistics(*parts), precision, None, np.ones((1, regressors))
    )
    root = np.stack([full_covariance.draw(0 * mean, covariance, unit)[0] for unit in np.eye(regressors)[:, None]])
    found, q = root.T.astype(float) @ root.astype(float), symmetric.expanded(covariance)[0].numpy().astype(float)
    np.testing.assert_allclose(found, q, rtol=1e-4, atol=2e-5 * q.max())
    both = np.eye(regressors)[0] + np.eye(regressors)[-1]
    price = raise_of(regressors, tf.float32) * (q[0, 0] + q[-1, -1])
    rounding = 0.5 * regressors * 2.0**-24 * (q[0, 0] + q[-1, -1])
    assert abs(both @ found @ both - both @ q @ both - price) < rounding
