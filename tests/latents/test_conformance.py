"""Every latent sampler honours the contract of latents."""

import pytest

import tfdsmcmc as ds
from tests.conformance.latents import run_latents_test
from tests.oracles import randomize, tiny_model


@pytest.mark.parametrize("weights", ["importance", "uniform"])
def test_nais(weights):
    run_latents_test(lambda: ds.latents.NAIS(3, weights), tiny_model((2, 1), seed=1))


def test_nais_of_continuous_latents():
    model = ds.models.from_name("VAE 2", units=3, hidden_units=2)
    randomize(model.recognition, scale=0.3)
    run_latents_test(lambda: ds.latents.NAIS(3), model, binary=False)


@pytest.mark.parametrize("initial", ["recognition", pytest.param("prior", marks=pytest.mark.slow)])
def test_gibbs(initial):
    run_latents_test(lambda: ds.latents.Gibbs(3, burn_in=1, initial=initial), tiny_model((2, 1), seed=1))
