"""What every transition kernel must honour: `run_kernel_test` checks it in one call."""

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

from tfdsmcmc import mcmc, random

Pair = collections.namedtuple("Pair", ["weights", "bias"])


def run_kernel_test(cls, init_kwargs=None, heavy_ball=None, rate_kwargs=None, draws=True, climbs=False):
    """Checks a stochastic-gradient kernel against the contract of `tfp.mcmc` and of this package.

    Args:
      cls: the kernel class.
      init_kwargs: its arguments besides gradient_fn, temperature and that which holds the learning rate.
      heavy_ball: None, or a function of ℓ that gives the (learning rate, momentum) of the `keras.optimizers.SGD`
        which the kernel equals at T = 0.
      rate_kwargs: None, where learning_rate takes a number or a schedule; or a function of either that gives the
        arguments which hold it.
      draws: whether the kernel draws noise; one that does not is at T = 0 always.
      climbs: whether it climbs without a draw for longer than the checks last, and draws later.

    The one statistical check, `_check_noise_is_fresh`, fails by chance with probability 9·10⁻⁸.
    """
    has_schedules = rate_kwargs is None
    rate_kwargs = rate_kwargs or (lambda rate: {"learning_rate": rate})

    def make(gradient_fn=None, rate=0.05, **overrides):
        temperature = {"temperature": 1.0 if draws else 0.0}
        return cls(gradient_fn, **{**rate_kwargs(rate), **temperature, **(init_kwargs or {}), **overrides})

    _check_tfp_contract(make, rate_kwargs)
    _check_sample_chain(make)
    _check_state_structures(make)
    _check_seeds(make, draws and not climbs)
    _check_jit(make)
    _check_gradient_call(make)
    _check_zero_temperature(make, heavy_ball)
    _check_gradients_that_are_not_finite(make)
    _check_overflow(make)
    _check_empty_parts(make)
    _check_config(make)
    _check_errors(make, draws)
    if draws and not climbs:
        _check_noise_is_fresh(make)
    if has_schedules:
        _check_schedules(make)
        _check_whole_rates(make)


def gradient(*parts, seed):
    """Gradient of an anharmonic log target, −Σ log cosh θ − θ²/2, for a state that is a list."""
    del seed
    return [-tf.tanh(part) - part for part in parts]


def _state(dtype=tf.float32):
    return [tf.constant([[0.3, -1.2, 2.0]], dtype), tf.constant([0.7, -0.4], dtype)]


def _check_tfp_contract(make, rate_kwargs):
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

    results = kernel.bootstrap_results(_state())
    assert int(results.step) == 0 and int(results.skipped_steps) == 0
    state, new_results = kernel.one_step(_state(), results, seed=3)
    assert int(new_results.step) == 1 and int(new_results.skipped_steps) == 0
    tf.nest.assert_same_structure(new_results, results)
    for new, old in zip(tf.nest.flatten(new_results), tf.nest.flatten(results)):
        assert new.dtype == old.dtype and new.shape == old.shape
    assert all(not np.allclose(new, old) for new, old in zip(state, _state())), "the kernel does not move"


def _check_sample_chain(make):
    kernel = make(lambda x, seed: -x)

    def sample():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "supplied `TransitionKernel` is not calibrated")
            return tfp.mcmc.sample_chain(
                6,
                current_state=_state()[0],
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


def _check_state_structures(make):
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
        _assert_equal(flat_state, tf.nest.flatten(new_state))


def _check_seeds(make, draws):
    kernel, state = make(gradient), _state()

    def step(bootstrap_seed, seed):
        return kernel.one_step(state, kernel.bootstrap_results(state, seed=bootstrap_seed), seed=seed)

    first = step(5, 7)
    _assert_equal(step(5, 7), first)
    _assert_equal(step(tf.constant([5, 0]), np.array([7, 0], np.int32)), first)
    for other in (step(5, 8)[0], step(5, tf.constant([7, 1]))[0]):
        assert all(np.all((x != y) == draws) for x, y in zip(other, first[0])), "draws are not as the seeds"
    _assert_equal(kernel.bootstrap_results(state), kernel.bootstrap_results(state, seed=0))
    momenta = [getattr(kernel.bootstrap_results(state, seed=seed), "momentum", None) for seed in (1, 2)]
    if momenta[0] is not None:
        assert all(np.all(x != y) for x, y in zip(*momenta)), "the initial momentum ignores the seed"


def _check_jit(make):
    """Jitted and eager agree to rounding, for parts of both types in one state."""
    kernel, state = make(gradient), [_state(tf.float32)[0], _state(tf.float64)[1]]
    results = kernel.bootstrap_results(state, seed=1)
    compiled = tf.function(kernel.one_step, jit_compile=True, autograph=False)
    eager = kernel.one_step(state, results, seed=tf.constant([3, 4]))
    _assert_close(compiled(state, results, seed=tf.constant([3, 4])), eager, 2e-5)
    assert [part.dtype for part in eager[0]] == [tf.float32, tf.float64]


def _check_gradient_call(make):
    """gradient_fn gets a stateless seed of its own each step, and `integrate` hands on what it returns besides."""
    seen = []

    def gradient_with_aux(*parts, seed):
        seen.append(random.as_seed(seed).numpy())
        return gradient(*parts, seed=seed), {"draws": tf.constant([1.0, 2.0])}

    kernel, state = make(), _state()
    results = kernel.bootstrap_results(state)
    for seed in (3, 4, 3):
        new_state, new_results, aux = kernel.integrate(gradient_with_aux, state, results, seed)
    np.testing.assert_array_equal(aux["draws"], [1.0, 2.0])
    assert all(s.shape == (2,) and s.dtype == np.int32 for s in seen)
    np.testing.assert_array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[1]) and not np.array_equal(seen[0], [3, 0])
    _assert_equal((new_state, new_results), make(gradient).one_step(state, results, seed=3))


def _check_noise_is_fresh(make):
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


def _check_zero_temperature(make, heavy_ball):
    """At T = 0 no seed matters, and where it is one, the chain is Keras' gradient ascent with momentum."""
    kernel = make(gradient, temperature=0.0)
    chains = []
    for seed in (0, 100):
        state, results = _state(), kernel.bootstrap_results(_state(), seed=seed)
        for _ in range(8):
            seed += 1
            state, results = kernel.one_step(state, results, seed=seed)
        chains.append((state, results))
    _assert_equal(*chains)
    assert all(np.isfinite(leaf).all() for leaf in tf.nest.flatten(chains[0]))
    if heavy_ball is None:
        return

    rate, momentum = heavy_ball(kernel.learning_rate)
    optimizer = keras.optimizers.SGD(rate, momentum=momentum)
    variables = [keras.Variable(part) for part in _state()]
    for _ in range(8):
        ascent = gradient(*[v.value for v in variables], seed=None)
        optimizer.apply([-g for g in ascent], variables)
    _assert_close(chains[0][0], [v.value for v in variables], 1e-5)


def _check_whole_rates(make):
    """A rate of 1 is one of 1.0, and keeps the noise."""
    found = []
    for rate in (1.0, 1, np.int64(1), tf.constant(1)):
        kernel, state = make(gradient, rate, temperature=0.01), _state()
        results = kernel.bootstrap_results(state, seed=0)
        for number in range(3):
            state, results = kernel.one_step(state, results, seed=number)
        found.append(tf.nest.flatten(state))
    for others in found[1:]:
        for part, want in zip(others, found[0], strict=True):
            np.testing.assert_array_equal(part, want)


def _check_schedules(make):
    """A step of a kernel with a schedule is the step of a kernel with the number that it gives for that step."""
    schedules = [
        keras.optimizers.schedules.PiecewiseConstantDecay([0, 1], [0.2, 0.1, 0.05]),
        mcmc.PolynomialDecay(0.1, offset=2.0, power=0.6),
        mcmc.Cyclical(0.1, cycle_steps=2),
    ]
    for schedule in schedules:
        kernel, state = make(gradient, schedule), _state()
        results = kernel.bootstrap_results(state, seed=0)
        _assert_close(results, make(gradient, float(schedule(0))).bootstrap_results(state, seed=0), 1e-6)
        for step in range(3):
            number = make(gradient, float(schedule(step)))
            expected = number.one_step(state, results, seed=step)
            state, results = kernel.one_step(state, results, seed=step)
            _assert_close((state, results), expected, 1e-5)


def _check_gradients_that_are_not_finite(make):
    """One bad entry of one part: nothing moves, the step is counted, and the next one goes on."""
    for bad in (np.nan, np.inf, -np.inf):
        kernel, state = make(gradient), _state()
        state, results = kernel.one_step(state, kernel.bootstrap_results(state), seed=1)

        def broken(*parts, seed, bad=bad):
            good, last = gradient(*parts, seed=seed)
            return [good, tf.concat([last[:-1], [bad]], 0)]

        stopped, skipped = make(broken).one_step(state, results, seed=2)
        assert int(skipped.step) == 2 and int(skipped.skipped_steps) == 1
        counts = {"step": results.step, "skipped_steps": results.skipped_steps}
        _assert_equal((stopped, skipped._replace(**counts)), (state, results))

        resumed = kernel.one_step(stopped, skipped, seed=3)
        assert int(resumed[1].step) == 3 and int(resumed[1].skipped_steps) == 1
        counts = {"step": skipped.step, "skipped_steps": skipped.skipped_steps}  # a kernel may have a clock of its own
        _assert_equal(resumed[0], kernel.one_step(state, results._replace(**counts), seed=3)[0])


def _check_overflow(make):
    """A finite gradient at which the next state, or what goes with it, is not finite."""
    huge = tf.constant([3.4e38, 3.4e38])
    kernel = make(lambda x, seed: x)
    results = kernel.bootstrap_results(huge)
    stopped, skipped = kernel.one_step(huge, results, seed=2)
    assert int(skipped.step) == 1 and int(skipped.skipped_steps) == 1
    counts = {"step": results.step, "skipped_steps": results.skipped_steps}
    _assert_equal((stopped, skipped._replace(**counts)), (huge, results))


def _check_empty_parts(make):
    """A part of shape (0, 3), the weights of a layer on parents of width 0, changes nothing for the others."""
    kernel, state = make(gradient), [tf.zeros([0, 3]), *_state()]
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


def _check_config(make):
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
        results = kernel.bootstrap_results(_state())
        _assert_equal(copy.bootstrap_results(_state()), results)
        results = results._replace(step=tf.constant(2))
        _assert_equal(copy.one_step(_state(), results, seed=1), kernel.one_step(_state(), results, seed=1))


def _check_errors(make, draws):
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

    state = _state()
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


def _assert_equal(actual, expected):
    tf.nest.assert_same_structure(actual, expected)
    for x, y in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_array_equal(x, y)


def _assert_close(actual, expected, rtol):
    tf.nest.assert_same_structure(actual, expected)
    for x, y in zip(tf.nest.flatten(actual), tf.nest.flatten(expected)):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)
