"""Small models and their whole state, for the tests of the model.

Programs are compiled with XLA where a test is about the compiled loop, and left to TensorFlow elsewhere: it is the same
function.
"""

import keras
import numpy as np

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.pool import pooled

RATE = 0.05


def patterns(rows=90, seed=0):
    """Rows of three noisy prototypes of four pixels."""
    rng = np.random.default_rng(seed)
    prototypes = np.array([[0.9, 0.9, 0.1, 0.1], [0.1, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]])
    return (rng.random((rows, 4)) < prototypes[rng.integers(0, 3, rows)]).astype(np.float32)


@pooled
def compiled(jit_compile=False, latent_units=(2,), kernel=None, proposal=None, **arguments):
    """A compiled tiny model; the same arguments give the same model."""
    model = tiny_model(latent_units, units=4, seed=3, scale=0.3)
    model.compile(
        kernel=kernel or ds.mcmc.SGNHT(learning_rate=RATE),
        proposal=proposal or ds.proposals.Wake(keras.optimizers.Adam(1e-2)),
        jit_compile=jit_compile,
        **arguments,
    )
    return model


def state(model):
    """Everything that a resumed run needs, as arrays."""
    run = [variable.numpy() for name, variable in model.run.saved.items() if name not in ("identity", "refits")]
    optimizer = model.optimizer.variables if model.optimizer else []
    return [*model.get_weights(), *run, *[variable.numpy() for variable in optimizer]]


def assert_same_state(a, b):
    for one, other in zip(state(a), state(b), strict=True):
        np.testing.assert_array_equal(one, other)
