"""Without a prior of its own a model has one whose scales are learnt where it samples, and none where it climbs."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.diagnostics.test_tensorboard import scalars_and_histograms
from tests.oracles import randomize

X = np.eye(4, dtype=np.float32)[[0, 0, 1, 1, 2, 3]]
CLIMBERS = ("rws", "wake_sleep", "nvil")


def model_of(**options):
    model = ds.models.from_name("SBN/SBN 3", units=4, **options)
    randomize(model, 1)
    return model


def prior_of(model):
    """log p(θ) with which the model learns, at the present weights, and whether it has scales."""
    step = model.run.step
    names, values = zip(*((name, variable.value) for name, variable in model.generative.named_weights))
    auxiliary = step.prior.initial_auxiliary(names, values, 0)
    return float(step.prior.log_prob(names, values, auxiliary)), bool(auxiliary)


@pytest.mark.parametrize("method", [*CLIMBERS, "map"])
def test_what_climbs_has_none(method):
    model = model_of()
    climbs = {"kernel": "map"} if method == "map" else getattr(ds.methods, method)()
    model.compile(**climbs)
    assert prior_of(model) == (0.0, False)


def test_what_samples_has_the_default():
    model = model_of()
    model.compile(kernel="map")
    model.compile(kernel="sgld")
    assert model.run.step.prior is model.prior and prior_of(model)[1]
    model.compile()
    assert model.run.step.one.prior is model.prior


@pytest.mark.parametrize("prior", [tfp.distributions.Normal(0.0, 1.0), ds.Prior().patterns, {"": None}])
def test_a_prior_that_is_given_stands(prior):
    model = model_of(prior=prior)
    model.compile(**ds.methods.rws())
    assert model.run.step.prior is model.prior
    value, scales = prior_of(model)
    assert scales == (isinstance(prior, dict) and len(prior) > 1) and (value != 0.0) == (prior != {"": None})


def test_the_gradient_is_that_of_the_likelihood_and_the_scales_do_not_matter():
    """One step of plain ascent without a prior and with a flat one: the same weights, others under a given prior."""
    found = []
    for options in ({}, {"prior": {"": None}}, {"prior": tfp.distributions.Normal(0.0, 1.0)}):
        model = model_of(seed=3, **options)
        model.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), "nais", "wake", jit_compile=False)
        model.fit(X, batch_size=6, epochs=1, verbose=0)
        found.append([np.array(weight) for weight in model.generative.get_weights()])
    own, flat, given = (np.concatenate([weight.ravel() for weight in weights]) for weights in found)
    np.testing.assert_array_equal(own, flat)
    assert np.abs(own - given).max() > 1e-6


def test_a_saved_model_still_has_none_of_its_own(tmp_path):
    for number, (options, scales) in enumerate((({}, False), ({"prior": ds.Prior().patterns}, True))):
        model = model_of(**options)
        model.compile(**ds.methods.rws())
        model.save(tmp_path / f"{number}.keras")
        loaded = keras.saving.load_model(tmp_path / f"{number}.keras")
        assert prior_of(loaded)[1] == scales and loaded.prior.is_default != scales
        loaded.fit(X, batch_size=3, epochs=1, verbose=0)
        assert all(tf.math.is_finite(tf.reduce_sum(weight)) for weight in loaded.generative.get_weights())


def test_the_log_prior_on_tensorboard_is_that_of_the_method(tmp_path):
    """0 of a method that climbs, and that of the learnt scales where a prior was given."""
    for options in ({}, {"prior": ds.Prior().patterns}):
        folder = tmp_path / str(len(options))
        model = model_of(**options)
        model.compile(**ds.methods.rws(), jit_compile=False)
        model.fit(X, batch_size=3, epochs=1, verbose=0, callbacks=[ds.diagnostics.TensorBoard(folder)])
        names, values = zip(*((name, variable.value) for name, variable in model.generative.named_weights))
        expected = float(model.prior.log_prob(names, values, model.run.state.auxiliary)) if options else 0.0
        written = scalars_and_histograms(folder / "train")[0]["epoch_log_prior"]
        np.testing.assert_allclose(list(written.values()), [expected], rtol=1e-6)
        assert (expected != 0.0) == bool(options)
