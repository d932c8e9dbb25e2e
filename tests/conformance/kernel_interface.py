"""Checks of what a transition kernel is: a kernel of `tfp.mcmc` for states of any structure, with a configuration."""

from __future__ import annotations

import collections
import inspect
import itertools
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

from tests.conformance.kernel_states import assert_close, assert_equal, gradient, some_state
from tfdsmcmc import mcmc


def check_tfp_contract(make, rate_kwargs):
    kernel = make(gradient)
    assert isinstance(kernel, tfp.mcmc.TransitionKernel)
    assert kernel.is_calibrated is False
    assert {"gradient_fn", "temperature", "name", *rate_kwargs(0.05)} <= set(kernel.parameters)
    for key, value in kernel.parameters.items():
        assert getattr(kernel, key, value) is value

    other = kernel.copy(**rate_kwargs(0.5))
    assert type(other) is type(kernel)
    np.testing.assert_allclose([other.learning_rate, kernel.learning_rate], [0.5, 0.05], rtol=1e-7)
    rate = {name: kernel.parameters[name] for name in rate_kwargs(0.05)}
    assert {**other.parameters, **rate} == kernel.parameters

    results = kernel.bootstrap_results(some_state())
    assert int(results.step) == 0 and int(results.skipped_steps) == 0
    state, new_results = kernel.one_step(some_state(), results, seed=3)
    assert int(new_results.step) == 1 and int(new_results.skipped_steps) == 0
    tf.nest.assert_same_structure(new_results, results)
    for new, old in zip(tf.nest.flatten(new_results), tf.nest.flatten(results)):
        assert new.dtype == old.dtype and new.shape == old.shape
    assert all(not np.allclose(new, old) for new, old in zip(state, some_state())), "the kernel does not move"


def check_sample_chain(make):
    kernel = make(lambda x, seed: -x)

    def sample():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "supplied `TransitionKernel` is not calibrated")
            return tfp.mcmc.sample_chain(
                6,
                current_state=some_state()[0],
                kernel=kernel,
                num_burnin_steps=2,
                trace_fn=lambda state, results: (results.step, state),
                seed=tf.constant([1, 2]),
            )

    for run in (sample, tf.function(sample, jit_compile=True, autograph=False)):
        chain, (steps, traced) = run()
        assert chain.shape == (6, 1, 3)
        np.testing.assert_array_equal(steps, np.arange(3, 9))
        np.testing.assert_array_equal(traced, chain)
        assert len(np.unique(chain[:, 0, 0])) == 6, "the chain does not move"


Pair = collections.namedtuple("Pair", ["weights", "bias"])


def check_state_structures(make):
    """A list or tuple is spread over the arguments, anything else is one argument; what comes back looks alike."""
    a, b = np.array([0.5, -1.0]), np.array([[2.0]])
    states = [
        (a, 1),
        ([a, b], 2),
        ((a, b), 2),
        (Pair(a, b), 2),
        ({"b": b, "a": a}, 1),
        ({"layer": {"w": a, "b": b}, "top": [a]}, 1),
    ]
    for (state, arguments), dtype in zip(states, itertools.cycle((tf.float32, tf.float64))):
        state = tf.nest.map_structure(lambda part: tf.constant(part, dtype), state)  # noqa: B023

        def nested(*parts, seed, expected=arguments):
            assert len(parts) == expected
            parts = parts if expected > 1 else parts[0]
            return tf.nest.map_structure(lambda part: -part, parts)

        kernel = make(nested)
        results = kernel.bootstrap_results(state, seed=1)
        new_state, new_results = kernel.one_step(state, results, seed=2)
        tf.nest.assert_same_structure(new_state, state)
        tf.nest.assert_same_structure(new_results, results)
        moments = [new_results.momentum] if hasattr(new_results, "momentum") else []
        for tree in [new_state, *moments]:
            tf.nest.assert_same_structure(tree, state)
            for new, old in zip(tf.nest.flatten(tree), tf.nest.flatten(state)):
                assert new.dtype == dtype and new.shape == old.shape
                assert np.isfinite(new).all() and not np.allclose(new, old)

        # the same parts in another structure move alike
        flat = make(lambda *parts, seed: [-part for part in parts])
        parts = tf.nest.flatten(state)
        flat_state, _ = flat.one_step(parts, flat.bootstrap_results(parts, seed=1), seed=2)
        assert_equal(flat_state, tf.nest.flatten(new_state))


def check_jit(make):
    """Jitted and eager agree to rounding, for parts of both types in one state."""
    kernel, state = make(gradient), [some_state(tf.float32)[0], some_state(tf.float64)[1]]
    results = kernel.bootstrap_results(state, seed=1)
    compiled = tf.function(kernel.one_step, jit_compile=True, autograph=False)
    eager = kernel.one_step(state, results, seed=tf.constant([3, 4]))
    assert_close(compiled(state, results, seed=tf.constant([3, 4])), eager, 2e-5)
    assert [part.dtype for part in eager[0]] == [tf.float32, tf.float64]


def check_config(make):
    """`serialize_keras_object` and back: the same class, the same parameters, the same chain."""
    rates = [0.07, keras.optimizers.schedules.CosineDecay(0.1, 5), mcmc.Cyclical(0.1, cycle_steps=3)]
    for rate in rates:
        kernel = make(gradient, rate, name="another")
        kernel = kernel.copy(temperature=0.5 * kernel.temperature)
        config = keras.saving.serialize_keras_object(kernel)
        assert "gradient_fn" not in config["config"]
        copy = keras.saving.deserialize_keras_object(config)
        assert type(copy) is type(kernel) and copy.name == "another" and copy.gradient_fn is None
        assert copy.get_config() == kernel.get_config() == type(kernel).from_config(kernel.get_config()).get_config()
        copy = copy.copy(gradient_fn=gradient)
        results = kernel.bootstrap_results(some_state())
        assert_equal(copy.bootstrap_results(some_state()), results)
        results = results._replace(step=tf.constant(2))
        assert_equal(copy.one_step(some_state(), results, seed=1), kernel.one_step(some_state(), results, seed=1))


def check_errors(make, draws):
    parameters = set(make().parameters)
    defaults = inspect.signature(type(make())).parameters
    wrong = {
        "gradient_fn": [3, "gradient"],
        "learning_rate": [0.0, -0.1, np.nan, np.inf, "fast", None, True],
        "temperature": [-1.0, np.nan, np.inf, "hot", None, True, *([] if draws else [1.0, tf.constant(1.0)])],
        "friction": [0.0, -0.1, np.nan, "rough", None],
        "thermostat": ["global", None],
        "thermostat_mass": [0.0, -1.0, np.nan, "heavy", None],
        "integrator": ["leapfrog", None],
        "decay": [-0.1, 1.1, np.nan, "slow", None, tf.constant(1.1)],
        "epsilon": [0.0, -1.0, np.nan, "small", None],
        "gradient_noise": [-1.0, np.nan, np.inf, "guess", True],
        "noise_decay": [-0.1, 1.0, np.nan, "slow", None, tf.constant(1.0)],
        "optimizer": ["none such", 3, None, keras.optimizers.schedules.CosineDecay(0.1, 5)],
    }
    for name, values in wrong.items():
        for value in values if name in parameters else []:
            if value is None and defaults[name].default is None:
                continue
            with pytest.raises(ValueError, match=rf"(?s){name}.*Received: {name}=.+"):
                make(**{name: value})

    state = some_state()
    results = make().bootstrap_results(state)
    with pytest.raises(ValueError, match=r"gradient_fn.*Received: gradient_fn=None"):
        make().one_step(state, results, seed=1)
    with pytest.raises(ValueError, match="Received: .*int32"):
        make().bootstrap_results([tf.constant([1, 2])])
    wrong_gradients = [
        lambda *parts, seed: [parts[0]],
        lambda *parts, seed: [parts[0], parts[1], parts[1]],
        lambda *parts, seed: [parts[0], parts[1][:1]],
        lambda *parts, seed: [parts[0][0], parts[1]],
        lambda *parts, seed: [parts[1], parts[0]],
    ]
    for gradient_fn in wrong_gradients:
        with pytest.raises(ValueError, match=r"gradient_fn must return .*Received: .+"):
            make(gradient_fn).one_step(state, results, seed=1)
