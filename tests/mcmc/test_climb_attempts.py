"""A climb that turns within a few looks begins anew, slower; one that does not, or whose looks are noise, goes on."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import mcmc
from tfdsmcmc.mcmc import climb_attempts
from tfdsmcmc.mcmc.events import Planned, Validated

pytestmark = pytest.mark.filterwarnings("ignore:A WarmStart without updates")  # plans are told here

STATE = [tf.constant([3.0, -2.0]), tf.constant([[0.5]])]
U = 10  # steps of an epoch
SEED = tf.constant([1, 2])


def gradient(*parts, seed):
    return [-part for part in parts]


def begun(steps=2000, **arguments):
    kernel = mcmc.WarmStart(gradient, mcmc.SGHMC(learning_rate=0.1), noise_tolerance=None, **arguments)
    results = kernel.told(Planned(steps, U), kernel.bootstrap_results(STATE), STATE)
    return kernel, tf.function(kernel.one_step, autograph=False), results


def looked(kernel, move, state, results, looks):
    """After an epoch for each look; there is no noise, so that seeds do not matter."""
    for value in looks:
        for _ in range(U):
            state, results = move(state, results, seed=SEED)
        results = kernel.told(Validated(tf.constant(value, tf.float32), U), results, state)
    return state, results


RISES_AND_TURNS = [-30.0, -20.0, -10.0, -10.5, -11.0, -12.0, -13.0, -14.0]  # the best after 30 steps, 50 more


def test_the_next_attempt_is_a_new_climb_at_a_quarter_of_the_rate():
    kernel, move, results = begun()
    state, results = looked(kernel, move, STATE, results, RISES_AND_TURNS[:-1])
    assert int(results.attempt.ends) == 0 and float(results.gentle) == 1.0
    state, results = looked(kernel, move, state, results, RISES_AND_TURNS[-1:])
    assert int(results.attempt.ends) == 81 and float(results.gentle) == 0.25 and int(results.begins) == 1000
    assert np.any(state[0] != STATE[0])
    state, results = move(state, results, seed=SEED)
    _, fresh, new = begun(1838)  # as many steps as are left
    new = new._replace(gentle=tf.constant(0.25))
    assert int(new.begins) == int(results.begins) - 81
    mine = STATE
    for _ in range(25):
        for part, want in zip(state, mine, strict=True):
            np.testing.assert_array_equal(part, want)
        state, results = move(state, results, seed=SEED)
        mine, new = fresh(mine, new, seed=SEED)
    assert float(results.best) == -10.0 and int(results.best_step) == 30  # of all attempts


def test_attempts_end_where_a_slower_one_is_not_better():
    """θ is the best of all then."""
    kernel, move, results = begun()
    state, results = looked(kernel, move, STATE, results, RISES_AND_TURNS[:3])
    best = [part.numpy() for part in state]
    state, results = looked(kernel, move, state, results, RISES_AND_TURNS[3:])
    state, results = looked(kernel, move, state, results, [-30.0, -10.2, -11.0, -12.0, -13.0, -14.0])
    assert int(results.begins) == 1000
    state, results = looked(kernel, move, state, results, [-14.0])
    assert int(results.begins) == int(results.step) + 1 == 151
    state, results = move(state, results, seed=SEED)
    assert kernel.samples(results)
    for part, want in zip(state, best, strict=True):
        np.testing.assert_array_equal(part, want)


@pytest.mark.parametrize(
    ("looks", "steps"),
    [
        ([-30.0, -20.0, -10.0, *[-10.4] * 30], 2000),  # falls by less than half a nat
        ([-30.0, -10.0, *[-10.6] * 30], 2000),  # by less than a tenth of the rise
        ([*np.linspace(-50.0, -10.0, 21), *[-30.0] * 25], 2000),  # the best is after twenty epochs
        ([-30.0, np.nan, *[-20.0] * 20], 2000),
    ],
)
def test_others_go_on(looks, steps):
    kernel, move, results = begun(steps, patience=10**6)
    _, results = looked(kernel, move, STATE, results, looks)
    assert int(results.begins) == steps // 2 and float(results.gentle) == 1.0 and int(results.attempt.begun) == 0


def test_without_room_for_a_slower_one_sampling_begins():
    kernel, move, results = begun(270)
    _, results = looked(kernel, move, STATE, results, RISES_AND_TURNS)
    assert int(results.begins) == 81 and float(results.gentle) == 1.0


def test_patience_counts_anew():
    """The best of all is of an attempt before: 150 steps without another end no attempt that has made 100."""
    kernel, move, results = begun(patience=120)
    state, results = looked(kernel, move, STATE, results, RISES_AND_TURNS)
    _, results = looked(kernel, move, state, results, [-30.0 + epoch for epoch in range(12)])
    assert int(results.step) - int(results.best_step) > 120 and int(results.begins) == 1000


@pytest.mark.parametrize("epoch_steps", [60, 100, 600])
def test_patience_ends_no_coarse_attempt_that_falls(epoch_steps):
    """The best after nineteen epochs, whose steps are more than patience waits."""
    kernel = mcmc.WarmStart(gradient, mcmc.SGHMC(learning_rate=0.1), noise_tolerance=None)
    results = kernel.told(Planned(10**6, epoch_steps), kernel.bootstrap_results(STATE), STATE)
    for epoch in range(1, 39):
        value = -60.0 + epoch if epoch < 20 else -41.0 - 3 * (epoch - 19)
        at = results._replace(step=tf.constant(epoch * epoch_steps))
        results = kernel.told(Validated(tf.constant(value), epoch_steps), at, STATE)
    assert int(results.begins) == 500_000 and float(results.gentle) == 0.25


@pytest.mark.parametrize("epoch_steps", [41, 100, 600])
def test_patience_waits_for_a_slower_attempt_that_rises(epoch_steps):
    """It takes four times the epochs to the first attempt's best, which is longer ago than patience waits."""
    kernel = mcmc.WarmStart(gradient, mcmc.SGHMC(learning_rate=0.1), noise_tolerance=None)
    results = kernel.told(Planned(600 * epoch_steps, epoch_steps), kernel.bootstrap_results(STATE), STATE)
    for epoch in range(1, 300):
        begun = 0 if epoch < 25 else 24
        passed = epoch if epoch <= 12 else (epoch - begun) / 4
        value = -100.0 - 3 * (epoch - 12) if 12 < epoch < 25 else -150.0 + 50 * (1 - np.exp(-passed / 6))
        at = results._replace(step=tf.constant(epoch * epoch_steps))
        results = kernel.told(Validated(tf.constant(value, tf.float32), epoch_steps), at, STATE)
    assert float(results.gentle) == 0.25 and int(results.begins) == 300 * epoch_steps
    assert int(results.best_step) == 299 * epoch_steps


def test_an_optimizer_with_a_rate_of_its_own_makes_one_attempt():
    kernel, move, results = begun(optimizer="adam")
    assert results.attempt == ()
    _, results = looked(kernel, move, STATE, results, RISES_AND_TURNS)
    assert int(results.begins) == 1000


def test_chains_make_attempts_of_their_own():
    parts = climb_attempts.first_attempt(STATE)
    both = tf.nest.map_structure(lambda part: tf.stack([part, part]), parts)
    both = both._replace(best=tf.constant([-1.0, -2.0]), best_step=tf.constant([10, 30]), first=tf.fill([2], -9.0))
    value, step = tf.constant(-8.0), tf.constant([60, 60])
    _, given_up = climb_attempts.turning(both, value, step, U)
    np.testing.assert_array_equal(given_up, [True, False])
    following = climb_attempts.next_attempt(both, given_up, step)
    np.testing.assert_array_equal(following.begun, [61, 0])
    np.testing.assert_array_equal(following.best_step, [0, 30])
    np.testing.assert_array_equal(following.before, [-1.0, tf.float32.min])
