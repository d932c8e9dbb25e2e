"""The rate at which the recognition network learns."""

import keras
import numpy as np
import pytest

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
    shares = [rate.share(latent_units) for latent_units in (2, 150, 600, 15_000)]
    np.testing.assert_allclose(shares, [1.0, 1.0, 0.5, 0.1], rtol=1e-12)  # of it, with so many latent units
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


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("most, share", [(1, 0.5), (4, 1.0), (9, 1.0)])
def test_a_rate_by_units_is_a_lower_rate(most, share, jit_compile):
    """Of φ over U = 4 latent units in two layers: that of the plain optimizer at ℓ √(u/U), and at ℓ where u is more."""
    rate = ds.mcmc.PolynomialDecay(0.04, offset=2.0)
    lower = ds.mcmc.PolynomialDecay(0.04 * share, offset=2.0)
    rates = ds.mcmc.schedules.ByUnits(rate, units=most), lower, rate
    adams = [keras.optimizers.Adam(given, epsilon=1e-3) for given in rates]
    found = [phi_along(ds.methods.rws(optimizer=adam), sizes=(2, 2), jit_compile=jit_compile)[-1] for adam in adams]
    for by_units, plain, full in zip(*found, strict=True):
        np.testing.assert_allclose(by_units, plain, rtol=1e-4, atol=1e-6)
        if share == 1.0:
            np.testing.assert_array_equal(by_units, full)
        elif full.ndim > 1:  # kernels
            assert np.abs(by_units - full).max() > 1e-2


def test_what_the_optimizer_keeps_is_not_shortened():
    """Its moments and its iterations are those of a plain rate, and nothing of an update that is not allowed stays."""
    plain, by_units = (
        keras.optimizers.SGD(rate, momentum=0.5) for rate in (0.01, ds.mcmc.schedules.ByUnits(0.04, units=1))
    )
    found = []
    for optimizer in (plain, by_units):
        model = tiny_model((8, 8), units=X.shape[1], seed=3)
        model.compile(**ds.methods.rws(optimizer=optimizer), jit_compile=False)
        model.fit(X, batch_size=len(X), epochs=1, verbose=0)
        found.append([np.asarray(variable) for variable in optimizer.variables])
    assert any(np.abs(value).max() > 1e-4 for value in found[0])
    momenta = [[value for value in values if value.ndim > 0] for values in found]
    for one, other in zip(*momenta, strict=True):
        np.testing.assert_allclose(other, 4.0 * one, rtol=1e-4, atol=1e-8)  # −ℓ g, of the full ℓ
    assert [int(optimizer.iterations) for optimizer in (plain, by_units)] == [1, 1]
