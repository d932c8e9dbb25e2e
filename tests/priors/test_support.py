"""Priors are of all real numbers."""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds

tfd = tfp.distributions


@pytest.mark.parametrize(
    "distribution",
    [
        tfd.Uniform(-1.0, 1.0),
        tfd.HalfNormal(1.0),
        tfd.HalfNormal(1.0, validate_args=True),
        tfd.Gamma(2.0, 1.0, validate_args=True),
        tfd.HalfCauchy(0.0, 1.0),
        tfd.Exponential(1.0),
        tfd.Gamma(2.0, 1.0),
        tfd.InverseGamma(2.0, 1.0),
        tfd.LogNormal(0.0, 1.0),
        tfd.Beta(2.0, 2.0),
        tfd.TruncatedNormal(0.0, 1.0, -5.0, 5.0),
        tfd.Bernoulli(0.5),
        tfd.Bernoulli(0.5, dtype=tf.float32),
        tfd.Poisson(1.0),
        tfd.Categorical([0.0, 0.0]),
        tfd.Deterministic(0.0),
        tfd.QuantizedDistribution(tfd.Normal(0.0, 3.0)),
        tfd.MixtureSameFamily(tfd.Categorical(probs=[0.3, 0.7]), tfd.Gamma([1.0, 2.0], [1.0, 1.0])),
    ],
    ids=lambda distribution: distribution.name,
)
def test_a_prior_must_be_of_all_reals(distribution):
    with pytest.raises(ValueError, match="all real numbers.*Received: "):
        ds.Prior({"kernel": distribution, "": None})


@pytest.mark.parametrize(
    "distribution",
    [
        tfd.Logistic(0.0, 1.0),
        tfd.Gumbel(0.0, 1.0),
        tfd.SinhArcsinh(0.0, 1.0),
        tfd.StudentT(1e3, 0.0, 1e-6),
        tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfp.bijectors.Scale(3.0)),
        tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfp.bijectors.Scale(-1.0)),
        tfd.TransformedDistribution(tfd.Gamma(2.0, 1.0), tfp.bijectors.Log()),
        tfd.TransformedDistribution(tfd.InverseGamma(2.0, 1.0), tfp.bijectors.Log()),
    ],
    ids=lambda distribution: distribution.name,
)
def test_a_transformed_or_unusual_prior_of_all_reals_is_taken(distribution):
    assert np.isfinite(ds.Prior(distribution).log_prob(["w"], [tf.constant([[-1.5, 0.0, 0.3]])]))
