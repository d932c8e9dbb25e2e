"""log Z from both sides: laws of the runs by products of transition matrices, and what users see of them."""

import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.annealing.enumeration import moments
from tests.boltzmann.oracle import Enumerated, tiny_machine, tiny_rbm
from tests.chance import assert_bounded_means, assert_frequencies
from tests.conformance.paths import run_path_test
from tests.oracles import binary_states, log_sum, sigmoid, state_numbers
from tfdsmcmc import random
from tfdsmcmc.boltzmann import LogPartition, log_partition, log_partition_ratio
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.partition import schedules
from tfdsmcmc.boltzmann.partition.paths import BaseRatePath, MachinePath

BASE = np.array([0.5, -1.0, 0.3], np.float32)
A = tiny_machine(3, 2, seed=1)
B = tiny_machine(3, 4, seed=2)
STATES = binary_states(3).astype(np.float64)


def arrays(machine):
    return [np.asarray(part, np.float64) for part in machine]


class Path:
    """A path in float64: log f_β of all states and the matrix of its transition, of units h and k together."""

    def __init__(self, first, second):
        self.first, self.second = arrays(first), arrays(second)

    def table(self, beta):
        total = 0.0
        for share, (kernel, bias, hidden_bias) in ((1 - beta, self.first), (beta, self.second)):
            total = total + share * (STATES @ bias) + np.logaddexp(0, share * (hidden_bias + STATES @ kernel)).sum(1)
        return total

    def matrix(self, beta):
        """Σ_h p(h given v) p(v' given h) over every state of both hidden layers."""
        kernel = np.concatenate([(1 - beta) * self.first[0], beta * self.second[0]], 1)
        hidden_bias = np.concatenate([(1 - beta) * self.first[2], beta * self.second[2]])
        bias = (1 - beta) * self.first[1] + beta * self.second[1]
        h = binary_states(kernel.shape[1])
        p = sigmoid(hidden_bias + STATES @ kernel)
        q = sigmoid(bias + h @ kernel.T)
        given_v = np.prod(np.where(h[None] == 1, p[:, None], 1 - p[:, None]), 2)
        given_h = np.prod(np.where(STATES[None] == 1, q[:, None], 1 - q[:, None]), 2)
        return given_v @ given_h

    def moments(self, betas, log_start=0.0, direction="forward"):
        """Of a run's weight, as `tests.annealing.enumeration.moments` gives them."""
        tables, matrices = ([make(beta) for beta in betas] for make in (self.table, self.matrix))
        stay, steps = np.eye(8), range(1, len(betas))
        shift = (np.full(8, log_start), stay)
        if direction == "forward":
            law = np.exp(tables[0] - log_sum(tables[0]))
            return moments(law, [shift, *((tables[t] - tables[t - 1], matrices[t]) for t in steps)])
        law = np.exp(tables[-1] - log_sum(tables[-1]))
        down = ((tables[t - 1] - tables[t], matrices[t - 1]) for t in reversed(steps))
        return moments(law, [*down, (-shift[0], stay)])


# independent units have no hidden ones; those of the machine are uniform at β = 0 and stand in its own table
UNITS = ds.boltzmann.Machine(tf.zeros([3, 0]), tf.constant(BASE), tf.zeros([0]))
LOG_Z0 = 4 * np.log(2) + np.logaddexp(0, BASE.astype(np.float64)).sum()


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_the_mean_weight_is_exact_at_any_number_of_steps(steps):
    """By products of matrices, with the powers of 2 where the machines have 2 and 4 hidden units."""
    betas = np.linspace(0, 1, steps + 1) ** 1.5
    log_a, log_b = Enumerated(A).log_z, Enumerated(B).log_z
    ratio = Path(A, B).moments(betas).mean
    assert np.log(ratio) == pytest.approx((log_b + 2 * np.log(2)) - (log_a + 4 * np.log(2)), abs=1e-12)
    assert np.log(Path(UNITS, B).moments(betas, LOG_Z0).mean) == pytest.approx(log_b, abs=1e-12)
    assert np.log(Path(UNITS, B).moments(betas, LOG_Z0, "reverse").mean) == pytest.approx(-log_b, abs=1e-12)
    for beta in betas:
        law = np.exp(Path(A, B).table(beta) - log_sum(Path(A, B).table(beta)))
        np.testing.assert_allclose(law @ Path(A, B).matrix(beta), law, atol=1e-14)


def of_units(num_runs):
    return BaseRatePath(B, tf.constant(BASE), num_runs)


def of_machines(num_runs):
    """From exact draws, each the state into whose share of [0, 1) a uniform number falls."""
    ends = tf.constant(np.cumsum(np.exp(Enumerated(A).log_unnormalized - Enumerated(A).log_z))[:-1])

    def draws(seed):
        places = tf.searchsorted(ends, random.uniform([num_runs], seed, tf.float64), side="right")
        return tf.gather(tf.constant(STATES, tf.float32), places)

    return MachinePath(A, B, num_runs, draws)


@pytest.mark.parametrize(("make", "path"), [
    (of_units, Path(UNITS, B)), (of_machines, Path(A, B))
], ids=["units", "machines"])  # fmt: skip
def test_densities_and_transitions_are_those_of_the_oracle(make, path):
    states = tf.constant(STATES, tf.float32)
    for number, beta in enumerate((0.0, 0.4, 1.0)):
        found = make(8).log_density(tf.constant(beta, tf.float32), states)
        np.testing.assert_allclose(found, path.table(beta), rtol=1e-5, atol=1e-5)
        start = tf.repeat(states[5:6], 20_000, 0)
        moved, _ = make(20_000).move(tf.constant(beta, tf.float32), start, random.as_seed(number))
        counts = np.bincount(state_numbers(moved), minlength=8)
        assert_frequencies(counts, path.matrix(beta)[5])


@pytest.mark.parametrize("kind", ["units", pytest.param("machines", marks=pytest.mark.slow)])
def test_the_contract_of_paths(kind):
    states = tf.constant(STATES, tf.float32)
    if kind == "units":
        run_path_test(of_units, states, Enumerated(B).log_z)
    else:
        log_ratio = Enumerated(B).log_z - Enumerated(A).log_z - 2 * np.log(2)
        run_path_test(of_machines, states, log_ratio)


BETAS = np.array([0.0, 0.3, 0.7, 1.0], np.float32)


def assert_mean_weight(found, exact):
    """The mean of the weights, in units of the exact one."""
    spread, most = exact.deviation / exact.mean, exact.largest / exact.mean
    mean, count = np.exp(found.log_weights).mean() / exact.mean, len(found.log_weights)
    assert_bounded_means(mean, 1.0, spread, most, count)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_the_mean_of_the_weights(direction):
    """Bernstein's bound on 4,000 weights, with the exact deviation and largest weight."""
    rbm = tiny_rbm(3, 4, seed=2)
    found = log_partition(rbm, 4000, schedule=BETAS, base=BASE, direction=direction, seed=5)
    exact = Path(UNITS, B).moments(BETAS.astype(np.float64), LOG_Z0, direction)
    assert_mean_weight(found, exact)
    assert found.direction == direction and found.starts == {"forward": "independent", "reverse": "exact"}[direction]
    assert abs(found.value - Enumerated(B).log_z) < 6 * found.standard_error < 0.2


def test_the_mean_of_the_weights_between_machines():
    a, b = tiny_rbm(3, 2, seed=1), tiny_rbm(3, 4, seed=2)
    found = log_partition_ratio(a, b, 4000, schedule=BETAS, seed=5)
    exact = Path(A, B).moments(BETAS.astype(np.float64))
    assert_mean_weight(found, exact)
    assert abs(found.value - (Enumerated(B).log_z - Enumerated(A).log_z)) < 6 * found.standard_error < 0.2


def test_both_bounds_by_default_schedules():
    """58 steps of the published schedule and an adaptive one: log Z within six standard errors on both sides."""
    rbm = tiny_rbm(6, 5, seed=7, scale=1.5)
    rows = ds.boltzmann.exact_draws(rbm, 200, 0)
    both = ds.boltzmann.sandwich(rbm, 200, 58, base=rows)
    exact = ds.boltzmann.exact_log_partition(rbm)
    for bound in (both.lower, both.upper, log_partition(rbm, 200, 40, "adaptive", rows)):
        assert abs(bound.value - exact) < 6 * bound.standard_error < 1.0
        assert bound.interval[0] < bound.value < bound.interval[1] and bound.effective_sample_size > 20
    assert both.gap == both.upper.value - both.lower.value
    assert abs(both.gap) < 6 * both.gap_error
    assert both.interval == (both.lower.interval[0], both.upper.interval[1])
    assert both.interval[0] < exact < both.interval[1]


def test_estimates_are_said_in_a_line():
    """Not with the weights of all runs, in errors neither."""
    rbm = ds.boltzmann.RBM(3, 2)
    both = ds.boltzmann.sandwich(rbm, 500, 5)
    assert repr(both.lower).startswith("LogPartition(3.4") and len(repr(both)) < 400
    with pytest.raises(ValueError, match=r"Of a sandwich pass one end.*Received: log_partition=PartitionSandwich\(low"):
        rbm.log_likelihood(np.eye(3), both)
    with pytest.raises(ValueError, match="both directions. Received: direction='reverse'"):
        ds.boltzmann.sandwich(rbm, 5, 5, direction="reverse")


def test_what_is_no_log_partition_is_refused_before_rows_are_gone_through(monkeypatch):
    rbm = ds.boltzmann.RBM(3, 2)
    monkeypatch.setattr(sampling, "unnormalized_log_prob", lambda *_: pytest.fail("rows were gone through"))
    for estimate in (rbm.log_likelihood, lambda x, given: rbm.density(log_partition=given).log_likelihood(x, 1, 0, 10)):
        with pytest.raises(ValueError, match="Received: log_partition='exact'"):
            estimate(np.eye(3), "exact")
    monkeypatch.setattr(sys.modules[type(rbm).__module__], "known_partition", lambda *_: pytest.fail("log Z was found"))
    with pytest.raises(ValueError, match="Received: batch_size=0"):
        rbm.log_likelihood(np.eye(3), None, 0)


def test_long_chains_stand_in_for_exact_draws(monkeypatch):
    """Of a machine that is too large to enumerate, as it is made out to be: the result says what its runs began at."""
    module = sys.modules["tfdsmcmc.boltzmann.partition.log_partition"]  # whose name in the package is the function's
    monkeypatch.setattr(module, "is_enumerable", lambda machine: False)
    rbm = tiny_rbm(4, 3, seed=3, scale=0.7)
    exact = ds.boltzmann.exact_log_partition(rbm)
    rows = np.ones((5, 4), np.uint8)
    for base in (None, rows):
        above = log_partition(rbm, 300, 30, "linear", base=base, direction="reverse", chain_steps=50)
        assert above.starts == "chains" and abs(above.value - exact) < 6 * above.standard_error < 0.5
    other = log_partition_ratio(rbm, rbm, 50, 5, chain_steps=5)
    assert other.starts == "chains" and abs(other.value) < 6 * other.standard_error
    given = log_partition(rbm, 300, 30, "linear", direction="reverse", draws=ds.boltzmann.exact_draws(rbm, 300, 1))
    assert given.starts == "exact"


@pytest.mark.compiled
def test_a_compiled_run_is_the_same():
    rbm = tiny_rbm(3, 4, seed=2)
    jitted = log_partition(rbm, 20, 10, "linear", seed=3).log_weights
    rbm.compile(jit_compile=False)
    np.testing.assert_allclose(jitted, log_partition(rbm, 20, 10, "linear", seed=3).log_weights, rtol=1e-5)
    assert np.any(jitted != log_partition(rbm, 20, 10, "linear", seed=4).log_weights)


def test_intervals_are_those_of_the_definition():
    w = np.array([1.0, 2.0, 3.0, 14.0])
    below = LogPartition.of_weights(np.log(w), constant=2.0)
    error = w.std(ddof=1) / 2 / w.mean()
    assert below.value == pytest.approx(np.log(5) + 2) and below.standard_error == pytest.approx(error)
    assert below.interval == pytest.approx((-np.inf, below.value + np.log1p(3 * error)))
    assert below.effective_sample_size == pytest.approx(400 / 210) and below.largest_share == pytest.approx(0.7)
    above = LogPartition.of_weights(np.log(w + 20), 2.0, "reverse")
    error = above.standard_error
    assert above.value == pytest.approx(2 - np.log(25))
    assert above.interval == pytest.approx((above.value - np.log1p(3 * error), above.value - np.log1p(-3 * error)))
    assert LogPartition.of_weights(np.log(w), 2.0, "reverse").interval[1] == np.inf
    one = LogPartition.of_weights([1.0])
    assert np.isnan(one.standard_error) and one.interval == (-np.inf, np.inf)  # nothing is known of its error
    assert LogPartition.of_weights([1.0], direction="reverse").interval == (-np.inf, np.inf)


def test_an_estimate_is_of_the_weights_that_it_was_made_for():
    """Both directions; those of other weights, or of another size, are refused where they would normalise rows."""
    rbm, other = ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(4, 2)
    both = ds.boltzmann.sandwich(rbm, 5, 5)
    x = np.eye(3)
    for known in (both.lower, both.upper):
        np.testing.assert_allclose(rbm.log_likelihood(x, known).value, rbm.unnormalized_log_prob(x) - known.value)
        with pytest.raises(ValueError, match="other weights.*Received: an estimate for a machine of 4 and 2 units"):
            other.log_likelihood(np.eye(4), known)
    rbm.bias.assign_add([1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="other weights.*Received: "):
        rbm.log_likelihood(x, both.lower)
    assert np.isfinite(rbm.log_likelihood(x, both.lower.value).value).all()  # a number is taken at its word


def test_the_published_schedule():
    betas = schedules.fixed("published", 14_500)
    assert len(betas) == 14_501 and betas[500] == 0.5 and betas[4500] == np.float32(0.9)
    np.testing.assert_allclose(np.diff(betas.astype(np.float64))[[0, 600, 5000]], [1e-3, 1e-4, 1e-5], rtol=0.01)
    for steps in (1, 2, 3, 10, 29, 1000):
        assert len(schedules.fixed("published", steps)) == steps + 1


def test_base_rates():
    x = np.array([[1, 0], [1, 0], [1, 1], [1, 0]])
    rates = (x.sum(0) + 0.2) / 4.4
    for rows in (x, ds.Rows(x)):
        np.testing.assert_allclose(ds.boltzmann.base_rates(rows), np.log(rates / (1 - rates)), rtol=1e-6)


def test_rows_are_a_base():
    rows = np.random.default_rng(0).integers(0, 2, (20, 4))
    each = [log_partition(tiny_rbm(), 20, 20, base=base, seed=1).value for base in (rows, ds.Rows(rows))]
    np.testing.assert_array_equal(*each)


def nan_rbm():
    rbm = tiny_rbm()
    rbm.bias.assign([np.nan] * 4)
    return rbm


BAD = {
    "model": lambda: log_partition("rbm"),
    "weights": lambda: log_partition(nan_rbm()),
    "runs": lambda: log_partition(tiny_rbm(), 0),
    "steps": lambda: log_partition(tiny_rbm(), 10, 0),
    "schedule": lambda: log_partition(tiny_rbm(), 10, 10, "cosine"),
    "a schedule that falls": lambda: log_partition(tiny_rbm(), 10, schedule=[0, 0.5, 0.4, 1]),
    "base": lambda: log_partition(tiny_rbm(), 10, 10, base=np.zeros(3)),
    "an infinite base": lambda: log_partition(tiny_rbm(), 10, 10, base=np.array([np.inf, 0, 0, 0])),
    "rows that are grey": lambda: log_partition(tiny_rbm(), 10, 10, base=np.full((2, 4), 0.5)),
    "a base of words": lambda: log_partition(tiny_rbm(), 10, 10, base="data"),
    "direction": lambda: log_partition(tiny_rbm(), 10, 10, direction="up"),
    "draws forward": lambda: log_partition(tiny_rbm(), 1, 10, draws=np.zeros((1, 4))),
    "draws of another number": lambda: log_partition(tiny_rbm(), 2, 10, direction="reverse", draws=np.zeros((1, 4))),
    "chains": lambda: log_partition(tiny_rbm(), 2, 10, chain_steps=0),
    "seed": lambda: log_partition(tiny_rbm(), 2, 10, seed=-1),
    "widths": lambda: log_partition_ratio(tiny_rbm(3, 2), tiny_rbm(4, 2)),
    "a ratio of what": lambda: log_partition_ratio(tiny_rbm(3, 2), None),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()
