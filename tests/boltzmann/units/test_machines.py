"""Machines of each pair of kinds: densities, log Z from both sides, transitions, gradients and imputation, against the
table of all states.

An assertion of chance fails a right machine at most once in 10⁶ runs (`tests.chance`), one of six standard errors more
seldom. Tests of laws have 20,000 draws: they catch a wrong factor of two in a field, a precision in place of its root.
"""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.units.oracle import KINDS, PAIRS, Table, places, products, tiny_machine, tiny_rbm
from tests.chance import assert_frequencies, assert_means, assert_near
from tests.conformance.estimators import run_estimator_test
from tests.conformance.paths import run_path_test
from tests.oracles import flat, log_sum
from tfdsmcmc import random
from tfdsmcmc.boltzmann import ContrastiveDivergence, log_partition, log_partition_ratio
from tfdsmcmc.boltzmann.partition.paths import BaseRatePath, MachinePath

COUNT = 20_000
QUICK = [("spin", "gaussian"), ("gaussian", "binary"), ("learnt gaussian", "learnt gaussian"), ("categorical", "spin")]
DISCRETE = [pair for pair in PAIRS if "gaussian" not in pair[0]]


def mostly_slow(pairs, quick=QUICK):
    """Pairs as parameters of tests, all but the quick ones marked slow."""
    return [pytest.param(*pair, marks=[] if pair in quick else pytest.mark.slow) for pair in pairs]


def assert_law(draws, table, law=None, allowed=None):
    """Draws of v have a law, by default the machine's: frequencies, of real values means of v and of its products."""
    law = table.law if law is None else law
    if table.visible.values(draws.shape[1]) is None:
        mean, deviation = table.moments(products, law)
        assert_means(products(draws), mean, deviation)
        return
    counts = np.bincount(places(draws, table.v), minlength=len(law))
    allowed = law > 0 if allowed is None else allowed
    assert counts[~allowed].sum() == 0
    assert_frequencies(counts[allowed], law[allowed])


@pytest.mark.parametrize(("visible", "hidden"), PAIRS)
def test_densities_and_exact_answers(visible, hidden):
    """Energies, log p*(v), E[h given v], and log Z by brute force, by either layer or as a determinant."""
    machine = tiny_machine(visible, hidden)
    table = Table(machine)
    assert ds.boltzmann.exact_log_partition(machine) == pytest.approx(table.log_z, rel=1e-9)
    assert ds.boltzmann.exact_log_partition(machine.transposed()) == pytest.approx(table.log_z, rel=1e-9)
    assert ds.boltzmann.partition.exact.is_enumerable(machine)
    some = np.argsort(-table.log_unnormalized)[:6]
    v = tf.constant(table.v[some], tf.float32)
    grid = table.log_v[some] - (table.v[some] @ np.float64(machine.bias))  # −u(v) and the weight of the grid
    grid = grid - machine.visible.log_measure(v, [tf.zeros_like(machine.bias), *machine.visible_natural[1:]])
    exact = table.log_unnormalized[some] - grid
    np.testing.assert_allclose(machine.unnormalized_log_prob(v), exact, rtol=1e-5, atol=1e-5)
    h = table.given_v[some] @ table.h
    np.testing.assert_allclose(machine.hidden.mean(*machine.hidden_law(v)), h, rtol=1e-5, atol=1e-5)
    # log p(h given v) is −E(v, h) less log p*(v)
    drawn = machine.hidden.drawn(random.as_seed(1), len(v), *machine.hidden_law(v))
    difference = -machine.energy(v, drawn) - machine.unnormalized_log_prob(v)
    np.testing.assert_allclose(machine.hidden.log_prob(drawn, *machine.hidden_law(v)), difference, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(machine.energy(v, drawn), machine.transposed().energy(drawn, v), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("visible", "hidden"), PAIRS)
def test_a_gibbs_step_keeps_the_law_and_moves(visible, hidden):
    """20,000 exact draws and what they become in a step."""
    machine = tiny_machine(visible, hidden)
    table = Table(machine)
    start = ds.boltzmann.exact_draws(machine, COUNT, seed=1)
    assert_law(start, table)
    moved = machine.gibbs(tf.constant(start), 1, random.as_seed(2)).numpy()
    assert_law(moved, table)
    assert np.mean((moved != start).any(1)) > 0.1


@pytest.mark.parametrize(("visible", "hidden"), mostly_slow(PAIRS))
def test_log_z_from_both_sides(visible, hidden):
    """400 runs of 15 steps from a base fitted to rows, each way: within six of its standard errors, at most 0.4 in sum.

    What a hidden unit is worth without a field, left out of log Z_0, would show: log 2 or more."""
    rbm = tiny_rbm(visible, hidden)
    exact = ds.boltzmann.exact_log_partition(rbm)
    rows = ds.boltzmann.exact_draws(rbm, 200, 0)
    both = ds.boltzmann.sandwich(rbm, 400, schedule=np.linspace(0, 1, 16), base=rows, seed=3)
    for bound in both:
        assert abs(bound.value - exact) < 6 * bound.standard_error < 0.4
        assert bound.effective_sample_size > 50
    assert both.upper.starts == "exact"
    plain = log_partition(rbm, 400, schedule=np.linspace(0, 1, 16), seed=4)
    assert abs(plain.value - exact) < 6 * plain.standard_error < 0.8


@pytest.mark.compiled
@pytest.mark.parametrize(("visible", "hidden"), mostly_slow(DISCRETE, QUICK[:1]))
def test_the_contract_of_paths_from_independent_units(visible, hidden):
    machine = tiny_machine(visible, hidden, scale=1.0)
    table = Table(machine)
    base = [tf.constant(np.random.default_rng(0).normal(0, 0.7, table.v.shape[1]), tf.float32)]
    run_path_test(lambda runs: BaseRatePath(machine, base, runs), tf.constant(table.v, tf.float32), table.log_z)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("visible", "hidden", "other"), [
    ("spin", "gaussian", "binary"), ("categorical", "spin", "categorical"), ("binary", "learnt gaussian", "spin"),
])  # fmt: skip
def test_the_contract_of_paths_between_machines(visible, hidden, other):
    first, second = tiny_machine(visible, hidden, 1), tiny_machine(visible, other, 2, scale=1.0)
    start, end = Table(first), Table(second)
    ends = tf.constant(np.cumsum(start.law)[:-1])

    def draws(runs):
        def of(seed):
            found = tf.searchsorted(ends, random.uniform([runs], seed, tf.float64), side="right")
            return tf.gather(tf.constant(start.v, tf.float32), found)

        return of

    log_ratio = end.log_z - start.log_z + log_without_field(first) - log_without_field(second)
    states = tf.constant(start.v, tf.float32)
    run_path_test(lambda runs: MachinePath(first, second, runs, draws(runs)), states, log_ratio)


def log_without_field(machine):
    """Γ(0) of the hidden units."""
    table = Table(machine)
    return log_sum(table.log_h - table.h @ np.float64(machine.hidden_bias))


@pytest.mark.parametrize(("visible", "hidden", "other"), [
    ("gaussian", "binary", "categorical"), ("spin", "spin", "gaussian"), ("learnt gaussian", "spin", "learnt gaussian"),
])  # fmt: skip
def test_ratios_of_machines_with_other_hidden_units(visible, hidden, other):
    """What hidden units of either kind are worth without a field stands in the constant."""
    a, b = tiny_rbm(visible, hidden, 1), tiny_rbm(visible, other, 2)
    found = log_partition_ratio(a, b, 400, schedule=np.linspace(0, 1, 16))
    exact = ds.boltzmann.exact_log_partition(b) - ds.boltzmann.exact_log_partition(a)
    assert abs(found.value - exact) < 6 * found.standard_error < 0.8


@pytest.mark.parametrize(("visible", "hidden"), mostly_slow(PAIRS, QUICK[1::2]))
def test_many_steps_give_the_gradient_of_the_likelihood(visible, hidden):
    """CD-30 of 20,000 chains from rows of another law, within 5.5 standard errors; by differences, that the exact
    gradient is that of the mean log p(v)."""
    machine = tiny_machine(visible, hidden)
    table = Table(machine)
    rows = ds.boltzmann.exact_draws(tiny_machine(visible, hidden, seed=9), 50, seed=1)
    chosen = Rows(table, rows)
    x = tf.constant(np.tile(rows, (COUNT // 50, 1)))
    estimator = ContrastiveDivergence(30).of(ds.Prior({"": None}), kind=type(machine))
    found, *_ = estimator.gradient(list(machine), x, 1.0, (), None, tf.constant([1, 2]))
    statistics = table.statistics()
    mean = table.law @ statistics
    deviation = np.sqrt(table.law @ statistics**2 - mean**2)
    assert_near(flat(found), chosen.mean_statistics(machine) - mean, deviation / np.sqrt(COUNT))
    # the last weight of each part, moved a little either way
    exact = [chosen.slope(machine, number) for number in range(len(machine))]
    last = np.cumsum([np.size(part) for part in found]) - 1
    np.testing.assert_allclose((chosen.mean_statistics(machine) - mean)[last], exact, rtol=1e-4, atol=1e-4)


class Rows:
    """Rows of data beside the table of a machine."""

    def __init__(self, table, rows):
        self.table, self.rows = table, np.float64(rows)

    def mean_statistics(self, machine):
        """The mean of E[s(v, h) given v], by the table's hidden states at the rows."""
        return self._at(machine).statistics().mean(0)

    def slope(self, machine, number, step=1e-3):
        """Of the mean log p(v) in the last entry of a weight, by a difference."""
        ends = []
        for sign in (-1.0, 1.0):
            part = np.array(machine[number], np.float64)
            part.reshape(-1)[-1] += sign * step
            moved = machine._make([part if i == number else np.float64(each) for i, each in enumerate(machine)])
            ends.append(self._at(moved).log_unnormalized.mean() - Table(moved).log_z)
        return (ends[1] - ends[0]) / (2 * step)

    def _at(self, machine):
        """The machine's table with the rows in place of all visible states."""
        table = Table(machine)
        table.v = self.rows
        natural = [np.float64(part) for part in machine.visible.natural(*machine.visible_weights)]
        table.log_v = table.v @ natural[0] - (table.v**2 @ natural[1] / 2 if natural[1:] else 0.0)
        table.log_joint = table.v @ table.kernel @ table.h.T + table.log_v[:, None] + table.log_h
        table.log_unnormalized = log_sum(table.log_joint, 1)
        return table


@pytest.mark.compiled
@pytest.mark.parametrize("persistent", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(("visible", "hidden"), mostly_slow(PAIRS, QUICK[2:3]))
def test_the_contract_of_estimators(visible, hidden, persistent):
    machine = tiny_machine(visible, hidden)
    x = tf.constant(ds.boltzmann.exact_draws(machine, 10, seed=1))
    estimator = ContrastiveDivergence(2, persistent, num_particles=6).of(ds.Prior({"": None}), kind=type(machine))
    run_estimator_test(estimator, list(machine), x)


def missing(visible):
    """Which entries are missing, in whole groups."""
    return {"categorical": [True] * 3 + [False] * 2, "binary": [True, False, True]}.get(visible, [True, False])


@pytest.mark.parametrize(("visible", "hidden"), mostly_slow(PAIRS, QUICK[:1] + QUICK[2:3]))
def test_samples_and_imputations_have_the_law(visible, hidden):
    """Ends of 25 steps, of all units and of the missing ones given the others."""
    rbm = tiny_rbm(visible, hidden)
    table = Table(rbm.machine)
    assert_law(rbm.sample(COUNT, seed=1, steps=25), table)
    means = rbm.sample(COUNT, seed=1, steps=25, probabilities=True)
    assert_means(means, *table.moments(lambda v: v))
    gaps = np.array(missing(visible))
    seen = table.v[np.argmax(table.law + 1e-9 * np.arange(len(table.law)))]
    x = np.where(gaps, np.nan, seen)[None].astype(np.float32)
    found = rbm.impute(x, num_imputations=COUNT, seed=2, steps=25)[:, 0]
    assert (found[:, ~gaps] == x[0, ~gaps]).all()
    agree = np.isclose(table.v[:, ~gaps], seen[~gaps]).all(1)
    law = np.where(agree, table.law, 0.0) / table.law[agree].sum()
    if table.visible.values(len(gaps)) is None:
        assert_means(products(found[:, gaps]), *table.moments(lambda v: products(v[:, gaps]), law))
    else:
        assert_law(found, table, law, agree)
    masked = rbm.impute(np.where(gaps, 7.0, seen)[None], ~gaps, 3, 2, 2)
    np.testing.assert_array_equal(masked, rbm.impute(x, None, 3, 2, 2))


@pytest.mark.parametrize("name", KINDS)
def test_layers_of_some_size(name):
    """Where more than a handful of states are enumerated: in two halves, as in one table."""
    kind = KINDS[name][0]
    hidden = ds.boltzmann.units.Categorical([4, 2, 3, 2, 5])
    width = 16 if name != "categorical" else 5
    rng = np.random.default_rng(1)
    kernel, bias, hidden_bias = (rng.normal(0, 0.4, shape) for shape in ((width, 16), width, 16))
    rbm = ds.boltzmann.rbm_from_arrays(kernel, bias, hidden_bias, kind, hidden)
    h = np.array(np.meshgrid(*[np.arange(size) for size in hidden.groups], indexing="ij")).reshape(5, -1).T
    h = np.concatenate([np.eye(size)[column] for size, column in zip(hidden.groups, h.T)], 1).astype(np.float32)
    machine = rbm.machine
    exact = log_sum(np.float64(machine.transposed().unnormalized_log_prob(tf.constant(h))))
    assert ds.boltzmann.exact_log_partition(rbm) == pytest.approx(exact, rel=1e-5)
