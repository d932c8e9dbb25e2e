"""The rate at which the recognition network learns."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.posterior.support import X

NAIS = ("dsgld_nais", "dsghmc_nais", "dsgnht_nais")


def phi_along(method, epochs=4, jit_compile=False, sizes=(2,)):
    """The recognition network's weights after each update of a fit, from the same start with the same draws."""
    model, found = tiny_model(sizes, units=X.shape[1], seed=3), []
    model.compile(**method, jit_compile=jit_compile)
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: found.append(model.recognition.get_weights()))
    model.fit(X, batch_size=len(X), epochs=epochs, verbose=0, callbacks=[note])
    return found


@pytest.mark.parametrize("name", NAIS)
def test_it_falls_where_runs_are_long(name):
    """0.01 for 5,000 updates, then 0.01 (1 + (t − 5,000)/5,000)^(−3/4); an optimizer that is given stays as it is."""
    rate = getattr(ds.methods, name)()["proposal"].optimizer.get_config()["learning_rate"]
    rate = keras.saving.deserialize_keras_object(rate)
    expected = [0.01, 0.01, 0.01 / 2**0.75, 0.00125]
    np.testing.assert_allclose([rate(t) for t in (0, 5000, 10_000, 80_000)], expected, rtol=1e-5)
    by_units = [rate.over(latent_units)(0) for latent_units in (2, 150, 600, 15_000)]
    np.testing.assert_allclose(by_units, [0.01, 0.01, 0.005, 0.001], rtol=1e-6)
    by_spread = [rate.over(150, row_spread)(0) for row_spread in (2.0, 150.0, 300.0)]
    np.testing.assert_allclose(by_spread, [0.01, 0.01, 0.005], rtol=1e-6)
    given = getattr(ds.methods, name)(optimizer=keras.optimizers.Adam(0.02))["proposal"].optimizer
    assert given.get_config()["learning_rate"] == pytest.approx(0.02)


@pytest.mark.slow
def test_short_runs_are_those_of_a_constant_rate():
    """Bit for bit."""
    adams = None, keras.optimizers.Adam(1e-2)
    default, constant = (phi_along(ds.methods.dsgnht_nais(optimizer=adam, num_chains=1))[-1] for adam in adams)
    for one, other in zip(default, constant, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_each_update_goes_by_the_rate_of_its_number(jit_compile):
    """Of a rate that has fallen to 0 after the second update: φ stays where it was then."""
    rate = ds.mcmc.PolynomialDecay(0.01, offset=1e-9, power=3.0, constant_steps=1)
    along = phi_along(ds.methods.rws(optimizer=keras.optimizers.Adam(rate)), jit_compile=jit_compile)
    for first, second, third, fourth in zip(*along, strict=True):
        assert np.abs(second - first).max() > 1e-3
        np.testing.assert_array_equal(third, second)
        np.testing.assert_array_equal(fourth, second)


def rate_of(optimizer):
    return float(optimizer.learning_rate)


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("most, share", [(1, 0.5), (4, 1.0), (9, 1.0)])
def test_a_rate_by_units_is_a_lower_rate(most, share, jit_compile):
    """Of φ over U = 4 latent units in two layers: that of the plain optimizer at ℓ √(u/U), and at ℓ where u is more."""
    lower = ds.mcmc.PolynomialDecay(0.04 * share, offset=2.0)
    by_units = ds.mcmc.schedules.ByUnits(ds.mcmc.PolynomialDecay(0.04, offset=2.0), units=most)
    adams = [keras.optimizers.Adam(rate) for rate in (lower, by_units)]
    plain, found = (phi_along(ds.methods.rws(optimizer=adam), sizes=(2, 2), jit_compile=jit_compile) for adam in adams)
    for one, other in zip(plain[-1], found[-1], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)
    assert rate_of(adams[0]) == pytest.approx(rate_of(adams[1])) == pytest.approx(0.04 * share / 3**0.55)


def compiled(optimizer, sizes=(2, 2)):
    model = tiny_model(sizes, units=X.shape[1], seed=3)
    model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)
    return model


def test_a_rate_is_told_how_many_units_there_are():
    """Of the model that is compiled last, inside of an optimizer that scales the loss too; a file keeps it."""
    inner = keras.optimizers.SGD(ds.mcmc.schedules.ByUnits(0.04, units=1))
    compiled(keras.optimizers.LossScaleOptimizer(inner))
    assert rate_of(inner) == pytest.approx(0.02)
    optimizer = keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(0.04, units=1, latent_units=100))
    compiled(optimizer, sizes=(8, 8))
    assert rate_of(optimizer) == pytest.approx(0.01)
    assert rate_of(keras.optimizers.Adam.from_config(optimizer.get_config())) == pytest.approx(0.01)


GAPS = np.where(np.arange(X.size).reshape(X.shape) % 5 == 0, np.nan, X)
SPREADS = {  # E Σ |x_i − E x_i|, of what is missing as the ½ that a network sees
    "rows": (X, np.abs(X - X.mean(0)).sum(1).mean()),
    "gaps": (GAPS, np.abs(np.nan_to_num(GAPS, nan=0.5) - np.nan_to_num(GAPS, nan=0.5).mean(0)).sum(1).mean()),
    "dataset": (tf.data.Dataset.from_tensor_slices(X).batch(3), np.abs(X - X.mean(0)).sum(1).mean()),
    "endless": (tf.data.Dataset.from_tensor_slices(X).repeat().batch(4), np.abs(X - X.mean(0)).sum(1).mean()),
}


@pytest.mark.parametrize("rows", SPREADS)
def test_the_first_fit_tells_the_spread_of_the_rows(rows):
    """ℓ (s/S) from its first update on, and in later fits of other rows too, until `compile`; in a file as well."""
    (x, spread), optimizer = SPREADS[rows], keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(0.04, 4, 0.1))
    model = compiled(optimizer)
    assert rate_of(optimizer) == pytest.approx(0.04)
    model.fit(x, batch_size=4, epochs=1, steps_per_epoch=2, verbose=0, num_rows=8 if rows == "endless" else None)
    expected = pytest.approx(0.04 * 0.1 / spread)
    assert rate_of(optimizer) == expected
    model.fit(np.zeros_like(X), batch_size=4, epochs=1, verbose=0)
    assert rate_of(optimizer) == expected
    assert rate_of(keras.optimizers.Adam.from_config(optimizer.get_config())) == expected
    model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)
    assert rate_of(optimizer) == pytest.approx(0.04)


@pytest.mark.parametrize("num_chains", [1, "auto"])
def test_a_rate_by_the_spread_is_a_lower_rate(num_chains):
    """Of all updates, the first among them, and of each chain."""
    spread = SPREADS["rows"][1]
    rates = float(0.04 * 0.1 / spread), ds.mcmc.schedules.ByUnits(0.04, 2, 0.1)
    methods = (ds.methods.dsgnht_nais(optimizer=keras.optimizers.Adam(rate), num_chains=num_chains) for rate in rates)
    plain, found = (phi_along(method, epochs=2) for method in methods)
    for one, other in zip(plain[-1], found[-1], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-6)


class Foreign(keras.optimizers.schedules.LearningRateSchedule):
    """Without a configuration, and not known to Keras."""

    def __call__(self, step):
        return 0.03


@pytest.mark.parametrize("rate", [lambda: 0.03, Foreign(), 0.03], ids=["function", "schedule", "number"])
def test_other_rates_stay_as_they_are(rate):
    optimizer = keras.optimizers.Adam(rate)
    compiled(optimizer)
    assert rate_of(optimizer) == pytest.approx(0.03)
    compiled(keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(Foreign(), 5)))


def test_a_model_without_latent_units_learns_by_default():
    model = ds.models.from_name("NADE", X.shape[1], hidden_units=2, seed=0)
    model.compile(**ds.methods.dsgnht_nais(num_chains=1), jit_compile=False)
    model.fit(X, batch_size=4, epochs=1, verbose=0)
    assert int(model.run.steps) == 2
