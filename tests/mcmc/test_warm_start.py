"""A warm start: bit for bit the optimizer before the step at which sampling begins, and the kernel from it on."""

import json
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.kernels import run_kernel_test
from tests.mcmc.chains import gaussian
from tfdsmcmc import mcmc
from tfdsmcmc.mcmc.events import ClimbEnds, Planned, Validated
from tfdsmcmc.mcmc.warm_start_results import NEVER

pytestmark = pytest.mark.filterwarnings("ignore:A WarmStart without updates")  # plans are told here

STATE = [tf.constant([3.0, -2.0]), tf.constant([[0.5]])]


def gradient(*parts, seed):
    return [-part for part in parts]


def make(gradient_fn=gradient, **arguments):
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.7)  # another at each step of the kernel's own
    kernel = mcmc.SGHMC(learning_rate=rate, gradient_noise="estimate")
    return mcmc.WarmStart(gradient_fn, kernel, keras.optimizers.Adam(0.1), **{"noise_tolerance": None, **arguments})


@pytest.mark.parametrize("updates", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_conformance(updates):
    def arguments(rate):
        return {"kernel": mcmc.SGNHT(learning_rate=rate), "optimizer": keras.optimizers.SGD(rate)}

    run_kernel_test(mcmc.WarmStart, {"updates": updates}, None, arguments, climbs=updates > 0)


@pytest.mark.parametrize("jitted", [False, True])
def test_it_is_the_optimizer_and_then_the_kernel(jitted):
    """The kernel finds the momentum of its own bootstrap, and counts its steps from 0."""
    warm, climber = make(updates=3), mcmc.MAP(gradient, keras.optimizers.Adam(0.1))
    sampler = warm.kernel.copy(gradient_fn=gradient)
    step = tf.function(warm.one_step, jit_compile=jitted, autograph=False)
    state, results = STATE, warm.bootstrap_results(STATE, seed=7)
    mine, climb, own = STATE, climber.bootstrap_results(STATE), sampler.bootstrap_results(STATE, seed=7)
    for number in range(7):
        assert bool(warm.samples(results)) == (number >= 3) and bool(warm.sampled(results)) == (number > 3)
        state, results = step(state, results, seed=tf.constant([1, number]))
        if number < 3:
            mine, climb = climber.one_step(mine, climb, seed=tf.constant([1, number]))
            assert float(warm.kinetic_temperature(results)) == 1.0
        else:
            mine, own = sampler.one_step(mine, own, seed=tf.constant([1, number]))
            np.testing.assert_allclose(warm.kinetic_temperature(results), sampler.kinetic_temperature(own), rtol=1e-5)
        for part, want in zip(state, mine):
            np.testing.assert_allclose(part, want, rtol=0 if not jitted else 1e-5, atol=0 if not jitted else 1e-6)
    assert int(results.step) == 7 and int(results.sampler.step) == 4 and int(results.climb.step) == 3


def test_half_of_what_is_planned_and_no_more_than_validation_wants():
    kernel = make(patience=100)
    results = kernel.bootstrap_results(STATE)
    assert int(results.begins) == NEVER and not kernel.samples(results)
    results = kernel.told(Planned(1001), results, STATE)
    assert int(results.begins) == 500
    assert int(kernel.told(Planned(501), results, STATE).begins) == 500  # a later fit changes nothing
    interrupted = results._replace(step=tf.constant(3))
    assert int(kernel.told(Planned(10), interrupted, STATE).begins) == 8  # but where the climb would not end in it
    sampling = results._replace(step=tf.constant(500))
    assert int(kernel.told(Planned(10), sampling, STATE).begins) == 500
    for fraction, begins in ((0.8, 800), (0.001, 1), (0.0001, 0)):
        other = make(fraction=fraction)
        assert int(other.told(Planned(1001), other.bootstrap_results(STATE), STATE).begins) == begins
    looks = [(10, -5.0, 500), (60, -4.0, 500), (150, -4.5, 500), (160, -4.1, 161), (300, -3.0, 161)]
    for step, value, begins in looks:  # the step after the last look goes back to the best state
        state = [part + step for part in STATE]
        results = kernel.told(Validated(tf.constant(value)), results._replace(step=tf.constant(step)), state)
        assert int(results.begins) == begins, step
    np.testing.assert_array_equal(results.best_state[0], STATE[0] + 60)
    bad = kernel.told(Validated(tf.constant(np.inf)), results, STATE)
    assert float(bad.best) == float(results.best) == -4.0  # later values do not count
    assert int(kernel.told(ClimbEnds(), results, STATE).begins) == 161  # what has begun goes on
    fixed = make(updates=20)
    early = fixed.bootstrap_results(STATE)._replace(step=tf.constant(7))
    ended = fixed.told(ClimbEnds(), early, STATE)
    assert int(ended.begins) == 7 and fixed.samples(ended)
    results = fixed.told(Planned(1000), fixed.bootstrap_results(STATE), STATE)
    assert int(fixed.told(Validated(tf.constant(-1.0)), results._replace(step=tf.constant(9)), STATE).begins) == 20


@pytest.mark.parametrize(("fraction", "planned", "looks", "begins"), [
    (0.5, 200, range(1, 21), 101),  # ten epochs of ten, and one step that goes back
    (0.5, 190, range(1, 20), 91),
    (0.5, 190, range(5, 20, 5), 51),
    (0.5, 190, [2, 3, 17], 31),
    (0.5, 190, [10], 95),  # no look in it
    (0.5, 190, (), 95),
    (0.29, 100, (), 29),  # 0.29 · 100 < 29 in floating point
    (0.999999999, 20, [1, 2], 11),  # the step after the second look would be none of the plan's
    (0.999999999, 20, (), 19),
])  # fmt: skip
def test_the_climb_ends_with_a_look(fraction, planned, looks, begins):
    kernel = make(fraction=fraction)
    told = kernel.told(Planned(planned, 10, 100, looks), kernel.bootstrap_results(STATE), STATE)
    assert int(told.begins) == begins
    later = kernel.bootstrap_results(STATE)._replace(step=tf.constant(7))
    assert int(kernel.told(Planned(planned, 10, 100, looks), later, STATE).begins) == 7 + begins


@pytest.mark.parametrize(("best_step", "planned", "looks", "begins"), [
    (0, 190, range(1, 20), 211),  # half of the later fit, rounded: 91 steps more
    (110, 190, range(1, 20), 211),
    (110, 190, (), 121),  # what would follow the best state would be lost
    (110, 190, [11], 121),
    (0, 190, (), 215),
    (110, 10, [1], 121),
    (0, 400, range(1, 41), 321),  # the climb ends in it: the first plan holds, but for its last look
    (0, 400, range(3, 41, 3), 301),
    (0, 198, range(1, 21), 311),  # not later than the fit ends
    (0, 400, (), 316),
    (110, 400, (), 121),
])  # fmt: skip
def test_a_later_fit_rounds_what_is_left_of_the_climb(best_step, planned, looks, begins):
    """The first, of 632 steps without a look, was interrupted after 120; the same plan again changes nothing."""
    kernel = make()
    told = kernel.told(Planned(632, 10, 100), kernel.bootstrap_results(STATE), STATE)
    assert int(told.begins) == 316
    told = told._replace(step=tf.constant(120), best_step=tf.constant(best_step))
    for _ in range(3):
        told = kernel.told(Planned(planned, 10, 100, looks), told, STATE)
        assert int(told.begins) == begins and told.begins.shape == () and told.begins.dtype == tf.int32
    chains = told._replace(**{name: tf.fill([2], getattr(told, name)) for name in ("step", "begins", "best_step")})
    again = kernel.told(Planned(planned, 10, 100, looks), chains, STATE)
    np.testing.assert_array_equal(again.begins, [begins, begins])


@pytest.mark.parametrize(("ended", "planned", "patience", "last"), [
    ("as planned", 10, 100, 5), ("by patience", 100, 2, 5), ("by a call", 100, 100, 4),
])  # fmt: skip
def test_the_climb_ends_at_its_best_state(ended, planned, patience, last):
    """That after the second step, wherever the last one would have led."""
    kernel = make(patience=patience)
    state, results = STATE, kernel.told(Planned(planned), kernel.bootstrap_results(STATE), STATE)
    visited = [state]
    for step in range(1, last + 1):
        state, results = kernel.one_step(state, results, seed=[0, step])
        results = kernel.told(Validated(tf.constant(-1.0 if step == 2 else -2.0)), results, state)
        if ended == "by a call" and step == 3:
            results = kernel.told(ClimbEnds(), results, STATE)
        visited.append(state)
    assert int(results.begins) == int(results.step) == last and bool(kernel.samples(results))
    for part, best, before in zip(state, visited[2], visited[-2]):
        np.testing.assert_array_equal(part, best)
        assert np.any(part != before)


def test_a_program_of_one_phase_makes_the_same_steps():
    """Bit for bit: in the climb, where it goes back to its best state, and while it samples."""
    kernel = make(noise_tolerance=0.1)
    state, results = STATE, kernel.told(Planned(10), kernel.bootstrap_results(STATE, seed=1), STATE)
    for step in range(1, 9):
        samples = bool(kernel.samples(results))
        assert samples == (step > 5)
        moves = [one.one_step(state, results, seed=[0, step]) for one in (kernel, kernel.known(samples))]
        for part, same in zip(*map(tf.nest.flatten, moves), strict=True):
            np.testing.assert_array_equal(part, same)
        state, results = moves[0]
        results = kernel.told(Validated(tf.constant(-1.0 if step == 2 else -2.0)), results, state)
    other, _ = kernel.known(False).one_step(state, results, seed=[0, 9])
    assert np.any(other[0] != kernel.one_step(state, results, seed=[0, 9])[0][0])


def test_a_climb_whose_last_step_is_left_out_ends_at_its_best_state():
    steps = []

    def not_finite_in_the_fifth_step(*parts, seed):
        steps.append(seed)
        return [-part * (np.nan if len(steps) == 5 else 1.0) for part in parts]

    kernel = make(not_finite_in_the_fifth_step)
    visited, results = [STATE], kernel.told(Planned(10), kernel.bootstrap_results(STATE), STATE)
    for step in range(1, 6):
        state, results = kernel.one_step(visited[-1], results, seed=[0, step])
        results = kernel.told(Validated(tf.constant(-1.0 if step == 2 else -2.0)), results, state)
        visited.append(state)
    assert int(results.skipped_steps) == 1 and bool(kernel.samples(results))
    for part, best in zip(visited[5], visited[2]):
        np.testing.assert_array_equal(part, best)


def test_in_the_long_run_the_law_is_the_kernels():
    """From 50 standard deviations away; the variance of 16,384 chains is the kernel's own, within 5 standard errors."""
    target = gaussian(np.array([1.0]))
    sampler = mcmc.SGHMC(learning_rate=0.2, friction=0.3)
    warm = mcmc.WarmStart(target, sampler, keras.optimizers.Adam(0.5), updates=200)
    start = tf.fill([16384, 1], 50.0)

    @tf.function(jit_compile=True)
    def run():
        def body(i, state, results):
            return i + 1, *warm.one_step(state, results, seed=tf.stack([3, i]))

        return tf.while_loop(lambda i, *_: i < 300, body, (0, start, warm.bootstrap_results(start, seed=1)))[1]

    theta = run().numpy()
    assert abs(theta.var() - 1.0) < 5 * np.sqrt(2 / 16384) and abs(theta.mean()) < 5 / np.sqrt(16384)


def test_the_temperature_is_that_of_the_kernel():
    kernel = make(fraction=0.3, noise_tolerance=0.2).copy(temperature=0.25)
    assert kernel.temperature == kernel.kernel.temperature == 0.25
    twin = mcmc.WarmStart.from_config(json.loads(json.dumps(kernel.get_config())))
    assert twin.kernel.get_config() == kernel.kernel.get_config()
    assert (twin.patience, twin.fraction, twin.noise_tolerance) == (kernel.patience, 0.3, 0.2)
    assert twin.optimizer.get_config() == kernel.optimizer.get_config()
    earlier = {name: value for name, value in kernel.get_config().items() if name != "noise_tolerance"}
    assert mcmc.WarmStart.from_config(json.loads(json.dumps(earlier))).noise_tolerance is None


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"kernel": "sgnht"}, "kernel"),
        ({"kernel": None}, "kernel"),
        ({"kernel": mcmc.MAP()}, "kernel"),
        ({"kernel": mcmc.SGLD(lambda x, seed: x)}, "gradient_fn"),
        ({"updates": -1}, "updates"),
        ({"updates": 1.5}, "updates"),
        ({"updates": 2**31 - 1}, "updates"),  # the number that stands for no end
        ({"updates": 2**31}, "updates"),
        ({"patience": 0}, "patience"),
        ({"patience": 2**31}, "patience"),
        ({"optimizer": 3}, "optimizer"),
        ({"fraction": 0.0}, "fraction"),
        ({"fraction": 1}, "fraction"),
        ({"fraction": "half"}, "fraction"),
        ({"noise_tolerance": 0.0}, "noise_tolerance"),
        ({"noise_tolerance": tf.constant(0.1)}, "noise_tolerance"),
        ({"noise_tolerance": "none"}, "noise_tolerance"),
    ],
)
def test_bad_arguments(arguments, name):
    with pytest.raises(ValueError, match=f"Received: .*{name}"):
        mcmc.WarmStart(**{"kernel": mcmc.SGLD(), **arguments})


def test_one_that_runs_by_itself_without_an_end_is_told_of():
    """Its optimizer's steps are no draws; with `updates`, or within a `fit`, which has a plan, there is no word."""
    with pytest.warns(UserWarning, match="climbs until a plan tells how long"):
        mcmc.WarmStart(gradient, mcmc.SGLD()).bootstrap_results(STATE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcmc.WarmStart(gradient, mcmc.SGLD(), updates=3).bootstrap_results(STATE)
        mcmc.WarmStart(None, mcmc.SGLD()).bootstrap_results(STATE)
