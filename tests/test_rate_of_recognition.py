"""The rate at which the recognition network learns."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import PUBLISHED_PRIOR, tiny_model
from tests.posterior.support import X
from tfdsmcmc.rows import weighted

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


def spread_of(x):
    """E Σ |x_i − E x_i|, each column's part at most 1; what is missing as the ½ that a network sees."""
    x = np.nan_to_num(np.asarray(x, np.float64), nan=0.5)
    return np.minimum(1, np.abs(x - x.mean(0)).mean(0)).sum()


def by_spread(units=4, spread=0.1):
    return keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(0.04, units, spread=spread))


def told(optimizer):
    """S, by the rate 0.04 (0.1/S), or None where that is 0.04."""
    rate = rate_of(optimizer)
    return None if rate == pytest.approx(0.04) else 0.04 * 0.1 / rate


def fitted(model, x, epochs=1, **arguments):
    return model.fit(x, batch_size=4, epochs=epochs, verbose=0, **arguments)


def look(model, x, weights=None, steps=0):
    """What a fit does before its first step."""
    source = model.source("x", x)
    model.run.step.look_at(source if weights is None else weighted(source, weights), steps)


@pytest.mark.parametrize("gaps", [False, True])
def test_the_first_fit_tells_the_spread_of_the_rows(gaps):
    """And no later one of other rows, until `compile`."""
    x, optimizer = np.where(np.arange(X.size).reshape(X.shape) % 5 == 0, np.nan, X) if gaps else X, by_spread()
    model = compiled(optimizer)
    assert told(optimizer) is None
    fitted(model, x, epochs=0)
    assert told(optimizer) is None
    for rows in (x, X[:2]):
        fitted(model, rows)
        assert told(optimizer) == pytest.approx(spread_of(x))
    model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)
    assert told(optimizer) is None


def test_rows_count_by_their_weights():
    """As integers they are rows repeated."""
    weights, optimizer = np.array([5, 0, 0, 0, 2, 0, 0, 1]), by_spread()
    look(compiled(optimizer), X, weights)
    assert told(optimizer) == pytest.approx(spread_of(np.repeat(X, weights, 0)))


def test_of_many_rows_some_are_looked_at():
    """Spread over all of them and not evenly: of every other row it would be 0."""
    x, optimizer = np.tile([[0.0], [1.0]], (1000, 4))[:-1], by_spread()
    look(compiled(optimizer), x)
    assert told(optimizer) == pytest.approx(2.0, rel=0.01)


@pytest.mark.parametrize("x", [np.zeros_like(X), X[:1]])
def test_rows_that_are_all_the_same_tell_nothing(x):
    optimizer = by_spread()
    model = compiled(optimizer)
    look(model, x)
    assert told(optimizer) is None
    look(model, X, steps=2)
    assert told(optimizer) == pytest.approx(spread_of(X))


def test_a_fit_without_a_step_tells_nothing_for_good():
    class Failing(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            raise OSError

    optimizer = by_spread()
    model = compiled(optimizer)
    for rows in (X, X[:4]):  # the steps of the run before are counted on
        with pytest.raises(OSError):
            fitted(model, X[:3], callbacks=[Failing()])
        fitted(model, rows)
        assert told(optimizer) == pytest.approx(spread_of(rows))
        model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)


def test_a_stream_is_not_read_for_it():
    """The rows of a shuffle with a seed come as they do without, and none is known but what is said."""
    found = []
    for optimizer in (keras.optimizers.Adam(0.04), by_spread(spread=1e9)):
        model = compiled(optimizer)
        fitted(model, tf.data.Dataset.from_tensor_slices(X).shuffle(8, seed=1).batch(2))
        found.append(model.get_weights())
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert rate_of(optimizer) == pytest.approx(0.04) and float(optimizer._learning_rate.row_spread) == 0.0


def test_a_spread_that_is_given_stays():
    given = keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(0.04, 4, spread=0.1, row_spread=3))
    model = compiled(given)
    look(model, X)
    assert told(given) == pytest.approx(3.0) and "row_spread" not in model.run.saved


def test_a_configuration_is_the_same_before_and_after_a_fit():
    """So that programs are shared, and other rows of a model like it are looked at."""
    model = compiled(by_spread())
    before = model.get_compile_config()
    look(model, X)
    assert model.get_compile_config() == before


def test_rows_are_looked_at_as_the_network_sees_them(monkeypatch):
    optimizer = by_spread()
    model = compiled(optimizer)
    plain = model.recognition.seen
    monkeypatch.setattr(model.recognition, "seen", lambda rows: tf.cast(plain(rows), tf.float32) / 2)
    look(model, X)
    assert told(optimizer) == pytest.approx(spread_of(X / 2))


def test_a_column_of_large_numbers_counts_as_one():
    optimizer = by_spread(units=2)
    x = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32) * [1, 1, 1, 1000]
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.MLPGaussian(4)])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]), prior=PUBLISHED_PRIOR)
    model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)
    look(model, x)
    assert told(optimizer) == pytest.approx(spread_of(x)) and told(optimizer) < 4


@pytest.mark.parametrize("whole", [False, True])
def test_a_run_that_is_stored_keeps_it(whole, tmp_path):
    """As a file of the model, and as weights for one that is compiled anew; other rows do not change it there."""
    model = compiled(by_spread())
    fitted(model, X)
    if whole:
        model.save(tmp_path / "model.keras")
        again = keras.saving.load_model(tmp_path / "model.keras")
    else:
        model.save_weights(tmp_path / "run.weights.h5")
        again = compiled(by_spread())
        again.load_weights(tmp_path / "run.weights.h5")
    for one in (model, again):
        fitted(one, X[:2], epochs=2)
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_runs_from_before_are_told_when_they_go_on(tmp_path):
    """Of files that know of no spread."""
    model, optimizer = compiled(keras.optimizers.Adam(ds.mcmc.schedules.ByUnits(0.04, 4))), by_spread()
    fitted(model, X)
    model.save_weights(tmp_path / "run.weights.h5")
    again = compiled(optimizer)
    again.load_weights(tmp_path / "run.weights.h5")
    look(again, X, steps=2)
    assert told(optimizer) == pytest.approx(spread_of(X))


@pytest.mark.parametrize("num_chains", [1, 2])
def test_a_rate_by_the_spread_is_a_lower_rate(num_chains):
    """Of all updates, the first among them, and of each chain."""
    optimizers = keras.optimizers.Adam(float(0.04 * 0.1 / spread_of(X))), by_spread(units=2)
    methods = (ds.methods.dsgnht_nais(optimizer=adam, num_chains=num_chains) for adam in optimizers)
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
