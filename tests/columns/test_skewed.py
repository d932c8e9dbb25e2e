"""Skewed columns against SciPy's transform and normal law."""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.columns.laws import law
from tfdsmcmc.columns import Real, Skewed


@pytest.mark.parametrize("kind", [Skewed(0.0, 0.1), Skewed(0.5, 0.1), Skewed(2.0, 0.1, same_scale=True)])
def test_skewed_columns(kind):
    """Against SciPy's transform; mass and means by quadrature; draws and moves of them by Kolmogorov's test."""
    parameters, shared = law(kind)
    s = np.broadcast_to(shared[:, 0], (5, 3)) if kind.shared else parameters[..., 1]
    center, scale = parameters[..., 0].astype(np.float64), 0.1 + 5 / (1 + 5 * np.exp(-s.astype(np.float64)))
    y = np.array([-4.0, -0.7, 0.0, 0.3, 9.0], np.float32)
    t = scipy.stats.yeojohnson(y.astype(np.float64), kind.power)[:, None, None]
    slope = (kind.power - 1) * (np.sign(y) * np.log1p(abs(y)))[:, None, None]
    found = kind.log_prob(y[:, None, None, None], parameters, shared)
    np.testing.assert_allclose(found, scipy.stats.norm.logpdf(t, center, scale) + slope, rtol=2e-5, atol=2e-5)

    t = np.linspace(-25, 25, 20001)
    a = np.where(t >= 0, kind.power, 2 - kind.power)
    size = np.where(a > 0, np.log1p(a * abs(t)) / np.where(a > 0, a, 1), abs(t))
    grid, jacobian = np.sign(t) * np.expm1(size), np.exp((1 - kind.power) * np.sign(t) * size)
    kept = abs(grid) < 1e6  # float32 has no more places for y
    log_p = kind.log_prob(grid[kept, None, None, None].astype(np.float32), parameters, shared)
    weights = np.exp(log_p, dtype=np.float64) * jacobian[kept, None, None] * (t[1] - t[0])
    np.testing.assert_allclose(weights.sum(0), np.ones((5, 3)), rtol=1e-4)
    normal = scipy.stats.norm.pdf(t[:, None, None], center, scale) * (t[1] - t[0])
    np.testing.assert_allclose(
        kind.mean(parameters, shared)[..., 0], (normal * grid[:, None, None]).sum(0), rtol=2e-3, atol=2e-3
    )
    many = tf.broadcast_to(parameters, [5000, 5, 3, kind.parameters])
    drawn = kind.draw(many, shared, 5)
    assert np.mean(kind.moved(drawn, many, shared, 6) != drawn) > 0.99
    for values in (drawn, kind.moved(drawn, many, shared, 6)):
        found = scipy.stats.yeojohnson(values.numpy().astype(np.float64).ravel(), kind.power).reshape(5000, 5, 3)
        for place in np.ndindex(5, 3):
            own = found[(slice(None), *place)]
            assert scipy.stats.kstest(own, "norm", (center[place], scale[place])).pvalue > 1e-7


def test_skewed_columns_far_out():
    """Draws end at ψ⁻¹(±30); means are within an eighth at the largest scale; densities are finite at any number."""
    kind = Skewed(0.0)
    far = kind.draw(tf.constant([[[99.0, 0.0]], [[-99.0, 0.0]]]), tf.zeros([1, 0]), 1)[:, 0, 0]
    np.testing.assert_allclose(far, [np.expm1(30.0), 1 - np.sqrt(61.0)], rtol=1e-4)
    parameters = np.array([[[6.0, 50.0]]], np.float32)
    t = np.linspace(-30, 40, 100_001)
    y = np.where(t > 0, np.expm1(np.clip(t, 0, 30)), 1 - np.sqrt(1 + 2 * np.abs(t)))
    want = (y * scipy.stats.norm.pdf(t, 6, 5.01)).sum() * (t[1] - t[0])
    np.testing.assert_allclose(kind.mean(parameters, np.zeros((1, 0)))[0, 0, 0], want, rtol=1 / 8)
    for power in (0.0, 2.0):
        sides = tf.constant([[[-1e30]], [[1e30]]])
        assert np.isfinite(Skewed(power).log_prob(sides, tf.zeros([2, 1, 2]), tf.zeros([1, 0]))).all()


def test_the_power_of_one_leaves_real_columns():
    skewed, real = Skewed(1.0, 0.1, 10.0), Real(0.1)
    parameters, shared = law(real)
    y = np.linspace(-3, 3, 7, dtype=np.float32)[:, None, None, None]
    np.testing.assert_allclose(skewed.log_prob(y, parameters, shared), real.log_prob(y, parameters, shared), rtol=1e-5)
    np.testing.assert_allclose(skewed.mean(parameters, shared), real.mean(parameters, shared), rtol=1e-4, atol=1e-6)
