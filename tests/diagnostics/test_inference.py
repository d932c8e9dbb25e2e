"""A posterior as data of ArviZ."""

import arviz
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states
from tests.posterior.support import at, unfitted, written

pytestmark = pytest.mark.filterwarnings("ignore:The importance weights")

X = binary_states(4)[[1, 2, 5, 7, 12]].astype(np.float32)
CHAINS = (0, 1, 1, 0, 0, 1, 0)
PLACES = [[0, 3, 4], [1, 2, 5]]


def test_groups_axes_and_values(tmp_path):
    """Weights and steps as they are; log p(x given θ) within 0.3 of enumeration, ten errors of 4,000 samples."""
    model, posterior = unfitted(), written(tmp_path, CHAINS)
    names = [name for name, _ in model.generative.named_weights]
    data = ds.diagnostics.inference_data(posterior, model, X, num_samples=4000)
    assert set(data.groups()) == {"posterior", "sample_stats", "log_likelihood", "observed_data"}
    assert set(data.posterior) == set(names[1:])  # the top layer's kernel has no entries
    assert data.posterior[names[2]].shape == (2, 3, 2, 4)
    assert data.log_likelihood["x"].dims == ("chain", "draw", "row")
    assert data.observed_data["x"].dims == ("row", "column")
    np.testing.assert_array_equal(data.observed_data["x"], X)
    trace = ds.diagnostics.trace(posterior, model)
    np.testing.assert_array_equal(data.sample_stats["log_prior"], trace["log_prior"])
    for cell, place in np.ndenumerate(PLACES):
        sample = posterior.samples[place]
        for name, weight in list(zip(names, sample.theta))[1:]:
            np.testing.assert_array_equal(data.posterior[name][cell], weight)
        assert int(data.sample_stats["step"][cell]) == sample.step
        exact = Oracle(at(unfitted(), sample[:2])).log_likelihood(X)
        np.testing.assert_allclose(data.log_likelihood["x"][cell], exact, atol=0.3)
    assert np.ptp(data.log_likelihood["x"].values) > 1


def test_weights_are_chosen_and_files_written(tmp_path):
    """With dots in the place of slashes, which netCDF does not take; ArviZ reads it back and sums it up."""
    model, posterior = unfitted(), written(tmp_path, (0, 1) * 8)
    bias = model.generative.named_weights[-1][0]
    data = ds.diagnostics.inference_data(posterior, model, weights=[bias], separator=".")
    assert data.groups() == ["posterior", "sample_stats"]
    data.to_netcdf(str(tmp_path / "posterior.nc"))
    read = arviz.from_netcdf(str(tmp_path / "posterior.nc")).posterior[bias.replace("/", ".")]
    np.testing.assert_array_equal(read, data.posterior[bias.replace("/", ".")])
    assert len(arviz.summary(data)) == 4


def test_rows_may_come_as_a_dataset_or_with_a_context(tmp_path):
    """As the posterior itself takes them."""
    model, posterior = unfitted(), written(tmp_path)
    array = ds.diagnostics.inference_data(posterior, model, X, weights="bias")
    stream = tf.data.Dataset.from_tensor_slices(X).batch(2)
    for x in (stream, ds.Rows(X)):
        data = ds.diagnostics.inference_data(posterior, model, x, weights="bias")
        np.testing.assert_array_equal(data.observed_data["x"], X)
        np.testing.assert_array_equal(data.log_likelihood["x"], array.log_likelihood["x"])


def test_what_does_not_fit_is_refused(tmp_path):
    model, posterior = unfitted(), written(tmp_path)
    for arguments in ({"weights": "nothing"}, {"weights": 3}, {"x": X[:, :2]}, {"x": X + 1}, {"separator": 3}):
        with pytest.raises(ValueError, match=f"{next(iter(arguments)).rstrip('s')}.*Received: "):
            ds.diagnostics.inference_data(posterior, model, **arguments)


def test_incomplete_rows(tmp_path):
    """log p(x_observed given θ), by enumeration of what is missing, within ten errors; NaN stays in the data."""
    model, posterior = unfitted(), written(tmp_path)
    x = np.array([[1, 0, np.nan, 1], [0, 1, 1, 0]], np.float32)
    data = ds.diagnostics.inference_data(posterior, model, x, weights="bias", num_samples=4000)
    np.testing.assert_array_equal(data.observed_data["x"], x)
    sample = posterior.samples[1]
    oracle = Oracle(at(unfitted(), sample[:2]))
    exact = np.logaddexp(*oracle.log_likelihood(np.array([[1, 0, 0, 1], [1, 0, 1, 1]], np.float32)))
    found = data.log_likelihood["x"].values[0, 1]
    np.testing.assert_allclose(found, [exact, oracle.log_likelihood(x[1:])[0]], atol=0.3)
