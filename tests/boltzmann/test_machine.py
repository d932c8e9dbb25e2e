"""Densities and transitions of a machine, against enumeration."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_machine, tiny_rbm
from tests.chance import assert_frequencies, assert_means
from tests.oracles import log_sum, state_numbers
from tfdsmcmc import random
from tfdsmcmc.boltzmann.machines.machine import softplus_increment
from tfdsmcmc.boltzmann.partition import exact
from tfdsmcmc.boltzmann.partition.exact import _sums_of_rows


def test_energies_and_densities():
    machine = tiny_machine()
    truth = Enumerated(machine)
    v, h = (tf.constant(part, tf.float32) for part in (truth.v, truth.h))
    for i in range(len(truth.h)):
        every = tf.repeat(h[i : i + 1], len(truth.v), 0)
        np.testing.assert_allclose(-machine.energy(v, every), truth.log_joint[:, i], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(machine.unnormalized_log_prob(v), truth.log_unnormalized, rtol=1e-5, atol=1e-5)
    of_hidden = machine.transposed().unnormalized_log_prob(h)
    np.testing.assert_allclose(of_hidden, log_sum(truth.log_joint), rtol=1e-5, atol=1e-5)
    given_v = truth.joint / truth.joint.sum(1, keepdims=True)
    np.testing.assert_allclose(tf.sigmoid(machine.hidden_logits(v)), given_v @ truth.h, rtol=1e-5)
    given_h = truth.joint.T / truth.joint.sum(0)[:, None]
    np.testing.assert_allclose(tf.sigmoid(machine.visible_logits(h)), given_h @ truth.v, rtol=1e-5)


@pytest.mark.parametrize(("units", "hidden_units"), [(4, 3), (3, 5), (1, 1), (6, 6)])
def test_both_layers_give_the_same_partition_function(units, hidden_units):
    machine = tiny_machine(units, hidden_units, seed=2, scale=2.0)
    truth = Enumerated(machine)
    assert ds.boltzmann.exact_log_partition(machine) == pytest.approx(truth.log_z, rel=1e-12)
    assert ds.boltzmann.exact_log_partition(machine.transposed()) == pytest.approx(truth.log_z, rel=1e-12)


@pytest.mark.parametrize("group", [0, 1, 3, 6])
def test_logarithms_of_products(group):
    """The compiled loop of larger machines, for every size of a group of factors."""
    rng = np.random.default_rng(0)
    linear, fields, inner, others = (rng.normal(0, 3, shape) for shape in ((4,), (4, 6), (8,), (8, 6)))
    found = _sums_of_rows.python_function(*map(tf.constant, (linear, fields, inner, others)), group=group)
    softplus = np.logaddexp(0, fields[:, None] + others).sum(-1)
    np.testing.assert_allclose(found, log_sum(linear[:, None] + inner + softplus, 1), rtol=1e-12)


@pytest.mark.slow
def test_draws_of_a_larger_machine():
    """By the compiled tables, as by NumPy: the same draws, and the same log Z, of 2^14 states of 60 units."""
    machine = tiny_machine(60, 14, seed=1, scale=0.5)
    assert 60 * 2**14 < exact._COMPILED_FROM
    plain = ds.boltzmann.exact_draws(machine, 50, seed=3), ds.boltzmann.exact_log_partition(machine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "_COMPILED_FROM", 0)
        compiled = ds.boltzmann.exact_draws(machine, 50, seed=3), ds.boltzmann.exact_log_partition(machine)
    np.testing.assert_array_equal(plain[0], compiled[0])
    assert plain[1] == pytest.approx(compiled[1], rel=1e-12)


def test_exact_draws_have_the_law():
    """Frequencies of 20,000 draws by a chi-square test, from either layer."""
    for units, hidden_units in ((4, 3), (3, 5)):
        machine = tiny_machine(units, hidden_units, seed=1)
        draws = ds.boltzmann.exact_draws(machine, 20_000, seed=3)
        counts = np.bincount(state_numbers(draws), minlength=2**units)
        assert_frequencies(counts, Enumerated(machine).joint.sum(1))


def test_a_gibbs_step_is_the_matrix():
    """From one state: the frequencies of the next are a row of the exact matrix; so are three steps."""
    machine = tiny_machine(3, 2, seed=4)
    truth = Enumerated(machine)
    start = tf.repeat(tf.constant(truth.v[5:6], tf.float32), 20_000, 0)
    for steps, matrix in ((1, truth.gibbs), (tf.constant(4), np.linalg.matrix_power(truth.gibbs, 4))):
        counts = np.bincount(state_numbers(machine.gibbs(start, steps, random.as_seed(0))), minlength=8)
        assert_frequencies(counts, matrix[5])
    np.testing.assert_array_equal(machine.gibbs(start, 0, random.as_seed(0)), start)


@pytest.mark.parametrize("before", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.001, 1.0])
def test_increments_keep_their_digits(before, delta):
    """Against softplus in float64: a relative error of 1e-5 for the smallest step, no overflow for the largest."""
    x = np.random.default_rng(0).normal(0, 50, (20, 30)).astype(np.float32)
    before, after = np.float32(before), np.float32(before) + np.float32(delta)
    exact = np.logaddexp(0, float(after) * x.astype(np.float64)) - np.logaddexp(0, float(before) * x.astype(np.float64))
    found = softplus_increment(tf.constant(x), before, after)
    np.testing.assert_allclose(found, exact.sum(1), rtol=1e-5, atol=1e-5 * delta)


def test_unnormalized_log_prob_and_log_likelihood():
    rbm = tiny_rbm(seed=3)
    truth = Enumerated(rbm.machine)
    x = truth.v.astype(np.uint8)
    np.testing.assert_allclose(rbm.unnormalized_log_prob(x, batch_size=5), truth.log_unnormalized, rtol=1e-5, atol=1e-5)
    exact = rbm.log_likelihood(x)
    np.testing.assert_allclose(np.exp(exact.value).sum(), 1.0, rtol=1e-5)
    assert isinstance(exact, ds.likelihood.LogLikelihood) and not exact.standard_error.any()
    np.testing.assert_allclose(rbm.log_likelihood(x, truth.log_z + 1).value, exact.value - 1, rtol=1e-5)
    estimate = ds.boltzmann.LogPartition.of_weights(np.array([1.0, 2.0, 1.5]))
    rows = rbm.log_likelihood(x, estimate)
    assert rows.mean().standard_error == pytest.approx(estimate.standard_error)  # it does not shrink with the rows


def test_samples_and_imputations_have_the_law():
    """Chains of 30 steps of a machine that mixes: chi-square tests of 20,000 ends, of all units and of the missing."""
    rbm = tiny_rbm(3, 2, seed=6, scale=0.7)
    truth = Enumerated(rbm.machine)
    law = truth.joint.sum(1)
    drawn = rbm.sample(20_000, seed=1, steps=30)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), law)
    means = rbm.sample(20_000, seed=1, steps=30, probabilities=True)
    assert_means(means, law @ truth.v)
    x = np.array([[np.nan, 1.0, np.nan]])
    found = rbm.impute(x, num_imputations=20_000, seed=2, steps=30)
    assert found.shape == (20_000, 1, 3) and (found[:, 0, 1] == 1).all()
    free = truth.v[:, 1] == 1
    assert_frequencies(np.bincount(state_numbers(found[:, 0]), minlength=8)[free], law[free] / law[free].sum())
    masked = rbm.impute([[7.0, 1.0, 7.0]], mask=[False, True, False], num_imputations=5, seed=2, steps=3)
    np.testing.assert_array_equal(masked, rbm.impute(x, num_imputations=5, seed=2, steps=3))
    np.testing.assert_array_equal(rbm.impute(truth.v, num_imputations=2), np.stack([truth.v] * 2))


BAD = {
    "no machine": lambda: ds.boltzmann.exact_log_partition(3),
    "too large": lambda: ds.boltzmann.exact_log_partition(ds.boltzmann.RBM(26, 27)),
    "no partition function": lambda: ds.boltzmann.RBM(26, 27).log_likelihood(np.zeros((1, 26))),
    "a partition function that is none": lambda: tiny_rbm().log_likelihood(np.zeros((1, 4)), "auto"),
    "an infinite one": lambda: tiny_rbm().log_likelihood(np.zeros((1, 4)), np.inf),
    "weights": lambda: ds.boltzmann.exact_log_partition(ds.boltzmann.Machine(*(np.nan * p for p in tiny_machine()))),
    "width": lambda: tiny_rbm().unnormalized_log_prob(np.zeros((2, 5))),
    "gaps": lambda: tiny_rbm().unnormalized_log_prob([[np.nan, 0, 0, 0]]),
    "grey": lambda: tiny_rbm().unnormalized_log_prob([[0.5, 0, 0, 0]]),
    "no steps": lambda: tiny_rbm().sample(3, steps=0),
    "start": lambda: tiny_rbm().sample(3, start=np.zeros((2, 4))),
    "no imputations": lambda: tiny_rbm().impute([[np.nan, 0, 0, 0]], num_imputations=0),
    "units": lambda: ds.boltzmann.RBM(0, 3),
    "hidden units": lambda: ds.boltzmann.RBM(3, 2.5),
    "seed": lambda: ds.boltzmann.RBM(3, 2, seed=-1),
    "a call": lambda: tiny_rbm()(np.zeros((1, 4))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()
