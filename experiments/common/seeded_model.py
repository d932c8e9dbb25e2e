"""A model whose every draw follows from a seed, and whose data layer starts at the rates of the data."""

import keras

import tfdsmcmc as ds
from experiments.common.rows import log_odds


def seeded_model(architecture, train, seed, prior=None):
    """The model, not compiled, for rows such as `train`; `architecture` as in `models.from_name`."""
    keras.utils.set_random_seed(seed)
    return ds.models.from_name(architecture, train.shape[1], data_logits=log_odds(train), prior=prior, seed=seed)
