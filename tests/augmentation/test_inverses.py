"""Inverses by blocks against NumPy's."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.augmentation.inverses import inverse_and_log_det


@pytest.mark.parametrize("size", [1, 3, 27, 61])
@pytest.mark.parametrize("spread", [0.0, 3.0])
def test_they_are_numpys(size, spread):
    """Rows of scales from 10⁻³ to 10³ among them."""
    rng = np.random.default_rng(size)
    roots = rng.normal(size=(2, size, size + 5)) * 10 ** rng.uniform(-spread, spread, (2, size, 1))
    matrices = np.einsum("jpk,jqk->jpq", roots, roots)
    inverses, log_dets = tf.function(inverse_and_log_det)(tf.constant(matrices))
    scale = np.sqrt(np.einsum("jpp->jp", matrices))
    found = inverses.numpy() * scale[:, :, None] * scale[:, None]
    exact = np.linalg.inv(matrices / scale[:, :, None] / scale[:, None])
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())
    np.testing.assert_allclose(log_dets, np.linalg.slogdet(matrices)[1], rtol=1e-10)
