"""Paths against the layers' own log-probabilities; where they start, for every kind of layer."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.annealing.enumeration import KINDS, log_table, model_of, states_of
from tests.chance import assert_frequencies, assert_means
from tests.oracles import log_sum, state_numbers
from tests.slow_cases import mostly_slow
from tfdsmcmc.annealing import latent_paths
from tfdsmcmc.supports import Binary

SBN, MLP, Gaussian = ds.layers.SBN, ds.layers.MLPBernoulli, ds.layers.MLPGaussian

# real and binary layers in turn
MIXED = {
    "real above": lambda: ([Gaussian(2), SBN(2), MLP(3, hidden_units=[2])], [SBN(2), Gaussian(2, hidden_units=[2])]),
    "real data": lambda: (
        [SBN(2), Gaussian(2, hidden_units=[3]), Gaussian(3, hidden_units=[2])],
        [Gaussian(2, hidden_units=[2]), SBN(2)],
    ),
}
ALL = {**KINDS, **MIXED}
FAST = [*itertools.product(["SBN", "real above"], latent_paths.PATHS), ("NADE", "weights"), ("MLP", "prior")]
ROW = np.array([1, 0, 1])


def path_of(model, name, rows):
    x = tf.constant(np.repeat(ROW[None], rows, 0), tf.float32)
    return latent_paths.PATHS[name](model.generative, model.recognition, x)


@pytest.mark.parametrize(("kind", "name"), mostly_slow(FAST, itertools.product(KINDS, latent_paths.PATHS)))
def test_densities_and_starts_by_enumeration(kind, name):
    """log f_β and its increments, and the law of the first draw with log f_0/g, which is the same for each z."""
    model = model_of(KINDS[kind]())
    path, z = path_of(model, name, 16), states_of(model.generative)
    for beta in (0.0, 0.3, 1.0):
        got = path.log_density(beta, z).numpy()
        np.testing.assert_allclose(got, log_table(model, name, beta, ROW), rtol=1e-5, atol=1e-5)
    change = path.increment(tf.constant(0.3), tf.constant(0.8), z).numpy()
    want = log_table(model, name, 0.8, ROW) - log_table(model, name, 0.3, ROW)
    np.testing.assert_allclose(change, want, rtol=1e-4, atol=1e-5)
    start = log_table(model, name, 0.0, ROW)
    np.testing.assert_allclose(path.log_start(z).numpy(), np.full(16, log_sum(start)), atol=1e-5)
    drawn = state_numbers(np.concatenate(path_of(model, name, 2**13).start(ds.random.as_seed(1)), 1))
    assert_frequencies(np.bincount(drawn, minlength=16), np.exp(start - log_sum(start)))


@pytest.mark.parametrize(("kind", "name"), mostly_slow(FAST, itertools.product(ALL, latent_paths.PATHS)))
def test_the_factors_make_up_the_density(kind, name):
    """Σ power · log p over the factors is log f_β, so that sweeps and gradients agree; and so do the increments."""
    model = model_of(ALL[kind]())
    path = path_of(model, name, 50)
    z = path.start(ds.random.as_seed(2))
    for beta in (0.3, 1.0):
        with path.at(beta):
            values, total = [path.rows.values, *z], 0.0
            for factor in path.factors(beta):
                above = tf.zeros([0]) if factor.parent is None else values[factor.parent]
                total += factor.power * factor.layer.log_prob(values[factor.child], above)
        np.testing.assert_allclose(path.log_density(beta, z), total, rtol=1e-4, atol=1e-4)
        steps = path.increment(0.0, beta, z) + path.log_density(0.0, z)
        np.testing.assert_allclose(steps, total, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ALL)
def test_without_weights_no_layer_sees_its_parents(kind):
    """log p(x given z; 0) is one number: D log ½ for binary data, that of standard normal ones else; and z has the
    same laws."""
    model = model_of(ALL[kind]())
    path = path_of(model, "weights", 2**12)
    z = path.start(ds.random.as_seed(3))
    binary = model.support == Binary()
    want = 3 * np.log(0.5) if binary else -0.5 * (ROW**2).sum() - 1.5 * np.log(2 * np.pi)
    np.testing.assert_allclose(path.log_start(z), np.full(2**12, want), rtol=1e-5)
    for layer, part in zip(model.generative.layers[-2::-1], z):
        assert_means(part, 0.5 if layer.binary else 0.0, 0.5 if layer.binary else 1.0)
        assert_means(tf.square(part), 0.5 if layer.binary else 1.0)


def test_weights_that_are_not_scaled_are_weighed():
    """A layer that stays as it is at β = 0 sees its parents there, and log f_0/g differs from state to state."""
    model = model_of(KINDS["SBN"]())
    model.generative.layers[-1].trainable = False
    path, z = path_of(model, "weights", 16), states_of(model.generative)
    got = path.log_start(z).numpy()
    np.testing.assert_allclose(got, model.generative.layers[-1].log_prob(path.rows.values, z[0]), rtol=1e-5)
    assert got.std() > 0.1


def test_the_model_keeps_its_weights():
    model = model_of(KINDS["SBN"]())
    before = [v.numpy() for v in model.trainable_variables]
    path = path_of(model, "weights", 16)
    path.increment(0.1, 0.2, path.start(ds.random.as_seed(1)))
    for variable, value in zip(model.trainable_variables, before):
        np.testing.assert_array_equal(variable, value)
