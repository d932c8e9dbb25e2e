"""What every path for annealing must honour: `run_path_test` checks it in one call, where states can be enumerated."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.chance import assert_frequencies, assert_means
from tests.oracles import log_sum
from tfdsmcmc import random
from tfdsmcmc.annealing import Path, forward, log_normaliser, reverse, target_chain
from tfdsmcmc.annealing.pilot import adaptive, pilot

BETAS = np.array([0.0, 0.3, 0.6, 1.0], np.float32)
RUNS = 2**13


def run_path_test(make, states, log_mean=None):
    """Runs every check of the contract; false failures at most 1e-6 for each assertion of chance.

    Args:
      make: function (num_runs) → path of that many runs of one row, with discrete states.
      states: all S states, a nest of tensors (S, …).
      log_mean: log E w, from elsewhere, to confirm what the path's own densities say; None where they are all there is.
    """
    count = len(tf.nest.flatten(states)[0])
    path = make(count)
    assert isinstance(path, Path) and (path.num_runs, path.num_rows) == (count, 1)
    tables = [_of_each_state(path.log_density(tf.constant(beta), states), count) for beta in BETAS]
    log_start = _of_each_state(path.log_start(states), count)

    # densities telescope
    ups = [path.increment(tf.constant(a), tf.constant(b), states) for a, b in zip(BETAS, BETAS[1:])]
    np.testing.assert_allclose(np.sum(ups, 0), tables[-1] - tables[0], rtol=1e-4, atol=1e-4)
    for up, before, after in zip(ups, tables, tables[1:]):
        np.testing.assert_allclose(_of_each_state(up, count), after - before, rtol=1e-4, atol=1e-4)

    # the first draw has the law g = f_0 / exp(log_start), up to its own normaliser
    path = make(RUNS)
    first = path.start(random.as_seed(1))
    tf.nest.assert_same_structure(first, states)
    log_g = tables[0] - log_start
    assert_frequencies(np.bincount(_numbers(first, states), minlength=count), _law(log_g))
    truth = log_sum(tables[-1]) - log_sum(log_g)
    if log_mean is not None:
        np.testing.assert_allclose(truth, log_mean, rtol=1e-4, atol=1e-4)

    # a transition leaves f_β as it is, and moves; at each β of its own
    for t, beta in enumerate(BETAS):
        drawn = _draws(tables[t], states, seed=t)
        moved, acceptance = path.move(tf.constant(beta), drawn, random.as_seed(t))
        tf.nest.assert_same_structure(moved, states)
        assert acceptance is None or np.all((np.asarray(acceptance) >= 0) & (np.asarray(acceptance) <= 1))
        numbers = _numbers(moved, states)
        assert_frequencies(np.bincount(numbers, minlength=count), _law(tables[t]))
        assert np.mean(numbers != _numbers(drawn, states)) > 0.05
    # and no other: what leaves f_0 as it is does not leave f_1
    assert np.abs(_law(tables[0]) - _law(tables[-1])).max() > 0.02, "the densities are too much alike to be told apart"
    kept = target_chain(path, _draws(tables[-1], states, seed=9), 2, 2, random.as_seed(2))
    for one in (0, 1):
        chosen = _numbers(tf.nest.map_structure(lambda part, one=one: part[one], kept), states)
        assert_frequencies(np.bincount(chosen, minlength=count), _law(tables[-1]))

    # E w and E w', and the bounds from both sides
    seed = random.as_seed(3)
    log_w = forward(path, tf.constant(BETAS), seed).numpy()
    log_v = reverse(path, _draws(tables[-1], states, seed=4), tf.constant(BETAS), seed).numpy()
    assert log_w.shape == log_v.shape == (RUNS,) and log_w.dtype == log_v.dtype == np.float64
    for relative in (np.exp(log_w - truth), np.exp(log_v + truth)):
        assert relative.max() < 0.02 * RUNS, "too few steps for a mean of weights to be tested"
        assert relative.std() > 1e-3, "the path is too easy: any transition would do"
        assert_means(relative, 1.0)
    margin = 5 * np.hypot(log_w.std(), log_v.std()) / np.sqrt(RUNS)
    assert log_w.mean() - margin < truth < margin - log_v.mean()
    estimate = log_normaliser(log_w)
    assert abs(estimate.value - truth) < 5.5 * estimate.standard_error

    # a seed decides the runs; jitted as op by op
    few = make(2**6)
    plain = forward(few, tf.constant(BETAS), seed)
    jitted = tf.function(lambda seed: forward(few, tf.constant(BETAS), seed), jit_compile=True, autograph=False)
    np.testing.assert_allclose(jitted(seed), plain, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(forward(few, tf.constant(BETAS), seed), plain)
    assert np.any(forward(few, tf.constant(BETAS), random.as_seed(4)) != plain)

    # a pilot finds a schedule
    program = tf.function(lambda betas, fraction, seed: pilot(few, betas, fraction, seed), autograph=False)

    def run(betas, fraction, seed):
        return [part.numpy() for part in program(tf.constant(betas), tf.constant(fraction), seed)]

    betas, _ = adaptive(run, 30, 0.9, random.as_seed(5))
    assert betas[0] == 0 and betas[-1] == 1 and np.all(np.diff(betas) > 0)


def _of_each_state(values, count):
    values = np.asarray(values, np.float64)
    assert values.shape == (count,) and np.isfinite(values).all()
    return values


def _law(log_f):
    return np.exp(log_f - log_sum(log_f))


def _draws(log_f, states, seed):
    """RUNS exact draws of a table, in the structure of the states."""
    chosen = np.random.default_rng(seed).choice(len(log_f), RUNS, p=_law(log_f))
    return tf.nest.map_structure(lambda part: tf.gather(part, chosen), states)


def _numbers(state, states):
    """The place of each run's state among all states, (n,)."""
    table, rows = (
        np.concatenate([np.reshape(part, [len(part), -1]) for part in tf.nest.flatten(nest)], 1)
        for nest in (states, state)
    )
    places = {tuple(row): number for number, row in enumerate(table)}
    return np.array([places[tuple(row)] for row in rows])
