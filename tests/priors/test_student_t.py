"""The Student-t prior's own density against SciPy and TFP, and where it stands in for TFP's."""

import math

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tfdsmcmc.priors.student_t import StudentTPrior

tfd = tfp.distributions

W = np.array([[0.0, 1e-30, -1e-6, 0.1], [0.09, -3.0, 1e4, -1e13]], np.float32)


@pytest.mark.parametrize(("df", "loc", "scale"), [(2.2, 0.0, 0.09), (1.0, -0.5, 3.0), (40.0, 0.25, -0.2)])
def test_density_and_gradient(df, loc, scale):
    prior, x = StudentTPrior.of(tfd.StudentT(df, loc, scale)), tf.constant(W)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = prior.log_prob(x, [])
    y = (W.astype(np.float64) - loc) / scale
    want = scipy.stats.t.logpdf(y, df) - math.log(abs(scale))
    np.testing.assert_allclose(value, want.sum(), rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(value, x), -(df + 1) * y / (df + y**2) / scale, rtol=2e-5)
    for i, entry in enumerate(W.ravel()):
        np.testing.assert_allclose(prior.log_prob(entry, []), want.ravel()[i], rtol=2e-6, atol=1e-6)


def test_the_density_is_finite_at_the_greatest_float():
    x = tf.constant([np.finfo(np.float32).max, -np.finfo(np.float32).max])
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = ds.Prior(tfd.StudentT(df=2.2, loc=0.0, scale=0.09)).log_prob(["w"], [x])
    assert np.isfinite(value) and np.isfinite(tape.gradient(value, x)).all()


@pytest.mark.parametrize(
    "distribution",
    [
        tfd.Normal(0.0, 1.0),
        tfd.StudentT(np.float64(2.0), np.float64(0.0), np.float64(1.0)),
        tfd.StudentT(tf.Variable(2.0), 0.0, 1.0),
        tfd.StudentT(2.0, 0.0, 0.0),
        tfd.StudentT(-2.0, 0.0, 1.0),
    ],
)
def test_other_distributions_stay_tfps(distribution):
    assert StudentTPrior.of(distribution) is None


def test_a_variable_of_the_prior_may_change_after_a_density_of_it():
    df = tf.Variable(2.0)
    prior = ds.Prior(tfd.StudentT(df, 0.0, 1.0))
    for value in (2.0, 5.0):
        df.assign(value)
        np.testing.assert_allclose(
            prior.log_prob(["w"], [W[0]]), scipy.stats.t.logpdf(W[0].astype(np.float64), value).sum(), rtol=1e-5
        )
