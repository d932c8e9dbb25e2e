"""Draws of the weights of a layer: their parts against linear algebra, their law against quadrature.

The law is tested with thousands of units that all have the same data: as many chains of one regression.
"""

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import LEVEL
from tfdsmcmc import random
from tfdsmcmc.augmentation.gibbs import regressions
from tfdsmcmc.augmentation.gibbs.normal_mixtures import NormalMixtures
from tfdsmcmc.networks import evaluated_at

tfd = tfp.distributions
CHAINS = 3000


@pytest.mark.parametrize("kind", [ds.layers.SBN, ds.layers.DARN])
@pytest.mark.parametrize("parents", [0, 2, 3])
def test_the_sums_and_what_they_give(kind, parents):
    """Without noise the weights are Λ⁻¹b: in blocks, with gaps, over units that are before each other in some order."""
    options = {"ordering": [2, 0, 3, 1]} if kind is ds.layers.DARN else {}
    layer = kind(4, **options)
    layer.build((None, parents))
    regression, rng = regressions.Regression(layer), np.random.default_rng(1)
    y, h = rng.integers(0, 2, (9, 4)).astype(np.float32), rng.integers(0, 2, (9, parents)).astype(np.float32)
    observed, gamma = (rng.random((9, 4)) < 0.7).astype(np.float32), rng.gamma(1.0, size=(9, 4)).astype(np.float32)
    sums = regression.no_sums()
    for rows in (slice(0, 5), slice(5, 9)):
        sums = regression.added(sums, *(tf.constant(part[rows]) for part in (y, h, observed, gamma)))
    shapes = [variable.shape for variable in layer.trainable_variables]
    laws = [(rng.normal(size=shape), rng.gamma(2.0, size=shape)) for shape in shapes]
    laws = [tuple(part.astype(np.float32) for part in law) for law in laws]
    drawn = _without_noise(regression, sums, laws)

    before = np.argsort(options.get("ordering", np.arange(4)))
    for j in range(4):
        used = [h, y * (before < before[j]), np.ones((9, 1))] if kind is ds.layers.DARN else [h, np.ones((9, 1))]
        own = [[part[..., j] for part in law] for law in laws]
        own = [own[0], *own[2:], own[1]]
        mean, variance = (np.concatenate([np.atleast_1d(law[i]) for law in own]) for i in (0, 1))
        r = np.concatenate(used, 1)
        precision = np.einsum("n,ni,nk->ik", gamma[:, j] * observed[:, j], r, r) + np.diag(1 / variance)
        want = np.linalg.solve(precision, ((y[:, j] - 0.5) * observed[:, j]) @ r + mean / variance)
        got = [drawn[0][:, j], *(part[:, j] for part in drawn[2:]), drawn[1][j : j + 1]]
        np.testing.assert_allclose(np.concatenate(got), want, rtol=2e-4, atol=1e-5)


def _without_noise(regression, sums, laws):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "normal", lambda shape, seed: tf.zeros(shape))
        return [part.numpy() for part in regression.draw(sums, laws, random.as_seed(1))]


def test_units_that_are_always_equal():
    """Regressors that are the same in all rows, with priors that hold nothing: finite draws, of a certain sum."""
    layer = ds.layers.SBN(3)
    layer.build((None, 3))
    regression = regressions.Regression(layer)
    ones = tf.ones([400, 3])
    y = tf.constant(np.random.default_rng(0).integers(0, 2, (400, 3)), tf.float32)
    sums = regression.added(regression.no_sums(), y, ones, ones, 0.37 * ones)
    laws = [(0.0, 1e30), (0.0, 1e30)]
    kernel, bias = regression.draw(sums, laws, random.as_seed(1))
    assert np.isfinite(kernel).all()
    np.testing.assert_allclose(tf.reduce_sum(kernel, 0) + bias, 0, atol=3.0)


def gibbs_chains(layer, prior, y, h, passes=25):
    """The weights of `layer`, of CHAINS units that all see y, after passes over γ, the weights and their scales."""
    layer.build((None, h.shape[1]))
    regression = regressions.Regression(layer)
    mixtures = NormalMixtures(ds.Prior(prior), [f"layer/{variable.name}" for variable in layer.trainable_variables])
    child, parents = tf.repeat(tf.constant(y)[:, tf.newaxis], CHAINS, 1), tf.constant(h)
    observed = tf.ones_like(child)

    @tf.function(autograph=False)
    def one_pass(weights, auxiliary, seed):
        gamma_seed, normal_seed, scale_seed = tf.unstack(random.split(seed, 3))
        with evaluated_at(layer.trainable_variables, weights):
            (gamma,) = regressions.gammas([regression.logits(child, parents)], gamma_seed)
            sums = regression.added(regression.no_sums(), child, parents, observed, gamma)
            weights = regression.draw(sums, mixtures.laws(auxiliary), normal_seed)
        return weights, mixtures.update_auxiliary(weights, auxiliary, scale_seed)

    weights = [tf.convert_to_tensor(variable) for variable in layer.trainable_variables]
    auxiliary = mixtures.initial_auxiliary(weights, random.as_seed(1))
    for number in range(passes):
        weights, auxiliary = one_pass(weights, auxiliary, random.fold(random.as_seed(2), number))
    return [part.numpy() for part in weights]


def assert_posterior(drawn, log_prior, logits, y, reach=25.0):
    """Kolmogorov and Smirnov's tests of two parameters, or of one, against quadrature.

    Args:
      drawn: list of arrays (n,).
      log_prior: list of functions, of each parameter.
      logits: function of the parameters → list of ψ_n.
      y: (N,).
      reach: the grid's ends.
    """
    grid = np.sinh(np.linspace(-np.arcsinh(reach), np.arcsinh(reach), 1501))
    axes = np.meshgrid(*[grid] * len(drawn), indexing="ij")
    density = sum(prior(axis) for prior, axis in zip(log_prior, axes))
    for psi, value in zip(logits(*axes), y):
        density = density - np.logaddexp(0, psi if value == 0 else -psi)
    for axis in axes:
        density = density + 0.5 * np.log1p(axis**2)  # dx = cosh t dt
    density = np.exp(density - density.max())
    for i, values in enumerate(drawn):
        marginal = density.sum(tuple(k for k in range(len(drawn)) if k != i))
        cdf = (np.cumsum(marginal) - marginal / 2) / marginal.sum()
        p = scipy.stats.kstest(values, lambda at, cdf=cdf: np.interp(at, grid, cdf)).pvalue
        assert p > LEVEL / len(drawn), (i, p)


Y, H = np.array([1, 1, 0], np.float32), np.array([[1], [0], [1]], np.float32)


@pytest.mark.parametrize("law", [tfd.Normal(0.8, 1.5), tfd.StudentT(3.0, 0.5, 1.2)], ids=["normal", "Student-t"])
def test_the_posterior_of_a_regression(law):
    """Weight and bias of a unit with one parent and three rows: an error of a distribution function of 0.05 is found.
    """
    prior = {"kernel": law, "bias": tfd.Normal(-0.4, 2.0)}
    (kernel, bias) = gibbs_chains(ds.layers.SBN(CHAINS), prior, Y, H)
    densities = [lambda x: law.log_prob(x.astype(np.float32)).numpy(), scipy.stats.norm(-0.4, 2.0).logpdf]
    assert_posterior([kernel[0], bias], densities, lambda w, c: [c + w * h for h in H[:, 0]], Y)


def assert_the_posterior_of_a_shared_bias():
    _, bias = gibbs_chains(ds.layers.SBN(CHAINS), tfd.Normal(0.6, 3.0), Y, np.zeros((3, 0), np.float32))
    assert_posterior([bias], [scipy.stats.norm(0.6, 3.0).logpdf], lambda b: [b] * 3, Y)


def test_the_posterior_of_a_bias_that_rows_share():
    assert_the_posterior_of_a_shared_bias()


def test_one_augmentation_for_all_rows_is_found(monkeypatch):
    """A published error: N times one γ ~ PG(1, b) in the place of N draws."""
    exact = regressions.gammas

    def one_for_all(logits, seed):
        return [tf.repeat(part[:1], part.shape[0], 0) for part in exact(logits, seed)]

    monkeypatch.setattr(regressions, "gammas", one_for_all)
    with pytest.raises(AssertionError):
        assert_the_posterior_of_a_shared_bias()


@pytest.mark.parametrize("law", [None, tfd.Laplace(0.0, 1.0), tfd.StudentT([3.0, 2.0], 0.0, 1.0)[0]])
def test_priors_that_are_no_mixtures(law):
    priors = ds.Prior({"bias": law, "": tfd.Normal(0.0, 1.0)})
    if law is None or isinstance(law, tfd.Laplace):
        with pytest.raises(ValueError, match="Normal and StudentT of numbers.* Received: .* for the weight 'a/bias'"):
            NormalMixtures(priors, ["a/kernel", "a/bias"])
    else:
        NormalMixtures(priors, ["a/kernel", "a/bias"])
