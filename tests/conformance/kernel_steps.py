"""Checks of what a step of a transition kernel does: seeds, noise, rates, and numbers that are not finite."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tests.conformance.kernel_states import assert_close, assert_equal, gradient, some_state
from tfdsmcmc import mcmc, random


def check_seeds(make, draws):
    kernel, state = make(gradient), some_state()

    def step(bootstrap_seed, seed):
        return kernel.one_step(state, kernel.bootstrap_results(state, seed=bootstrap_seed), seed=seed)

    first = step(5, 7)
    assert_equal(step(5, 7), first)
    assert_equal(step(tf.constant([5, 0]), np.array([7, 0], np.int32)), first)
    for other in (step(5, 8)[0], step(5, tf.constant([7, 1]))[0]):
        assert all(np.all((x != y) == draws) for x, y in zip(other, first[0])), "draws are not as the seeds"
    assert_equal(kernel.bootstrap_results(state), kernel.bootstrap_results(state, seed=0))
    momenta = [getattr(kernel.bootstrap_results(state, seed=seed), "momentum", None) for seed in (1, 2)]
    if momenta[0] is not None:
        assert all(np.all(x != y) for x, y in zip(*momenta)), "the initial momentum ignores the seed"


def check_gradient_call(make):
    """gradient_fn gets a stateless seed of its own each step, and `integrate` hands on what it returns besides."""
    seen = []

    def gradient_with_aux(*parts, seed):
        seen.append(random.as_seed(seed).numpy())
        return gradient(*parts, seed=seed), {"draws": tf.constant([1.0, 2.0])}

    kernel, state = make(), some_state()
    results = kernel.bootstrap_results(state)
    for seed in (3, 4, 3):
        new_state, new_results, aux = kernel.integrate(gradient_with_aux, state, results, seed)
    np.testing.assert_array_equal(aux["draws"], [1.0, 2.0])
    assert all(s.shape == (2,) and s.dtype == np.int32 for s in seen)
    np.testing.assert_array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1]) and not np.array_equal(seen[0], [3, 0])
    assert_equal((new_state, new_results), make(gradient).one_step(state, results, seed=3))


def check_noise_is_fresh(make):
    """The draws of the gradient, of the parts and of two steps are uncorrelated: catches a seed used twice.

    A correlation of n = 10⁵ draws is N(0, 1/n); that one of the 45 passes 6 standard errors has probability 9·10⁻⁸.
    """
    n = 100_000
    drawn = []

    def noisy(*parts, seed):
        # straight from the seed and from its split, as the kernels draw for their parts
        for part_seed in (seed, *tf.unstack(random.split(seed))):
            drawn.append(random.normal([n], part_seed).numpy())
        return [tf.zeros_like(part) for part in parts]

    kernel, state = make(noisy), [tf.zeros([n]), tf.zeros([n])]
    results = kernel.bootstrap_results(state, seed=8)
    if hasattr(results, "momentum"):
        results = results._replace(momentum=[tf.zeros([n])] * 2)
    elif hasattr(results, "sampler"):
        results = results._replace(sampler=results.sampler._replace(momentum=[tf.zeros([n])] * 2))
    for seed in (9, 10):
        drawn.extend(part.numpy() for part in kernel.one_step(state, results, seed=seed)[0])
    correlation = np.corrcoef(np.stack(drawn)) - np.eye(len(drawn))
    assert np.abs(correlation).max() < 6 / np.sqrt(n)


def check_zero_temperature(make, heavy_ball):
    """At T = 0 no seed matters, and where it is one, the chain is Keras' gradient ascent with momentum."""
    kernel = make(gradient, temperature=0.0)
    chains = []
    for seed in (0, 100):
        state, results = some_state(), kernel.bootstrap_results(some_state(), seed=seed)
        for _ in range(8):
            seed += 1
            state, results = kernel.one_step(state, results, seed=seed)
        chains.append((state, results))
    assert_equal(*chains)
    assert all(np.isfinite(leaf).all() for leaf in tf.nest.flatten(chains[0]))
    if heavy_ball is None:
        return

    rate, momentum = heavy_ball(kernel.learning_rate)
    optimizer = keras.optimizers.SGD(rate, momentum=momentum)
    variables = [keras.Variable(part) for part in some_state()]
    for _ in range(8):
        ascent = gradient(*[v.value for v in variables], seed=None)
        optimizer.apply([-g for g in ascent], variables)
    assert_close(chains[0][0], [v.value for v in variables], 1e-5)


def check_whole_rates(make):
    """A rate of 1 is one of 1.0, and keeps the noise."""
    found = []
    for rate in (1.0, 1, np.int64(1), tf.constant(1)):
        kernel, state = make(gradient, rate, temperature=0.01), some_state()
        results = kernel.bootstrap_results(state, seed=0)
        for number in range(3):
            state, results = kernel.one_step(state, results, seed=number)
        found.append(tf.nest.flatten(state))
    for others in found[1:]:
        for part, want in zip(others, found[0], strict=True):
            np.testing.assert_array_equal(part, want)


def check_schedules(make):
    """A step of a kernel with a schedule is the step of a kernel with the number that it gives for that step."""
    schedules = [
        keras.optimizers.schedules.PiecewiseConstantDecay([0, 1], [0.2, 0.1, 0.05]),
        mcmc.PolynomialDecay(0.1, offset=2.0, power=0.6),
        mcmc.Cyclical(0.1, cycle_steps=2),
    ]
    for schedule in schedules:
        kernel, state = make(gradient, schedule), some_state()
        results = kernel.bootstrap_results(state, seed=0)
        assert_close(results, make(gradient, float(schedule(0))).bootstrap_results(state, seed=0), 1e-6)
        for step in range(3):
            number = make(gradient, float(schedule(step)))
            expected = number.one_step(state, results, seed=step)
            state, results = kernel.one_step(state, results, seed=step)
            assert_close((state, results), expected, 1e-5)


def check_gradients_that_are_not_finite(make):
    """One bad entry of one part: nothing moves, the step is counted, and the next one goes on."""
    for bad in (np.nan, np.inf, -np.inf):
        kernel, state = make(gradient), some_state()
        state, results = kernel.one_step(state, kernel.bootstrap_results(state), seed=1)

        def broken(*parts, seed, bad=bad):
            good, last = gradient(*parts, seed=seed)
            return [good, tf.concat([last[:-1], [bad]], 0)]

        stopped, skipped = make(broken).one_step(state, results, seed=2)
        assert int(skipped.step) == 2 and int(skipped.skipped_steps) == 1
        counts = {"step": results.step, "skipped_steps": results.skipped_steps}
        assert_equal((stopped, skipped._replace(**counts)), (state, results))

        resumed = kernel.one_step(stopped, skipped, seed=3)
        assert int(resumed[1].step) == 3 and int(resumed[1].skipped_steps) == 1
        counts = {"step": skipped.step, "skipped_steps": skipped.skipped_steps}  # a kernel may have a clock of its own
        assert_equal(resumed[0], kernel.one_step(state, results._replace(**counts), seed=3)[0])


def check_overflow(make):
    """A finite gradient at which the next state, or what goes with it, is not finite."""
    huge = tf.constant([3.4e38, 3.4e38])
    kernel = make(lambda x, seed: x)
    results = kernel.bootstrap_results(huge)
    stopped, skipped = kernel.one_step(huge, results, seed=2)
    assert int(skipped.step) == 1 and int(skipped.skipped_steps) == 1
    counts = {"step": results.step, "skipped_steps": results.skipped_steps}
    assert_equal((stopped, skipped._replace(**counts)), (huge, results))


def check_empty_parts(make):
    """A part of shape (0, 3), the weights of a layer on parents of width 0, changes nothing for the others."""
    kernel, state = make(gradient), [tf.zeros([0, 3]), *some_state()]
    results = kernel.bootstrap_results(state)
    for step in range(2):
        state, results = kernel.one_step(state, results, seed=step)
    assert state[0].shape == (0, 3)
    assert all(np.isfinite(leaf).all() for leaf in tf.nest.flatten((state, results)))

    alone = [tf.zeros([0, 3])]
    for kernel in (make(gradient), make(gradient, temperature=0.0)):
        state, results = kernel.one_step(alone, kernel.bootstrap_results(alone), seed=1)
        assert state[0].shape == (0, 3)
        assert all(np.isfinite(leaf).all() for leaf in tf.nest.flatten(results))
