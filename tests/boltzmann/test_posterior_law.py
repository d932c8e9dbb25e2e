"""Samples of the weights of a Boltzmann machine: the law of SGHMC and SGNHT under contrastive divergence against the
exact posterior, by quadrature over all five weights of a machine of two visible units and one hidden one. Under this
prior the weights are so weak that three steps from the rows forget them; `test_fresh_chains` has strong ones."""

import functools

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_near
from tfdsmcmc import random
from tfdsmcmc.boltzmann import ContrastiveDivergence

tfd = tfp.distributions
ROWS = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], [1, 2, 4, 3], axis=0)
CHAINS, STEPS, COPIES = 2048, 600, 5
SHAPES = [(2, 1), (2,), (1,)]
PRIOR = ds.Prior({"": tfd.Normal(0.0, 1.0)})
SPACING = 0.4


@functools.cache
def exact_moments():
    """The means and variances of the five weights: the trapezoidal rule, exact for so smooth a density."""
    grid = np.arange(-4.8, 4.81, SPACING)
    w, u, b, c, a = np.meshgrid(*[grid] * 5, indexing="ij", sparse=True)
    log_p = [v * b + x * c + np.logaddexp(0, a + v * w + x * u) for v, x in ((0, 0), (0, 1), (1, 0), (1, 1))]
    log_z = np.logaddexp(np.logaddexp(log_p[0], log_p[1]), np.logaddexp(log_p[2], log_p[3]))
    log_posterior = sum(count * part for count, part in zip((1, 2, 4, 3), log_p)) - 10 * log_z
    log_posterior = log_posterior - (w**2 + u**2 + b**2 + c**2 + a**2) / 2
    density = np.exp(log_posterior - log_posterior.max())
    density /= density.sum()
    sides = [density.sum(tuple(set(range(5)) - {axis})) for axis in range(5)]
    means = np.array([side @ grid for side in sides])
    return means, np.array([side @ grid**2 for side in sides]) - means**2


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["SGHMC", "SGNHT"])
def test_the_law_of_samples(kind):
    """Means and variances of 2,048 chains from the prior after 600 steps, some fifteen times as long as one forgets.

    The tolerance is 5.5 standard errors: 0.12 deviations for a mean, 17 % for a variance; the heat of the gradient's
    noise is below 2 % (50 chains of three steps behind each), as is the bias of the step. Catches a prior that is left
    out or counted twice, whose variances differ by 30 % and more, another N, a phase of the wrong sign.
    """
    x = tf.constant(np.tile(ROWS, (COPIES, 1)), tf.float32)
    estimator = ContrastiveDivergence(3).of(PRIOR)

    def gradient_fn(*weights, seed):
        def of_one(arguments):
            *parts, each = arguments
            return estimator.gradient(parts, x, float(len(ROWS)), (), None, each)[0]

        return tf.vectorized_map(of_one, (*weights, random.split(seed, CHAINS)))

    kernel = getattr(ds.mcmc, kind)(gradient_fn, learning_rate=0.05, friction=0.1, temperature=1 / len(ROWS))

    @tf.function(jit_compile=True, autograph=False)
    def run(start, results):
        def body(i, state, results):
            state, results = kernel.one_step(state, results, seed=random.fold(random.as_seed(2), i))
            return i + 1, list(state), results

        return tf.while_loop(lambda i, *_: i < STEPS, body, (0, start, results))[1]

    seeds = tf.unstack(random.split(random.as_seed(1), len(SHAPES)))
    start = [random.normal((CHAINS, *shape), seed) for shape, seed in zip(SHAPES, seeds)]
    state = run(start, kernel.bootstrap_results(start, seed=random.as_seed(0)))
    draws = np.concatenate([np.reshape(part, (CHAINS, -1)) for part in state], 1).astype(np.float64)
    means, variances = exact_moments()
    assert_near(draws.mean(0), means, np.sqrt(variances / CHAINS))
    assert_near(((draws - means) ** 2).mean(0), variances, variances * np.sqrt(2 / CHAINS))
