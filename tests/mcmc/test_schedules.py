"""Learning-rate schedules against their formulas."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import mcmc
from tfdsmcmc._common import known_values
from tfdsmcmc.mcmc.schedules import ByUnits, RiseAndFall

STEPS = np.array([0, 1, 2, 7, 8, 9, 15, 16, 1000, 123_457])


def test_polynomial_decay():
    """ℓ₀ (1 + t/b)^(−γ) is Welling and Teh's a (b + t)^(−γ) with a = ℓ₀ bᵞ."""
    schedule = mcmc.PolynomialDecay(0.2, offset=30.0, power=0.7)
    expected = 0.2 * 30.0**0.7 * (30.0 + STEPS) ** -0.7
    np.testing.assert_allclose([schedule(step) for step in STEPS], expected, rtol=1e-5)


def test_warmup():
    """(t + 1)/w of the rate in the first w steps, all of it later."""
    schedule, plain = (mcmc.PolynomialDecay(0.2, 30.0, 0.7, warmup_steps=steps) for steps in (10, 0))
    share = np.minimum(1, (STEPS + 1) / 10)
    np.testing.assert_allclose([schedule(t) for t in STEPS], [plain(t) * s for t, s in zip(STEPS, share)], rtol=1e-6)


def test_a_decay_that_is_constant_first():
    """ℓ₀ for c steps, and from then on the decay as it is from its start."""
    schedule, plain = (mcmc.PolynomialDecay(0.2, 30.0, 0.7, constant_steps=steps) for steps in (25, 0))
    np.testing.assert_allclose([schedule(t) for t in (0, 13, 25)], 0.2, rtol=1e-6)
    np.testing.assert_allclose([schedule(25 + t) for t in STEPS], [plain(t) for t in STEPS], rtol=1e-6)


def test_cyclical():
    """½ ℓ₀ (cos(π (t mod c)/c) + 1): ℓ₀ at the start of each cycle, half of it in the middle."""
    schedule = mcmc.Cyclical(0.2, cycle_steps=8)
    expected = 0.1 * (np.cos(np.pi * (STEPS % 8) / 8) + 1)
    np.testing.assert_allclose([schedule(step) for step in STEPS], expected, rtol=1e-5)
    np.testing.assert_allclose([schedule(step) for step in (0, 4, 8, 2**40 + 4)], [0.2, 0.1, 0.2, 0.1], rtol=1e-6)
    assert all(0 < schedule(step) <= 0.2 for step in range(17))


def test_a_long_cycle_is_positive_to_its_end():
    """ℓ₀ (π/(2c))² at its last step, where ½ (cos πx + 1) would be 0 in float32, and still the momentum."""
    for steps in (20_000, 100_000, 2**30):
        last = mcmc.Cyclical(0.1, steps)(steps - 1)
        assert last > 0
    np.testing.assert_allclose(mcmc.Cyclical(0.1, 20_000)(19_999), 0.1 * (np.pi / 40_000) ** 2, rtol=0.01)


def test_by_units():
    """√min(1, u/U) of a number or of a schedule; all of it where U is not known."""
    plain = mcmc.PolynomialDecay(0.2, 30.0, 0.7)
    for rate in (plain, 0.2):
        expected = np.array([plain(t) if rate is plain else 0.2 for t in STEPS])
        np.testing.assert_allclose([ByUnits(rate, 3)(t) for t in STEPS], expected, rtol=1e-6)
        for latent_units, share in ((1, 1.0), (3, 1.0), (12, 0.5), (300, 0.1)):
            found = [ByUnits(rate, 3, latent_units=9).over(latent_units)(t) for t in STEPS]
            np.testing.assert_allclose(found, share * expected, rtol=1e-6)


@pytest.mark.parametrize("latent_units, row_spread, share", [
    (12, None, 0.5), (12, 0.0, 0.5), (12, 5.0, 1.0), (12, 10.0, 0.5), (12, 40.0, 0.125), (3, 40.0, 0.25), (3, 9.0, 1.0),
])  # fmt: skip
def test_by_units_and_spread(latent_units, row_spread, share):
    """min(1, (s/S) √(u/U)) with s = 10 and u = 3; without s the spread of the rows says nothing."""
    rate = ByUnits(0.2, 3, spread=10.0)
    assert float(rate.over(latent_units, row_spread)(7)) == pytest.approx(0.2 * share)
    assert float(rate.over(latent_units, tf.Variable(row_spread or 0.0))(7)) == pytest.approx(0.2 * share)
    of_rows_alone = ByUnits(0.2, 3, spread=10.0, row_spread=row_spread)
    assert float(of_rows_alone(7)) == pytest.approx(0.2 * min(1, 10 / (row_spread or 1)))
    plain = ByUnits(0.2, 3).over(latent_units, row_spread)
    assert float(plain(7)) == pytest.approx(float(ByUnits(0.2, 3).over(latent_units)(7)))


def test_a_rate_by_units_of_one_by_units_is_refused():
    with pytest.raises(ValueError, match=r"must not go by units\. Received: learning_rate=<.*ByUnits"):
        ByUnits(ByUnits(0.2, 3), 5)


HUGE = [10**400, 10**5000]  # no floats; Python does not even write the second out
SCHEDULES = [mcmc.PolynomialDecay(0.2, 30.0, 0.7, 20, 5), mcmc.Cyclical(0.2, 8), RiseAndFall(0.2)]
SCHEDULES += [ByUnits(0.2, 3), ByUnits(SCHEDULES[0], 3, spread=4.0, latent_units=12, row_spread=7.5)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedule_is_a_keras_schedule(schedule):
    """Any integer step, jitted or not; survives serialization; drives a Keras optimizer as well."""
    compiled = tf.function(schedule, jit_compile=True, autograph=False)
    for step in (tf.constant(9), tf.constant(9, tf.int64)):
        np.testing.assert_allclose([compiled(step), schedule(step)], [schedule(9)] * 2, rtol=1e-6)

    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(schedule))
    assert type(copy) is type(schedule) and copy.get_config() == schedule.get_config()
    assert float(copy(9)) == float(schedule(9))

    weight = keras.Variable([0.0])
    optimizer = keras.optimizers.SGD(schedule)
    for _ in range(3):
        optimizer.apply([tf.ones([1])], [weight])
    np.testing.assert_allclose(weight.value, [-sum(float(schedule(t)) for t in range(3))], rtol=1e-5)


@pytest.mark.parametrize(
    "cls, name, values",
    [
        (mcmc.PolynomialDecay, "initial_learning_rate", [0.0, -1.0, np.nan, "fast", None, *HUGE]),
        (mcmc.PolynomialDecay, "offset", [0.0, -1.0, np.inf, None, *HUGE]),
        (mcmc.PolynomialDecay, "power", [-0.5, np.nan, None, *HUGE]),
        (mcmc.PolynomialDecay, "warmup_steps", [-1, 2.5, True, None, 2**63, *HUGE]),
        (mcmc.PolynomialDecay, "constant_steps", [-1, 2.5, True, None, 2**63, *HUGE]),
        (mcmc.Cyclical, "initial_learning_rate", [0.0, -1.0, np.nan, "fast", None, *HUGE]),
        (mcmc.Cyclical, "cycle_steps", [0, -1, 2.5, True, None, 2**63, *HUGE]),
        (RiseAndFall, "learning_rate", [0.0, None, *HUGE]),
        (RiseAndFall, "offset", [0.0, None, *HUGE]),
        (RiseAndFall, "rise", [0, 2.5, None, 2**63, *HUGE]),
        (RiseAndFall, "rising", [0.0, 1.0, None, *HUGE]),
        (ByUnits, "learning_rate", [0.0, -1.0, np.nan, "fast", None, *HUGE]),
        (ByUnits, "units", [0, -1, 2.5, True, None]),
        (ByUnits, "spread", [0.0, -1.0, np.nan, "wide", *HUGE]),
        (ByUnits, "latent_units", [0, -1, 2.5, True]),
        (ByUnits, "row_spread", [-1.0, np.inf, "wide", *HUGE]),
    ],
)
def test_errors(cls, name, values):
    arguments = {
        mcmc.PolynomialDecay: {"initial_learning_rate": 0.1},
        mcmc.Cyclical: {"initial_learning_rate": 0.1, "cycle_steps": 5},
        RiseAndFall: {"learning_rate": 0.1},
        ByUnits: {"learning_rate": 0.1, "units": 5},
    }[cls]
    for value in values:
        with pytest.raises(ValueError, match=rf"{name} .*Received: {name}="):
            cls(**{**arguments, name: value})


def test_as_many_steps_as_an_int64_counts():
    """So long nothing falls, or the rise goes on; a cycle is still at its start."""
    most = 2**63 - 1
    assert float(mcmc.PolynomialDecay(0.25, constant_steps=most)(9)) == 0.25
    assert float(mcmc.Cyclical(0.25, most)(9)) == 0.25
    rising = [mcmc.PolynomialDecay(0.25, offset=1e30, warmup_steps=most), RiseAndFall(0.25, offset=1e30, rise=most)]
    np.testing.assert_allclose([schedule(9) for schedule in rising], 0.25 * 10 / 2**63, rtol=1e-6)


@pytest.mark.parametrize("cls", [mcmc.SGHMC, mcmc.SGNHT])
def test_the_splitting_keeps_its_temperature_when_the_rate_jumps(cls):
    """Right after ℓ falls a hundredfold v²/η is 1 on a flat target: 16,384 draws have a standard error of 1.1 %,
    and six are exceeded once in 5·10⁸ runs. Without rescaled momentum it is near 100 · exp(−2a) = 67."""
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([3], [0.1, 0.001])
    kernel = cls(lambda x, seed: [tf.zeros_like(x)], learning_rate=rate, friction=0.2, temperature=0.5)
    state = [tf.zeros([16384])]
    results = kernel.bootstrap_results(state, seed=1)
    for step in range(6):
        state, results = kernel.one_step(state, results, seed=step)
        assert abs(float(results.kinetic_temperature) - 1) < 6 * np.sqrt(2 / 16384)
        np.testing.assert_allclose(results.eta, 0.5 * (0.1 if step <= 3 else 0.001), rtol=1e-6)


def test_with_euler_the_automatic_mass_is_that_of_the_papers():
    kernel = mcmc.SGNHT(lambda x, seed: [-x], learning_rate=0.1, integrator="euler")
    state = [tf.ones([5])]
    results = kernel.bootstrap_results(state, seed=1)
    ours, papers = (k.one_step(state, results, seed=2)[1] for k in (kernel, kernel.copy(thermostat_mass=1.0)))
    np.testing.assert_array_equal(ours.thermostat[0], papers.thermostat[0])
    assert not np.array_equal(ours.thermostat[0], results.thermostat[0])


def test_tensors_are_numbers_in_a_configuration():
    """A file of a model would else hold what cannot be read back."""
    schedule = mcmc.PolynomialDecay(tf.constant(0.5), tf.constant(30.0), tf.constant(0.75))
    kernels = (
        mcmc.SGLD(learning_rate=mcmc.Cyclical(tf.constant(0.25), 8), temperature=tf.constant(0.5)),
        mcmc.SGHMC(learning_rate=schedule, friction=tf.Variable(0.25)),
        mcmc.SGNHT(learning_rate=tf.constant(0.125), thermostat_mass=keras.Variable(2.0)),
    )
    for unlike in (tf.constant("euler"), tf.constant(True), tf.constant([1.0, 2.0])):
        assert known_values.plain(unlike) is unlike
    for kernel in kernels:
        config = json.loads(json.dumps(kernel.get_config()))
        twin = type(kernel).from_config(config)
        assert twin.get_config() == config
        assert float(twin.learning_rate_at(tf.constant(7))) == float(kernel.learning_rate_at(tf.constant(7)))
