"""Tables of columns, all rows of one of them, and models at random weights."""

import itertools

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states, log_sum, randomize
from tfdsmcmc.columns import Binary, Categorical, Count, Ordinal, Real

NAN = np.nan
FINITE = [Ordinal(3), Binary(), Categorical(3)]
# all 18 rows of `FINITE`
STATES = [np.concatenate(parts) for parts in itertools.product(np.eye(3), [[0], [1]], np.eye(3))]
STATES = np.array(STATES, np.float32)
TABLE = [Real(), Ordinal(3), Count(typical=2.0), Binary(), Categorical(3)]
FIRST, SECOND = [0.3, 0, 1, 0, 2, 1, 0, 0, 1], [-1.2, 1, 0, 0, 11, 0, 1, 0, 0]
GAPPY = [[0.3, NAN, NAN, NAN, 2, 1, 0, 0, 1], [NAN, 1, 0, 0, NAN, 0, NAN, NAN, NAN], [NAN] * 9]


def model_of(columns, latent=(2,), seed=0, scale=1.0, **arguments):
    """SBN layers above a `Mixed` one, at random weights."""
    generative = [*(ds.layers.SBN(units) for units in reversed(latent)), ds.layers.Mixed(columns, **arguments)]
    recognition = ds.RecognitionNetwork([ds.layers.SBN(units) for units in latent])
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(generative), recognition)
    randomize(model, seed, scale)
    return model


def enumerated(model, row):
    """(log p(x_observed), p(state given x_observed) (18,)) of a row of `FINITE`, by sums over z and all rows."""
    prior, data = model.generative.layers
    z = binary_states(prior.units).astype(np.float32)
    joint = prior.log_prob(z, tf.zeros([0])).numpy() + data.log_prob(STATES[:, None], z).numpy()
    joint = log_sum(joint.astype(np.float64), 1)
    joint = np.where((np.isnan(row) | (STATES == row)).all(1), joint, -np.inf)
    return log_sum(joint), np.exp(joint - log_sum(joint))
