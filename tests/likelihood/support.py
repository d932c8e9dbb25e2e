"""Tiny models whose programs XLA does not compile, where XLA is not what is tested."""

import tfdsmcmc as ds
from tests.oracles import tiny_model


def quick_model(latent_units=(2,), **arguments):
    """`tests.oracles.tiny_model` without XLA."""
    model = tiny_model(latent_units, **arguments)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), jit_compile=False)
    return model
