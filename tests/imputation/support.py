"""Tiny networks of every kind, and the exact law of their missing entries by enumeration."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states, randomize, state_numbers
from tfdsmcmc.model.density import NetworkDensity

SBN, DARN, NADE, MLP = ds.layers.SBN, ds.layers.DARN, ds.layers.NADE, ds.layers.MLPBernoulli
SHUFFLED = [2, 0, 3, 1]

# (generative layers, top first; recognition layers, data first)
NETWORKS = {
    "SBN": ([SBN(2), SBN(2), SBN(4)], [SBN(2), SBN(2)]),
    "DARN": ([DARN(2, ordering=[1, 0]), DARN(2), DARN(4, ordering=SHUFFLED)], [DARN(2), DARN(2)]),
    "MLPBernoulli": ([SBN(2), SBN(2), MLP(4, hidden_units=[3])], [SBN(2), SBN(2)]),
    "NADE": (
        [SBN(2), NADE(2, hidden_units=3), NADE(4, hidden_units=3, ordering=SHUFFLED)],
        [NADE(2, hidden_units=3), SBN(2)],
    ),
    "mixed": ([DARN(2), SBN(2), NADE(4, hidden_units=3)], [SBN(2), DARN(2)]),
    "no latent layers": ([DARN(4, ordering=SHUFFLED)], []),
}
ROW = np.array([1, 0, 0, 1], np.float32)
MASKS = {
    "some": np.array([False, True, False, True]),
    "first in order": np.array([True, False, True, False]),
    "all missing": np.zeros(4, bool),
}


class Pair:
    """What imputation needs of a model; its programs are left to TensorFlow."""

    uses_xla = False

    def __init__(self, generative, recognition):
        recognition.build((None, generative.units))
        self.generative, self.recognition = generative, recognition
        self.units, self.support = generative.units, generative.support

    def density(self, weights=None):
        return NetworkDensity(self, weights)


def pair(name, seed=3, scale=0.8):
    """The networks of a name, with asymmetric random weights; q has smaller ones, so that its weights are bounded."""
    generative, recognition = (
        [type(layer).from_config(layer.get_config()) for layer in layers] for layers in NETWORKS[name]
    )
    found = Pair(ds.GenerativeNetwork(generative), ds.RecognitionNetwork(recognition))
    randomize(found.generative, seed, scale)
    randomize(found.recognition, seed + 1, 0.3)
    return found


def joint(generative, row, mask):
    """(completions (C, D), z list of (S, H_l), log p(x, z) (S, C) in float64) of one row."""
    completions = binary_states(int((~mask).sum()))
    rows = np.repeat(row[None], len(completions), 0)
    rows[:, ~mask] = completions
    widths = generative.latent_units
    states = binary_states(sum(widths)).astype(np.float32)
    z = np.split(states, np.cumsum(widths)[:-1], axis=1) if widths else []
    log_joint = generative.log_joint(rows[None], [part[:, None] for part in z]).numpy().astype(np.float64)
    return rows, z, log_joint.reshape(-1, len(rows))


def missing(generative, row, mask):
    """(completions, their probabilities given what is observed, log p(x_observed))."""
    rows, _, log_joint = joint(generative, row, mask)
    log_p = np.logaddexp.reduce(log_joint, 0)
    log_observed = np.logaddexp.reduce(log_p)
    return rows, np.exp(log_p - log_observed), log_observed


def counts(x, mask):
    """How often each completion stands in x, (…, D)."""
    return np.bincount(state_numbers(np.asarray(x)[..., ~mask]).ravel(), minlength=2 ** int((~mask).sum()))


def copies(array, count):
    return tf.repeat(tf.constant(array)[None], count, 0)
