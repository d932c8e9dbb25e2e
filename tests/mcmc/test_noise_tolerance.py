"""How much noise of the gradient a kernel bears, and the learning rates that a warm start finds for it.

False failures: see tests.chance, 10⁻⁶ an assertion.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.mcmc import laws
from tests.mcmc.chains import gaussian, run
from tfdsmcmc import mcmc

KERNELS = {
    "sgld": mcmc.SGLD,
    "sghmc": mcmc.SGHMC,
    "sghmc estimate": lambda **arguments: mcmc.SGHMC(gradient_noise="estimate", **arguments),
    "sghmc euler": lambda **arguments: mcmc.SGHMC(integrator="euler", **arguments),
    "sgnht": mcmc.SGNHT,
    "sgnht euler": lambda **arguments: mcmc.SGNHT(integrator="euler", **arguments),
    "sgnht scalar": lambda **arguments: mcmc.SGNHT(thermostat="scalar", **arguments),
    "sgnht heavy": lambda **arguments: mcmc.SGNHT(thermostat_mass=1.0, **arguments),
}


def _variance(name, rate, friction, noise):
    """That of θ in the long run for log target −θ²/2."""
    integrator = "euler" if name.endswith("euler") else "splitting"
    law = (integrator, rate, 1.0, 1.0, friction, noise)
    if name.startswith("sgld"):
        return (2 * rate + (rate * noise) ** 2) / (1 - (1 - rate) ** 2)
    if name == "sghmc estimate":
        return laws.estimated_noise(20_000, 0.99, *law)[1][0, 0]
    if name.startswith("sgnht"):
        return laws.stationary_covariance(*law, laws.balanced_thermostat(*law))[0, 0]
    return laws.stationary_covariance(*law)[0, 0]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("friction", [0.05, 0.1, 0.3])
def test_noise_of_that_size_changes_the_variance_by_some_tenth_at_most(name, friction):
    """By the exact laws, at a small ℓλ."""
    rate = 1e-3
    kernel = KERNELS[name](learning_rate=rate, **({} if name == "sgld" else {"friction": friction}))
    noise = np.sqrt(2 * kernel.noise_tolerance / rate)
    change = _variance(name, rate, friction, noise) / _variance(name, rate, friction, 0.0) - 1
    assert abs(change) < (0.101 if friction < 0.3 else 0.115)
    if name in ("sgld", "sghmc", "sghmc euler"):
        assert change > 0.08
    if name == "sgnht" and friction == 0.1:
        assert round(100 * change) == -8  # as the documentation says


@pytest.mark.parametrize("friction", [2.0, 6.0, 20.0])
def test_a_strong_friction_bears_no_more_noise(friction):
    """Of the splitting: the variance of θ is a tenth too large, or right where the noise is made up for."""
    rate = 1e-3
    for name, change in (("sghmc", 0.1), ("sghmc estimate", 0.0), ("sgnht heavy", 0.1), ("sgnht scalar", 0.1)):
        noise = np.sqrt(2 * KERNELS[name](learning_rate=rate, friction=friction).noise_tolerance / rate)
        law = name.replace("sgnht heavy", "sghmc").replace("sgnht scalar", "sghmc")  # at ξ = a
        assert abs(_variance(law, rate, friction, noise) - 1 - change) < 0.005
        other = KERNELS[name](learning_rate=rate, friction=tf.constant(friction)).noise_tolerance
        np.testing.assert_allclose(other, rate * noise**2 / 2, rtol=1e-6)


def test_the_variance_of_a_thermostat_with_noise():
    """The balance and the variance of the documentation of SGNHT, against the Lyapunov equation at ℓλ = 10⁻⁵."""
    for tolerance, friction in [(0.1, 0.1), (0.5, 0.1), (0.5, 0.3), (0.7, 0.05)]:
        law = ("splitting", 1e-5, 1.0, 1.0, friction, np.sqrt(2 * tolerance / 1e-5))
        xi = laws.balanced_thermostat(*law)
        np.testing.assert_allclose(tolerance / np.tanh(xi), 1 - friction / xi, rtol=1e-3)
        variance = laws.stationary_covariance(*law, xi)[0, 0]
        np.testing.assert_allclose(variance, 1 - 0.5 * tolerance * np.tanh(xi / 2), rtol=1e-3)


def test_a_kernel_of_which_nothing_is_known():
    assert mcmc.PreconditionedSGLD().noise_tolerance is None
    assert mcmc.SGHMC(gradient_noise=0.0).noise_tolerance == mcmc.SGHMC().noise_tolerance
    known = mcmc.SGHMC(gradient_noise=0.1)  # which is made up for at one ℓ
    assert known.noise_tolerance is None
    assert not mcmc.SGHMC(gradient_noise=tf.constant(1.0)).adapts_to_gradient_noise
    with pytest.raises(ValueError, match="sghmc has no noise_tolerance. Received: noise_tolerance=0.1"):
        mcmc.WarmStart(kernel=known, noise_tolerance=0.1)
    assert mcmc.WarmStart(kernel=known).adapts_to_gradient_noise is False
    assert mcmc.WarmStart(kernel=mcmc.SGLD()).adapts_to_gradient_noise is True
    state = [tf.zeros([2])]
    warm = mcmc.WarmStart(kernel=mcmc.PreconditionedSGLD(), updates=3)
    assert warm.bootstrap_results(state).noise_variance == ()
    plain = mcmc.WarmStart(kernel=mcmc.SGNHT(), updates=3, noise_tolerance=None)
    assert plain.bootstrap_results(state).previous_gradient == ()
    results = first = plain.bootstrap_results(state)
    for step in range(5):  # the results keep their structure through both phases
        state, results = plain.copy(gradient_fn=lambda x, seed: [-x]).one_step(state, results, step)
        tf.nest.assert_same_structure(results, first)
    assert int(results.step) == 5 and int(results.sampler.step) == 2


def test_the_noise_by_hand():
    """In NumPy, the third gradient not finite: it counts neither as one nor as the last. Sampling goes on with it."""
    draws = np.random.default_rng(2)
    gradients = draws.normal(size=(7, 3)).astype(np.float32)
    gradients[2, 1] = np.nan
    kernel = mcmc.WarmStart(kernel=mcmc.SGNHT(), optimizer=keras.optimizers.SGD(0.1), updates=5)
    state = [tf.zeros([3])]
    results, estimate, last, differences = kernel.bootstrap_results(state), np.zeros(3), None, 0
    for g in gradients:
        state, results, _ = kernel.integrate(lambda part, seed, g=g: ([g], ()), state, results, 0)
        if np.isfinite(g).all():
            if last is not None:
                differences += 1
                estimate += 2 / (differences + 1) * (0.5 * (g - last) ** 2 - estimate)
            last = g
        np.testing.assert_allclose(results.noise_variance[0], estimate, rtol=1e-5)
    assert differences == 5 and int(results.sampler.step) == 2
    late = results._replace(step=tf.constant(10_000), sampler=results.sampler._replace(step=tf.constant(3000)))
    _, after, _ = kernel.integrate(lambda part, seed: ([last + 2.0], ()), state, late, 0)
    np.testing.assert_allclose(after.noise_variance[0], estimate + (2.0 - estimate) / 4000, rtol=1e-5)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("jitted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_is_the_kernel_with_a_rate_of_each_entrys_own(name, jitted):
    """θ = Dφ of the kernel on φ with the gradient Dg: where noise is low D = 1, elsewhere ℓD²s² = 2hT at each step."""
    rate, temperature, variance = 0.2, 0.01, np.array([0.0, 1e-9, 0.5, 40.0], np.float32)
    own = KERNELS[name](learning_rate=keras.optimizers.schedules.ExponentialDecay(rate, 1, 0.9))
    warm = mcmc.WarmStart(None, own, keras.optimizers.SGD(0.1), updates=0, temperature=temperature)
    theta, curvature = tf.constant([1.0, -2.0, 0.5, 3.0]), tf.constant([1.0, 2.0, 0.3, 0.1])
    results = warm.bootstrap_results([theta], seed=4)
    bearable = 2 * own.noise_tolerance * temperature / np.maximum(variance, 1e-30)
    sampler = own.copy(temperature=temperature)
    wanted = sampler.bootstrap_results([theta], seed=4)

    @tf.function(jit_compile=jitted, autograph=False)
    def step(state, results, mine, wanted, scale, seed):
        state, results, _ = warm.integrate(lambda x, seed: ([-curvature * x], ()), state, results, seed)
        phi = [mine[0] / scale]
        phi, wanted, _ = sampler.integrate(lambda x, seed: ([-scale * curvature * scale * x], ()), phi, wanted, seed)
        return state, results, [scale * phi[0]], wanted

    state, mine = [theta], [theta]
    for number in range(6):
        scale = np.sqrt(np.minimum(1, bearable / (rate * 0.9**number))).astype(np.float32)
        assert (scale == 1).tolist() == [True, True, False, False]
        results = results._replace(noise_variance=[tf.constant(variance)])  # whatever this gradient says
        state, results, mine, wanted = step(state, results, mine, wanted, scale, tf.constant([3, number]))
        np.testing.assert_allclose(state[0], mine[0], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(warm.kinetic_temperature(results), sampler.kinetic_temperature(wanted), rtol=1e-4)


def test_a_schedule_that_rises_is_bounded_where_it_is_high():
    """ℓD² = min(ℓ, 2hT/s²) of SGLD, told from how far one step goes along the gradient, less the step without it."""
    rate = mcmc.PolynomialDecay(0.25, offset=1000.0, warmup_steps=4)
    warm = mcmc.WarmStart(None, mcmc.SGLD(learning_rate=rate), updates=0, temperature=0.5)
    state = [tf.zeros([1])]
    results = warm.bootstrap_results(state)._replace(noise_variance=[tf.constant([2.0])])  # 2hT/s² = 0.05
    for step in range(6):
        ends = [warm.integrate(lambda x, seed, g=g: ([x + g], ()), state, results, 7)[0][0] for g in (0.0, 1.0)]
        expected = min(float(rate(step)), 0.05)
        np.testing.assert_allclose(ends[1] - ends[0], [expected], rtol=1e-4)
        results = results._replace(sampler=results.sampler._replace(step=tf.constant(step + 1)))
    assert float(rate(0)) < 0.07 < float(rate(5))


def test_parameters_of_another_type():
    """A friction that is a tensor of doubles, beside a state of floats."""
    kernel = mcmc.SGHMC(learning_rate=0.1, friction=tf.constant(0.1, tf.float64))
    warm = mcmc.WarmStart(lambda x, seed: [-x], kernel, updates=0)
    state, _ = warm.one_step([tf.ones([2])], warm.bootstrap_results([tf.ones([2])]), seed=0)
    assert state[0].dtype == tf.float32


def test_without_a_temperature_nothing_is_scaled():
    """At T = 0 there is no heat to be kept low: SGLD is gradient ascent with ℓ."""
    warm = mcmc.WarmStart(lambda x, seed: [-x], mcmc.SGLD(learning_rate=0.25), updates=0, temperature=0.0)
    state = [tf.constant([4.0])]
    results = warm.bootstrap_results(state)._replace(noise_variance=[tf.constant([9.0])])
    state, _ = warm.one_step(state, results, seed=1)
    np.testing.assert_array_equal(state[0], [3.0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sgnht", "sgld"])
def test_four_scales_of_noise(name):
    """Chains on Gaussians whose noise has the variance of the score, s² = 40λ: with a rate for all, that of the largest
    λ is far too hot; with rates of their own each has the variance of its law."""
    curvature, rate = np.array([0.01, 0.1, 1.0, 10.0]), 0.1
    target = gaussian(curvature, np.sqrt(40 * curvature))
    start = tf.zeros([4096, 4])

    def sampled(tolerance):
        optimizer = keras.optimizers.SGD(1e-3)
        warm = mcmc.WarmStart(target, KERNELS[name](learning_rate=rate), optimizer, 300, noise_tolerance=tolerance)
        return run(warm, start, 2000 if name == "sgnht" else 1800, seed=6)

    theta, results = sampled("auto")
    estimates = np.mean(results.noise_variance[0], 0)
    # θ moves between two gradients: that adds up to ℓD²λ s², 2.5 % of SGNHT
    np.testing.assert_allclose(estimates, 40 * curvature * (1 + 0.0125), rtol=0.0175)
    late = np.var(np.asarray(theta)[:, 1:], 0) * curvature[1:]  # the first has hardly left 0
    assert np.all(late > 0.81) and np.all(late < (1.02 if name == "sgnht" else 1.2))  # standard errors of 0.02
    hot = np.var(np.asarray(sampled(None)[0])[:, 3]) * curvature[3]
    assert hot > 3
