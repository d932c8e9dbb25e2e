"""Normal posteriors by blocks against NumPy's."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.slow_cases import mostly_slow
from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.shared.inverses import normal_draws, normal_posteriors, raise_of, scaled
from tfdsmcmc.augmentation.variational import full_covariance


def posteriors(precision, linear, scale):
    mean, covariance, log_det = normal_posteriors(symmetric.wrapped(precision), linear, scale)
    return mean, symmetric.expanded(covariance), log_det


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_wrapped_diagonals(size):
    """Of sizes that are odd and even, there and back; products, traces and rows of matrices are NumPy's."""
    rng = np.random.default_rng(size)
    a, b = (part + np.swapaxes(part, 1, 2) for part in rng.normal(size=(2, 3, size, size)))
    diagonals, others = symmetric.wrapped(tf.constant(a)), symmetric.wrapped(tf.constant(b))
    assert diagonals.shape == (3, symmetric.count(size), size)
    np.testing.assert_array_equal(diagonals[:, 0], np.diagonal(a, axis1=1, axis2=2))
    np.testing.assert_array_equal(symmetric.expanded(diagonals), a)
    traces = tf.matmul(symmetric.flat(symmetric.counted(diagonals)), symmetric.flat(others), transpose_b=True)
    np.testing.assert_allclose(traces, np.einsum("npq,mqp->nm", a, b), rtol=1e-12)
    for p in range(size):
        np.testing.assert_array_equal(symmetric.row(tf.transpose(symmetric.flat(diagonals)), size, p), a[:, p].T)
    r = rng.random((4, size))
    square = r[:, :, None] * r[:, None]
    np.testing.assert_allclose(symmetric.expanded(symmetric.products(tf.constant(r))), square, rtol=1e-15)
    square[:, range(size), range(size)] = r
    np.testing.assert_allclose(symmetric.expanded(symmetric.products_of_bits(tf.constant(r))), square, rtol=1e-15)


@pytest.mark.parametrize(
    ("spread", "size"), mostly_slow([(0.0, 1), (3.0, 27)], itertools.product([0.0, 3.0], [1, 3, 27, 61]))
)
def test_they_are_numpys(size, spread):
    """Eleven of them, which for the larger sizes are no whole number of groups; scales from 10⁻³ to 10³ among them."""
    rng = np.random.default_rng(size)
    roots = rng.normal(size=(11, size, size + 5))
    precision = np.einsum("jpk,jqk->jpq", roots, roots)
    linear, scale = rng.normal(size=(11, size)), 10 ** rng.uniform(-spread, spread, (11, size))
    matrices = np.eye(size) + precision * scale[:, :, None] * scale[:, None]
    found = tf.function(posteriors)(tf.constant(precision), tf.constant(linear), tf.constant(scale))
    covariance = np.linalg.inv(precision + np.eye(size) / scale[:, :, None] ** 2)
    mean = np.einsum("jpq,jq->jp", covariance, linear)
    for value, exact in zip(found, (mean, covariance, np.linalg.slogdet(matrices)[1]), strict=True):
        np.testing.assert_allclose(value, exact, rtol=1e-8, atol=1e-8 * np.abs(exact).max())


def test_draws():
    """The mean, and (x − mean)ᵀ M (x − mean) = |ε|² with x linear in ε."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(5, 30, 40))
    matrix, linear, noise = factor @ factor.transpose(0, 2, 1), rng.normal(size=(5, 30)), rng.normal(size=(5, 30))
    mean = normal_draws(matrix, linear, 0 * noise)
    np.testing.assert_allclose(mean, np.linalg.solve(matrix, linear[..., None])[..., 0], rtol=1e-8)
    apart = (normal_draws(matrix, linear, noise) - mean).numpy()
    np.testing.assert_allclose(np.einsum("ji,jik,jk->j", apart, matrix, apart), (noise**2).sum(1), rtol=1e-8)
    np.testing.assert_allclose(normal_draws(matrix, linear, -2 * noise) - mean, -2 * apart, rtol=1e-8, atol=1e-12)


def test_unknowns_of_scale_0_are_0():
    parts = ([[[2.0, 1.0], [1.0, 3.0]]], [[1.0, 2.0]], [[0.0, 1.0]])
    mean, covariance, log_det = posteriors(*(tf.constant(part, tf.float64) for part in parts))
    np.testing.assert_allclose(mean, [[0, 0.5]])
    np.testing.assert_allclose(covariance, [[[0, 0], [0, 0.25]]])
    np.testing.assert_allclose(log_det, [np.log(4)])


@pytest.mark.parametrize("size", [3, 201])
def test_what_no_row_tells_is_too_narrow_by_what_is_said(size):
    """Two regressors that are equal in all rows: the variance of w_1 − w_2 is 2v, and found as 2v/(1 + v r a).

    The sums are exact in float32, as γ = ¼ throughout, so nothing but the raised diagonal takes part. A draw of Gibbs
    sampling has the same precision.
    """
    rng, raised = np.random.default_rng(0), raise_of(size, tf.float32)
    rows = rng.integers(0, 2, (2000, size)).astype(np.float32)
    rows[:, 1] = rows[:, 0]
    square = (rows.T @ rows / 4)[np.newaxis]
    share = {}
    for variance in (1.0, 100.0):
        scale = np.full((1, size), variance**0.5, np.float32)
        parts = [tf.constant(part) for part in (square, np.zeros((1, size), np.float32), scale)]
        covariance = posteriors(*parts)[1][0].numpy().astype(float)
        found = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
        share[variance] = 1 / (1 + variance * raised * square[0, 0, 0])
        np.testing.assert_allclose(found, 2 * variance * share[variance], rtol=1e-5)
        precision = scaled(parts[0], parts[2])[0].numpy()
        apart = np.eye(size)[0] - np.eye(size)[1]
        np.testing.assert_allclose(variance * apart @ np.linalg.solve(precision, apart), found, rtol=1e-5)
    if size == 201:  # 250 in the diagonal
        assert 0.996 < share[1.0] < 0.998 and 0.75 < share[100.0] < 0.79


@pytest.mark.slow
def test_rows_that_are_equal():
    """201 regressors, 1,000 rows of 50 kinds: precisions of rank 50, in float32, under ever wider priors.

    All is that of the float64 Cholesky factorisation of the same precisions, which their float32 noise makes indefinite
    but for the raised diagonal.
    """
    rng, size = np.random.default_rng(0), 201
    kinds = rng.integers(0, 2, (50, size)).astype(np.float32)
    rows = kinds[rng.integers(0, 50, 1000)]
    gamma, targets = rng.uniform(0.1, 0.25, (1000, 1)), rng.integers(0, 2, (1000, 1)) - 0.5
    parts = [tf.constant(part.astype(np.float32)) for part in (gamma, targets, rows)]
    wrapped, linear = full_covariance.statistics(*parts)
    outer = symmetric.expanded(wrapped)
    assert np.linalg.eigvalsh(outer).min() < -1e-5  # the noise
    found, ones = (wrapped, linear), np.ones((1, size))
    update = tf.function(lambda precision: full_covariance.update(found, precision, None, ones))
    for variance in (1.0, 1e2, 1e4, 1e6):
        precision = tf.fill([1, size], np.float32(1 / variance))
        mean, covariance, log_det = update(precision)
        covariance = symmetric.expanded(covariance)
        raised = outer.numpy().astype(float) * (1 + raise_of(size, tf.float32) * np.eye(size))
        exact = np.linalg.inv(np.linalg.cholesky(raised + np.eye(size) / variance))
        exact_covariance = np.einsum("jkp,jkq->jpq", exact, exact)
        np.testing.assert_allclose(covariance, exact_covariance, rtol=1e-4, atol=1e-4 * exact_covariance.max())
        exact_log_det = 2 * np.log(np.diagonal(exact, axis1=1, axis2=2)).sum()
        np.testing.assert_allclose(log_det, exact_log_det, rtol=1e-5)
        variances = np.diagonal(covariance, axis1=1, axis2=2)
        assert (variances > 0).all() and (variances <= variance).all()
        exact_mean = np.einsum("jpq,jq->jp", exact_covariance, linear.numpy().astype(float))
        np.testing.assert_allclose(mean, exact_mean, atol=1e-3 * np.abs(exact_mean).max())
