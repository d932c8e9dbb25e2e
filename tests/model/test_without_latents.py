"""Models of a data layer alone, such as the plain NADE: the likelihood is exact, and everything else works as ever."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import randomize

X = (np.random.default_rng(0).random((40, 6)) < [0.1, 0.4, 0.5, 0.6, 0.8, 0.9]).astype(np.float32)


def plain(name):
    model = ds.models.from_name(name, units=6, hidden_units=3, prior={"": None})
    randomize(model.generative, scale=0.5)
    return model


@pytest.mark.parametrize("name", ["NADE", "DARN", "SBN"])
def test_one_importance_sample_is_the_exact_likelihood(name):
    model = plain(name)
    assert model.generative.latent_units == [] and model.recognition.layers == []
    exact = model.generative.layers[-1].log_prob(X, np.zeros((40, 0), np.float32))
    np.testing.assert_allclose(ds.likelihood.exact(model, X).value, exact, rtol=1e-5)
    estimate = model.log_likelihood(X, num_samples=1)
    np.testing.assert_allclose(estimate.value, exact, rtol=1e-5)
    x, z = model.generative.sample(3, seed=0)
    assert x.shape == (3, 6) and z == [] and model.sample(3, probabilities=True).shape == (3, 6)


@pytest.mark.slow
def test_it_learns_keeps_and_averages(tmp_path):
    """Maximum likelihood of independent units is the logit of the mean, which the climb must reach."""
    model = plain("SBN")
    model.compile(kernel=ds.mcmc.MAP(optimizer=keras.optimizers.Adam(0.05)), jit_compile=False)
    model.fit(X, batch_size=40, epochs=300, verbose=0)
    mean = X.mean(0)
    np.testing.assert_allclose(model.generative.layers[-1].bias, np.log(mean / (1 - mean)), atol=0.02)

    model = plain("NADE")
    model.compile(**ds.methods.dsgnht_nais(0.05), jit_compile=False)
    collector = ds.posterior.Collector(tmp_path / "posterior", num_samples=2, burn_in=0, every=1)
    model.fit(X, batch_size=20, epochs=3, verbose=0, callbacks=[collector])
    predictive = ds.posterior.load(tmp_path / "posterior").log_likelihood(model, X, num_samples=1)
    assert np.isfinite(predictive.value).all()
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.log_likelihood(X, 1).value, model.log_likelihood(X, 1).value)


def test_there_is_nothing_for_gibbs_to_draw():
    with pytest.raises(ValueError, match="needs latent layers. Received: "):
        plain("NADE").compile(latents="gibbs")
