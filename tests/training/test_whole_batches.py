"""Minibatches of all rows, whose noise does not say how long steps may be, are warned of where rows hold numbers."""

import contextlib
import re
import warnings

import keras
import numpy as np
import pytest

import tfdsmcmc as ds

REAL = np.float32([[0.1, -1.2], [1.3, 0.4], [-0.7, 0.2], [0.5, 0.6]])
WHOLE = "half of the rows.*Received: 4 rows, batch_size="


def model_of(data_layer, **arguments):
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), data_layer])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]), seed=0)
    model.compile(**ds.methods.dsgnht_nais(num_chains=1, **arguments), jit_compile=False)
    return model


class Begun(Exception):
    """Ends a fit before its first step, whose program takes seconds to trace."""


def end(*_):
    raise Begun


def said(model, x, **options):
    """The warnings of whole batches that a fit gives as it begins."""
    ends = keras.callbacks.LambdaCallback(on_epoch_begin=end)
    with warnings.catch_warnings(record=True) as found, contextlib.suppress(Begun):
        warnings.simplefilter("always")
        model.fit(x, epochs=1, verbose=0, callbacks=[ends], **options)
    return [warning for warning in found if "all rows" in str(warning.message)]


@pytest.mark.parametrize("options", [{}, {"batch_size": 4}, {"batch_size": 9}])
def test_all_real_rows_at_once(options):
    (warning,) = said(model_of(ds.layers.MLPGaussian(2)), REAL, **options)
    assert warning.filename == __file__ and issubclass(warning.category, UserWarning)
    assert re.search(WHOLE + str(options.get("batch_size", 100)), str(warning.message))


@pytest.mark.parametrize("how", ["fit", "fit_transform"])
def test_an_imputer_names_the_line_that_fits_it(how):
    imputer = ds.Imputer("DARN", updates=2, posterior_samples=0, batch_size=4, random_state=0, jit_compile=False)
    with pytest.warns(UserWarning, match=WHOLE + "4") as found:
        getattr(imputer, how)(REAL)
    (warning,) = (warning for warning in found if "all rows" in str(warning.message))
    assert warning.filename == __file__


def test_all_rows_of_a_table_with_a_real_column():
    layer = ds.layers.Mixed([ds.columns.Binary(), ds.columns.Real()])
    assert len(said(model_of(layer), np.abs(np.sign(REAL[:, :1])) * REAL[:, 1:] ** [[0, 1]])) == 1


def test_several_chains():
    model = model_of(ds.layers.MLPGaussian(2))
    model.compile(**ds.methods.dsgnht_nais(num_chains=2), jit_compile=False)
    assert len(said(model, REAL)) == 1


def test_a_warning_that_is_an_error_changes_nothing():
    """How many chains there are is left to the fit that goes on."""
    model = model_of(ds.layers.MLPGaussian(2))
    model.compile(**ds.methods.dsgnht_nais(num_chains="auto"), jit_compile=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        with pytest.raises(UserWarning, match=WHOLE):
            model.fit(REAL, epochs=1, verbose=0)
    assert (model.run.num_chains, model.fitting.settings["num_chains"]) == (3, "auto")


def test_where_no_weight_of_the_kernel_moves_nothing_is_warned_of():
    """φ alone learns, or nothing does."""
    model = model_of(ds.layers.MLPGaussian(2))
    assert not said(model, REAL, initial_epoch=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.refit_recognition(REAL, epochs=1)
    model.compile(**ds.methods.dsgnht_nais(num_chains=1), kernel_steps=0, jit_compile=False)
    assert not said(model, REAL)


def test_what_has_noise_or_needs_none_is_not_warned_of():
    """Half of the rows; states, whose probabilities are at most 1; a kernel of one rate for all entries."""
    assert not said(model_of(ds.layers.MLPGaussian(2)), REAL, batch_size=2)
    assert not said(model_of(ds.layers.SBN(2)), np.float32(REAL > 0))
    states = ds.layers.Mixed([ds.columns.Binary(), ds.columns.Ordinal(2)])
    assert not said(model_of(states), np.array([[1, 1, 0], [0, 0, 1]]))
    plain = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=1e-4), noise_tolerance=None)
    for kernel in (plain, ds.mcmc.SGNHT(learning_rate=1e-4)):
        model = model_of(ds.layers.MLPGaussian(2))
        model.compile(**{**ds.methods.dsgnht_nais(num_chains=1), "kernel": kernel}, jit_compile=False)
        assert not said(model, REAL)
