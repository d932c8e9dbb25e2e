"""A tiny model, as a function that travels to workers."""

import numpy as np

import tfdsmcmc as ds

ROWS = (np.random.default_rng(0).random((60, 6)) < 0.4).astype(np.uint8)
COLLECTOR = {"num_samples": 3, "burn_in": 1, "every": 1, "average": "weights", "stop": False}


def make(seed):
    model = ds.models.from_name("SBN/SBN 3-2", units=6, seed=seed)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), latents=ds.latents.NAIS(2), num_chains=1, jit_compile=False)
    return model


def make_of_gaps(seed):
    """Whose chains over z draw what is missing."""
    model = ds.models.from_name("DARN/SBN 3", units=6, seed=seed)
    latents = ds.latents.Gibbs(1, 0, persistent=True, draw_missing=True)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), latents=latents, num_chains=1, jit_compile=False)
    return model


def fails_for_one(seed):
    """Of the seed 0 the second chain fails."""
    if seed == second_seed():
        raise RuntimeError("no disk")
    return make(seed)


def second_seed():
    random = ds.random
    return int(random.integers([], 2**31 - 1, random.fold(random.stream(0, "chains"), 1)))


def forgets_its_seed(seed):
    return make(0)


def with_frozen_weights_of_its_own(seed):
    model = ds.models.from_name("SBN 3", units=6, seed=seed)
    model.generative.layers[1].trainable = False
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), latents=ds.latents.NAIS(2), num_chains=1, jit_compile=False)
    return model


def with_frozen_weights_of_the_seed(seed):
    model = with_frozen_weights(seed)
    model.generative.layers[1].bias.assign(np.full(6, seed % 7))
    return model


def with_frozen_weights(seed):
    model = ds.models.from_name("SBN 3", units=6, seed=seed)
    model.generative.layers[1].trainable = False
    for weights in model.generative.layers[1].weights:
        weights.assign(np.full(weights.shape, 0.5))
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), latents=ds.latents.NAIS(2), num_chains=1, jit_compile=False)
    return model
