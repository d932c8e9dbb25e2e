"""The rule of a climb by its plan: its rate against a formula, its patience in updates and in epochs."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import mcmc
from tfdsmcmc.mcmc.events import Planned, Validated
from tfdsmcmc.mcmc.schedules import RiseAndFall

pytestmark = pytest.mark.filterwarnings("ignore:A WarmStart without updates")  # plans are told here

STATE = [tf.constant([3.0, -2.0]), tf.constant([[0.5]])]


def gradient(*parts, seed):
    return [-part * tf.cos(3.0 * part) for part in parts]


def warm_start(optimizer=None, **arguments):
    return mcmc.WarmStart(gradient, mcmc.SGHMC(), optimizer, **{"noise_tolerance": None, **arguments})


def rate_of(step, planned, peak, offset, rise, rising):
    """ℓ₀ min(1, (t + 1)/w) (1 − t/H)/(1 + t/b), w = min(r, sH)."""
    risen = min(1.0, (step + 1) / max(1.0, min(rise, rising * planned)))
    return peak * risen * max(0.0, 1.0 - step / planned) / (1.0 + step / offset)


@pytest.mark.parametrize("planned", [1, 4, 37, 1000, 2**31 - 1])
def test_the_rate_of_a_planned_climb(planned):
    arguments = (0.2, 30.0, 20, 0.25)
    schedule = RiseAndFall(*arguments)
    for step in (0, 1, 5, 9, 19, 20, 36, 999, 5000):
        endless = rate_of(step, np.inf, *arguments)
        np.testing.assert_allclose(schedule(step), endless, rtol=1e-5)
        found = schedule(step) * schedule.share(tf.constant(step), tf.constant(planned))
        np.testing.assert_allclose(found, rate_of(step, planned, *arguments), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("jitted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_climb_with_time_for_many_epochs_is_slower(jitted):
    """By the root of sixty epochs over those that are planned, where there are more than ten weights a row; else as
    fast as ever. Of H = 6,000 steps, 60 epochs of u = 1: ε = 0.1; with N rows of 3 weights 10N/3 where that is more."""
    given = warm_start(keras.optimizers.Adam(RiseAndFall(30.0)), updates=6000)
    planned = given.told(Planned(100_000, 1, 0.003), given.bootstrap_results(STATE), STATE)
    np.testing.assert_allclose(planned.gentle, 0.1)  # by its own updates, and once
    np.testing.assert_allclose(given.told(Planned(9, 9, 9), planned._replace(step=tf.constant(3)), STATE).gentle, 0.1)
    cases = {(1, None): 1.0, (None, 9): 1.0, (1, 0.003): 0.1, (1, 0.09): 0.3, (1, 9): 1.0, (100, 0.003): 1.0}
    fast = _first_move(Planned(12_000), jitted)
    for (epoch_steps, num_rows), want in cases.items():
        slow = _first_move(Planned(12_000, epoch_steps, num_rows), jitted)
        for one, other in zip(slow, fast, strict=True):
            np.testing.assert_allclose(one, want * other, rtol=2e-3)


def test_a_later_plan_has_a_speed_of_its_own():
    """ε goes with H; of a later attempt it stays, as it has the factor of attempts in it."""
    kernel = warm_start()
    long, short = Planned(20_000, 1, 0.003), Planned(1000, 1, 0.003)
    first = kernel.told(long, kernel.bootstrap_results(STATE), STATE)
    later = kernel.told(short, first._replace(step=tf.constant(500)), STATE)
    assert int(first.begins) == 10_000 and int(later.begins) == 1000
    np.testing.assert_allclose([first.gentle, later.gentle], [np.sqrt(60 / 10_000), np.sqrt(60 / 1000)], rtol=1e-6)
    attempt = first.attempt._replace(begun=tf.constant(400))
    again = kernel.told(short, first._replace(step=tf.constant(500), attempt=attempt), STATE)
    assert int(again.begins) == 1000 and float(again.gentle) == float(first.gentle)


def _first_move(plan, jitted):
    kernel = warm_start(keras.optimizers.Adam(RiseAndFall(30.0)))
    results = kernel.told(plan, kernel.bootstrap_results(STATE), STATE)
    step = tf.function(kernel.one_step, jit_compile=jitted, autograph=False)
    moved = step(STATE, results, seed=tf.constant([0, 1]))[0]
    return [(part - start).numpy() for part, start in zip(moved, STATE)]


@pytest.mark.parametrize("jitted", [False, True])
def test_a_climb_is_adam_at_that_rate(jitted):
    """Against Keras' Adam, told its rate anew before each step."""
    arguments, planned = (0.2, 30.0, 20, 0.25), 9
    kernel = warm_start(keras.optimizers.Adam(RiseAndFall(*arguments)), fraction=0.5)
    state, results = STATE, kernel.told(Planned(2 * planned), kernel.bootstrap_results(STATE), STATE)
    variables, adam = [keras.Variable(part) for part in STATE], keras.optimizers.Adam(0.1)
    step = tf.function(kernel.one_step, jit_compile=jitted, autograph=False)
    for number in range(planned):
        state, results = step(state, results, seed=tf.constant([0, number]))
        adam.learning_rate = rate_of(number, planned, *arguments)
        adam.apply([-g for g in gradient(*[v.value for v in variables], seed=None)], variables)
        for part, variable in zip(state, variables):
            np.testing.assert_allclose(part, variable.numpy(), rtol=1e-4, atol=1e-6)
    assert bool(kernel.samples(results))


def test_an_optimizer_that_is_given_keeps_its_rate():
    """Whatever the plan, bit for bit."""
    ends = []
    for planned in (12, 24):
        kernel = warm_start(keras.optimizers.Adam(0.1))
        state, results = STATE, kernel.told(Planned(planned), kernel.bootstrap_results(STATE), STATE)
        for number in range(6):
            state, results = kernel.one_step(state, results, seed=[0, number])
        ends.append(state)
    for part, other in zip(*ends, strict=True):
        np.testing.assert_array_equal(part, other)


@pytest.mark.parametrize("planned", [4, 300, 4000, 2**31 - 1])
def test_draws_of_latent_variables_warm_up(planned):
    """β rises over w updates, or over a tenth of the climb; where θ is sampled it is 1, and without a plan it is w."""
    kernel, by_itself = warm_start(), mcmc.MAP(gradient, keras.optimizers.Adam(0.1))
    results, own = kernel.bootstrap_results(STATE), by_itself.bootstrap_results(STATE)
    results = results._replace(begins=tf.constant(planned))
    for step in (0, 1, 3, 24, 49, 50, 51, 3999):
        at = {"step": tf.constant(step)}
        want = min(1.0, step / min(50.0, max(1.0, planned / 10)))
        climbing = results._replace(climb=results.climb._replace(**at), **at)
        for one in (kernel, kernel.known(False)) if step < planned else (kernel.known(False),):
            np.testing.assert_allclose(one.latent_power(climbing, 50), want, rtol=1e-6)
        np.testing.assert_allclose(by_itself.latent_power(own._replace(**at), 50), min(1.0, step / 50), rtol=1e-6)
        assert kernel.known(True).latent_power(climbing, 50) == 1.0
        assert kernel.kernel.latent_power(climbing.sampler, 50) == 1.0
    sampling = results._replace(step=tf.constant(planned))
    assert float(kernel.latent_power(sampling, 50)) == 1.0


def test_an_attempt_warms_up_anew():
    """Over a tenth of what is left of the plan: of 100 − 60 steps 4."""
    kernel = warm_start()
    results = kernel.told(Planned(200), kernel.bootstrap_results(STATE), STATE)
    results = results._replace(attempt=results.attempt._replace(begun=tf.constant(60)), step=tf.constant(61))
    results = results._replace(climb=results.climb._replace(step=tf.constant(1)))
    np.testing.assert_allclose(kernel.latent_power(results, 50), 0.25)


def test_the_rate_of_an_attempt_is_that_of_what_is_left_of_the_plan():
    """The first step of 40 that are left of 100 is that of a climb of 40, bit for bit, and not that of 100."""
    kernel = warm_start(keras.optimizers.Adam(RiseAndFall(30.0)))
    moves = {}
    for steps in (100, 40):
        results = kernel.told(Planned(2 * steps), kernel.bootstrap_results(STATE), STATE)
        if steps == 100:
            later = results._replace(attempt=results.attempt._replace(begun=tf.constant(60)), step=tf.constant(60))
            moves["attempt"] = kernel.one_step(STATE, later, seed=[0, 1])[0]
        moves[steps] = kernel.one_step(STATE, results, seed=[0, 1])[0]
    for part, want, other in zip(moves["attempt"], moves[40], moves[100], strict=True):
        np.testing.assert_array_equal(part, want)
        assert np.all(np.asarray(part) != np.asarray(other))


def test_patience_in_updates_and_in_epochs():
    """The median of 5 epochs, 1,000 updates and 50 epochs; a number that is given is of updates."""
    for epoch_steps in (1, 4, 19, 20, 21, 199, 200, 201, 500):
        want = sorted([5 * epoch_steps, 1000, 50 * epoch_steps])[1]
        assert warm_start().patience_of(epoch_steps) == want
        assert warm_start(patience=7).patience_of(epoch_steps) == 7
    assert warm_start().patience_of() == 1000


@pytest.mark.parametrize("epoch_steps", [4, 500, None])
def test_the_climb_ends_when_patience_does(epoch_steps):
    """No step earlier and no step later than that after the best look."""
    kernel = warm_start()
    results = kernel.told(Planned(10**6), kernel.bootstrap_results(STATE), STATE)
    patience = kernel.patience_of(epoch_steps)

    def look(results, step, value):
        arguments = () if epoch_steps is None else (epoch_steps,)
        return kernel.told(Validated(tf.constant(value), *arguments), results._replace(step=tf.constant(step)), STATE)

    results = look(results, 40, -1.0)
    for step, ended in ((41, False), (39 + patience, False), (40 + patience, True)):
        begins = int(look(results, step, -1.3).begins)
        assert begins == (step + 1 if ended else 500_000)  # one step more goes back to the best state


def test_configurations():
    """A default comes back as one, and what an earlier version saved keeps its patience and its rate."""
    kernel = warm_start()
    twin = mcmc.WarmStart.from_config(json.loads(json.dumps(kernel.get_config())))
    assert twin.patience == "auto" and twin.optimizer.get_config() == kernel.optimizer.get_config()
    rate = mcmc.PolynomialDecay(0.03, offset=2000, power=1.0, warmup_steps=2000)
    earlier = warm_start(keras.optimizers.Adam(rate), patience=1000).get_config()
    old = mcmc.WarmStart.from_config(json.loads(json.dumps(earlier)))
    assert old.patience_of(4) == 1000
    assert old.optimizer.get_config()["learning_rate"]["config"] == rate.get_config()


@pytest.mark.parametrize("wrong", ["none", 0, 1.5, None])
def test_bad_patience(wrong):
    with pytest.raises(ValueError, match="Received: patience="):
        warm_start(patience=wrong)


@pytest.mark.parametrize("place", range(4))
def test_bad_rates(place):
    arguments = [0.03, 2000.0, 2000, 0.2]
    arguments[place] = -1
    with pytest.raises(ValueError, match="Received: "):
        RiseAndFall(*arguments)
