"""Models that climb before they sample, and short runs of them."""

import keras

import tfdsmcmc as ds
from tests.model.support import patterns
from tests.oracles import flat, tiny_model

LEARNT = {"bias": None, "": ds.priors.Horseshoe(1.0, 0.03, True, "parent")}


def model_of(prior=None, num_chains=1, jit_compile=False, latents=None, kernel_steps=1, **arguments):
    model = tiny_model((2,), units=4, seed=3, scale=0.3, prior=prior)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=0.1), **arguments)
    proposal = ds.proposals.Wake(keras.optimizers.Adam(0.01))
    latents = latents or ds.latents.NAIS(3)
    model.compile(kernel, latents, proposal, jit_compile=jit_compile, num_chains=num_chains, kernel_steps=kernel_steps)
    return model


def flat_chains(model):
    """θ of each chain, one after the other."""
    count = len(model.theta_variables)
    return [flat(weights[:count]) for weights in model.run.weights]


def fit(model, until, start=0, **arguments):
    """Epochs of three updates."""
    return model.fit(patterns(), batch_size=30, epochs=until, initial_epoch=start, verbose=0, **arguments)
