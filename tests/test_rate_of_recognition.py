"""The rate at which the recognition network learns."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.posterior.support import X

NAIS = ("dsgld_nais", "dsghmc_nais", "dsgnht_nais")


def phi_along(method, epochs=4, jit_compile=False):
    """The recognition network's weights after each update of a fit, from the same start with the same draws."""
    model, found = tiny_model((2,), units=X.shape[1], seed=3), []
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
