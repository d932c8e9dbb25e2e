"""Annealing from a mixture of Bernoulli products, and what else a path begins at, against enumeration."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_machine, tiny_rbm
from tests.chance import assert_frequencies
from tests.conformance.paths import run_path_test
from tests.oracles import binary_states, log_bernoulli, log_sum, sigmoid, state_numbers
from tfdsmcmc import random
from tfdsmcmc.boltzmann import annealed_chains, log_partition
from tfdsmcmc.boltzmann.mixture.path import Mixture, MixturePath

B = tiny_machine(3, 4, seed=2)
STATES = binary_states(3).astype(np.float64)
SHARES = np.array([0.5, 0.3, 0.2])
LOGITS = np.random.default_rng(3).normal(0.0, 2.0, (3, 3))


def path(num_runs, logits=LOGITS):
    mixture = Mixture(tf.constant(np.log(SHARES), tf.float32), tf.constant(logits, tf.float32))
    return MixturePath(B, mixture, num_runs)


def components(states):
    """log π_c p(v given c), (states, C), float64."""
    return np.log(SHARES) + np.stack([log_bernoulli(states, row) for row in LOGITS], 1)


def test_densities_are_those_of_the_definition():
    """At both ends the mixture's times 2^M and the machine's; between them the sum over components and hidden units."""
    states, truth = tf.constant(STATES, tf.float32), Enumerated(B)
    for beta in (0.0, 0.4, 1.0):
        hidden = np.logaddexp(0, beta * (truth.hidden_bias + STATES @ truth.kernel)).sum(1)
        leaving = log_sum((1 - beta) * components(STATES), 1) - beta * np.log(3)
        exact = leaving + beta * STATES @ truth.bias + hidden
        np.testing.assert_allclose(path(8).log_density(tf.constant(beta, tf.float32), states), exact, atol=1e-5)
    np.testing.assert_allclose(exact, truth.log_unnormalized, atol=1e-12)


def test_a_move_is_that_of_its_conditional_laws():
    """The law after one move from a state, by sums over components and hidden units, in a chi-square test."""
    truth, v = Enumerated(B), STATES[5]
    for number, beta in enumerate((0.0, 0.5, 1.0)):
        shares = np.exp((1 - beta) * components(v[np.newaxis])[0])
        q = sigmoid(beta * (truth.hidden_bias + v @ truth.kernel))
        law = 0.0
        for share, logits in zip(shares / shares.sum(), LOGITS):
            for h in binary_states(4):
                p = sigmoid((1 - beta) * logits + beta * (truth.bias + truth.kernel @ h))
                chance = share * np.prod(np.where(h == 1, q, 1 - q))
                law = law + chance * np.prod(np.where(STATES == 1, p, 1 - p), 1)
        start = tf.repeat(tf.constant(v[np.newaxis], tf.float32), 20_000, 0)
        moved, _ = path(20_000).move(tf.constant(beta, tf.float32), start, random.as_seed(number))
        assert_frequencies(np.bincount(state_numbers(moved), minlength=8), law)


def test_increments_keep_their_digits():
    """Against float64 differences: of tiny steps, where float32 differences have none left, and of large ones, where
    components lie hundreds of nats apart."""
    states = tf.constant(STATES, tf.float32)
    for logits, before, after in ((LOGITS, 0.4, 0.40001), (300 * LOGITS, 0.0, 0.9), (300 * LOGITS, 0.9, 1.0)):
        before, after = np.float32(before), np.float32(after)
        u = np.log(SHARES) + np.stack([log_bernoulli(STATES, row) for row in np.float32(logits)], 1)
        x = np.float64(B.hidden_bias) + STATES @ np.float64(B.kernel)

        def density(beta, u=u, x=x):
            linear = beta * STATES @ np.float64(B.bias) - beta * np.log(3)
            return log_sum((1 - beta) * u, 1) + linear + np.logaddexp(0, beta * x).sum(1)

        exact = density(np.float64(after)) - density(np.float64(before))
        found = path(8, logits).increment(tf.constant(before), tf.constant(after), states)
        # u of some hundred nats is itself known to 3e-5 in float32
        np.testing.assert_allclose(found, exact, rtol=2e-5, atol=1e-9 if logits is LOGITS else 2e-4)


@pytest.mark.slow
@pytest.mark.compiled
def test_the_contract_of_paths():
    run_path_test(path, tf.constant(STATES, tf.float32), Enumerated(B).log_z)


def mixture_of(logits, shares):
    mixture = ds.boltzmann.MixtureOfBernoullis(logits.shape[1], len(shares))
    mixture.log_shares.assign(np.log(shares))
    mixture.logits.assign(logits)
    return mixture


def test_log_z_from_a_mixture():
    """From below and from above within six errors; a mixture that is near leaves less to the runs."""
    rbm = tiny_rbm(3, 4, seed=2, scale=2.0)
    truth = Enumerated(rbm.machine)
    law = truth.joint.sum(1)
    near = mixture_of(8.0 * (2 * STATES - 1), law)  # a component for each state
    for direction in ("forward", "reverse"):
        found = log_partition(rbm, 500, schedule=[0, 0.3, 0.7, 1], base=near, direction=direction, seed=5)
        plain = log_partition(rbm, 500, schedule=[0, 0.3, 0.7, 1], direction=direction, seed=5)
        assert abs(found.value - truth.log_z) < 6 * found.standard_error < 0.5
        assert found.standard_error < plain.standard_error


def test_a_frozen_mixture_and_shares_of_any_sum_are_bases():
    """log Z knows nothing of a constant that all log π have in common, and needs no weights that learn."""
    rbm, mixture = tiny_rbm(3, 4, seed=2), ds.boltzmann.MixtureOfBernoullis(3, 3)
    rbm.compile(jit_compile=False)
    found = log_partition(rbm, 5, 4, base=mixture)
    mixture.log_shares.assign_add([2.0, 2.0, 2.0])
    mixture.trainable = False
    np.testing.assert_allclose(log_partition(rbm, 5, 4, base=mixture).log_weights, found.log_weights, atol=1e-4)


def test_sources_of_rows_are_bases():
    """Grey rows, and what `fit` takes beside arrays: the runs begin at the same rates."""
    rbm = tiny_rbm(4, 3)
    bits = np.random.default_rng(0).integers(0, 2, (50, 4)).astype(np.uint8)
    arguments = {"num_runs": 5, "num_steps": 4, "seed": 3}
    plain = log_partition(rbm, base=bits, **arguments).log_weights
    for rows in (ds.datasets.GreyRows(255 * bits), tf.data.Dataset.from_tensor_slices(bits).batch(7)):
        np.testing.assert_array_equal(log_partition(rbm, base=rows, **arguments).log_weights, plain)
        np.testing.assert_array_equal(ds.boltzmann.base_rates(rows), ds.boltzmann.base_rates(bits))


def test_chains_are_seen_on_their_way():
    """The law of 10,000 runs at β = 0 is the base's, and after many steps the machine's at β = 1; a β between steps is
    seen at the next one."""
    rbm = tiny_rbm(3, 4, seed=2, scale=0.7)
    base = np.array([0.5, -1.0, 0.3], np.float32)
    seen = annealed_chains(rbm, (0.0, 0.5, 1.0), 10_000, 20, "linear", base, seed=1)
    laws = [np.exp(log_bernoulli(STATES, base)), Enumerated(rbm.machine).joint.sum(1)]
    for states, law in zip(seen[[0, 2]], laws):
        assert_frequencies(np.bincount(state_numbers(states), minlength=8), law)
    schedule = [0, 0.5, 0.8, 1.0]
    few, same = (annealed_chains(rbm, (beta, 1.0), 5, schedule=schedule, base=base, seed=1) for beta in (0.6, 0.8))
    np.testing.assert_array_equal(few, same)
    # nor does it matter to a chain who has looked
    unseen = annealed_chains(rbm, (1.0,), 500, schedule=schedule, base=base, seed=1)
    seen = annealed_chains(rbm, (0.0, 0.8, 1.0), 500, schedule=schedule, base=base, seed=1)
    np.testing.assert_array_equal(seen[-1], unseen[0])


BAD = {
    "a mixture of other units": lambda: log_partition(tiny_rbm(), 2, 2, base=mixture_of(LOGITS, SHARES)),
    "a mixture that is not finite": lambda: log_partition(
        tiny_rbm(3, 2), 2, 2, base=mixture_of(np.full((3, 3), np.nan), SHARES)
    ),
    "grey rows of other units": lambda: log_partition(
        tiny_rbm(), 2, 2, base=ds.datasets.GreyRows(np.zeros((2, 3), np.uint8))
    ),
    "rows with gaps": lambda: log_partition(tiny_rbm(3, 2), 2, 2, base=np.array([[np.nan, 0, 1]])),
    "rates of grey numbers": lambda: ds.boltzmann.base_rates(np.full((2, 2), 0.5)),
    "rates of no rows": lambda: ds.boltzmann.base_rates(np.zeros(3)),
    "betas that fall": lambda: annealed_chains(tiny_rbm(), (0.5, 0.2)),
    "betas beyond 1": lambda: annealed_chains(tiny_rbm(), (0.5, 1.2)),
    "betas that are no numbers": lambda: annealed_chains(tiny_rbm(), (0.1, np.nan)),
    "betas in words": lambda: annealed_chains(tiny_rbm(), "abc"),
    "betas that are ragged": lambda: annealed_chains(tiny_rbm(), [[0.1], [0.2, 0.3]]),
    "a base that is ragged": lambda: log_partition(tiny_rbm(), 2, 2, base=[[0, 1], [1]]),
    "rates of what is ragged": lambda: ds.boltzmann.base_rates([[0, 1], [1]]),
    "a schedule to be found": lambda: annealed_chains(tiny_rbm(), schedule="adaptive"),
    "runs": lambda: annealed_chains(tiny_rbm(), num_runs=0),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()
