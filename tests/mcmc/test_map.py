"""MAP against the Keras optimizer that it wraps, and as a value. Nothing here is random."""

import gc

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import mcmc

MAKERS = {
    "sgd": lambda: keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
    "adam": lambda: keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 3, 0.5), amsgrad=True),
    "nadam": lambda: keras.optimizers.Nadam(0.05, clipnorm=0.7),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.02, momentum=0.4, centered=True, weight_decay=0.01),
}


def start():
    """A matrix and a vector, and between them an empty part."""
    return [tf.constant([[0.3, -1.2, 2.0]]), tf.zeros([0, 3]), tf.constant([0.7, -0.4], tf.float64)]


def gradient(*parts, seed=None):
    return [tf.cast([1.0, -3.0, 0.5][: part.shape[-1]], part.dtype) - part**3 for part in parts]


def run(kernel, state, results, steps):
    for step in range(steps):
        state, results = kernel.one_step(state, results, seed=step)
    return state, results


def assert_equal(actual, expected, rtol=0.0):
    tf.nest.assert_same_structure(actual, expected)
    for x, y in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", MAKERS)
def test_steps_are_those_of_keras(name):
    """Bit for bit, state of the optimizer included: catches a descent, a lost slot, a step count that is off by one."""
    kernel = mcmc.MAP(gradient, MAKERS[name]())
    state, results = run(kernel, start(), kernel.bootstrap_results(start()), 9)

    optimizer = MAKERS[name]()
    variables = [keras.Variable(part, dtype=part.dtype.name) for part in start() if part.shape[0]]
    for _ in range(9):
        optimizer.apply([-g for g in gradient(*[v.value for v in variables])], variables)
    assert_equal([state[0], state[2]], [v.value for v in variables])
    assert_equal(results.optimizer_variables, [v.value for v in optimizer.variables])
    assert state[1].shape == (0, 3) and [part.dtype for part in state] == [part.dtype for part in start()]


def test_climbs_to_the_mode():
    """The mode of −θ⁴/4 + bθ is the cube root of b."""
    kernel = mcmc.MAP(gradient, keras.optimizers.SGD(0.05))
    state, _ = run(kernel, start(), kernel.bootstrap_results(start()), 300)
    np.testing.assert_allclose(state[0], np.cbrt([[1.0, -3.0, 0.5]]), rtol=1e-5)
    np.testing.assert_allclose(state[2], np.cbrt([1.0, -3.0]), rtol=1e-5)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_a_step_is_a_pure_function(name):
    """Whatever the optimizer did in between, the same arguments give the same; a saved chain resumes bit for bit."""
    kernel = mcmc.MAP(gradient, MAKERS[name]())
    fresh = kernel.bootstrap_results(start())
    middle = run(kernel, start(), fresh, 4)
    saved = tf.nest.map_structure(np.array, middle)
    end = run(kernel, *middle, 5)
    assert_equal(kernel.bootstrap_results(start()), fresh)
    assert_equal(run(kernel, start(), fresh, 4), middle)

    # from a file, by a kernel that has never been used
    state, results = tf.nest.map_structure(tf.constant, saved)
    resumed = mcmc.MAP(gradient, MAKERS[name]())
    assert_equal(run(resumed, state, results, 5), end)


def test_compiled_loop_equals_eager_steps():
    """With copies made inside, as a training loop does, and results that are made inside too."""
    optimizer = MAKERS["adam"]()
    kernel = mcmc.MAP(None, optimizer)

    @tf.function(jit_compile=True, autograph=False)
    def loop(state, steps, rows):
        def body(i, state, results):
            copy = kernel.copy(temperature=kernel.temperature / rows)
            assert copy.optimizer is optimizer
            state, results, _ = copy.integrate(lambda *parts, seed: (gradient(*parts), ()), state, results, 0)
            return i + 1, state, results

        results = kernel.bootstrap_results(state)
        return tf.while_loop(lambda i, *_: i < steps, body, (tf.constant(0), state, results))[1:]

    eager = mcmc.MAP(gradient, MAKERS["adam"]())
    expected = run(eager, start(), eager.bootstrap_results(start()), 7)
    for _ in range(2):
        assert_equal(loop(start(), tf.constant(7), tf.constant(50.0)), expected, rtol=1e-5)


def test_kernels_do_not_share_an_optimizer_that_is_named():
    assert mcmc.MAP(gradient).optimizer is not mcmc.MAP(gradient).optimizer


def test_learning_rate():
    assert mcmc.MAP(optimizer=keras.optimizers.SGD(0.25)).learning_rate == 0.25
    scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.25))
    assert mcmc.MAP(optimizer=scaled).learning_rate == 0.25
    schedule = mcmc.MAP(optimizer=keras.optimizers.SGD(mcmc.Cyclical(0.25, 4))).learning_rate
    assert isinstance(schedule, mcmc.Cyclical) and schedule.cycle_steps == 4


def test_an_optimizer_that_does_not_fit():
    kernel = mcmc.MAP(gradient, "sgd")
    results = kernel.bootstrap_results(start())
    for other in (start()[:1], start()[::-1], [tf.cast(part, tf.float64) for part in start()]):
        with pytest.raises(ValueError, match=r"optimizer serves a state of .* alone\. Received: "):
            kernel.bootstrap_results(other)
        with pytest.raises(ValueError, match=r"optimizer serves a state of .* alone\. Received: "):
            kernel.one_step(other, results, seed=0)
    with pytest.raises(ValueError, match=r"results must be of an equal optimizer.*Received: 2 variables"):
        mcmc.MAP(gradient, "adam").one_step(start(), results, seed=0)

    used = keras.optimizers.SGD(0.1)
    used.build([keras.Variable([1.0])])
    with pytest.raises(ValueError, match=r"optimizer must be new.*Received: .*built before"):
        mcmc.MAP(gradient, used).bootstrap_results(start())

    unknown = tf.function(mcmc.MAP(gradient).bootstrap_results, input_signature=[tf.TensorSpec([None, 3])])
    with pytest.raises(ValueError, match=r"shapes of the state must be known\. Received: "):
        unknown(tf.zeros([2, 3]))


def test_the_workspace_goes_with_the_optimizer():
    from tfdsmcmc.mcmc import map as module

    before = len(module._WORKSPACES)
    kernel = mcmc.MAP(gradient, "adam")
    kernel.bootstrap_results(start())
    assert len(module._WORKSPACES) == before + 1
    del kernel
    gc.collect()
    assert len(module._WORKSPACES) <= before
