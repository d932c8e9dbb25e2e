"""Annealed importance sampling by enumeration: the laws of its runs as products of matrices, float64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states, log_sum, randomize
from tfdsmcmc.networks import evaluated_at

SBN, DARN, NADE, MLP = ds.layers.SBN, ds.layers.DARN, ds.layers.NADE, ds.layers.MLPBernoulli

# (generative layers, top first; recognition layers, data first): widths 2, 2, 3
KINDS = {
    "SBN": lambda: ([SBN(2), SBN(2), SBN(3)], [SBN(2), SBN(2)]),
    "DARN": lambda: ([DARN(2), DARN(2, ordering=[1, 0]), DARN(3)], [DARN(2), SBN(2)]),
    "NADE": lambda: ([NADE(2, hidden_units=2), SBN(2), NADE(3, hidden_units=2)], [SBN(2), NADE(2, hidden_units=2)]),
    "MLP": lambda: ([MLP(2), MLP(2, hidden_units=[2]), MLP(3, hidden_units=[2])], [MLP(2, hidden_units=[2]), MLP(2)]),
}


def model_of(layers, seed=5, scale=1.5):
    """A model with asymmetric random weights, whose programs are not compiled."""
    generative, recognition = layers
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(generative), ds.RecognitionNetwork(recognition))
    randomize(model, seed, scale)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.1), jit_compile=False)
    return model


def states_of(generative):
    """All latent states as a list of float32 tensors (S, H_l), nearest to the data first."""
    widths = generative.latent_units
    parts = np.split(binary_states(sum(widths)), np.cumsum(widths)[:-1], 1)
    return [tf.constant(part, tf.float32) for part in parts]


def log_table(model, path, beta, x):
    """log f_β of every state given one row, (S,)."""
    generative, recognition = model.generative, model.recognition
    z = states_of(generative)
    rows = tf.constant(np.repeat(x[None], len(z[0]), 0), tf.float32)
    variables = generative.trainable_variables
    scale = beta if path == "weights" else 1.0
    with evaluated_at(variables, [scale * v.numpy() for v in variables]):
        log_joint = generative.log_joint(rows, z).numpy().astype(np.float64)
        log_data = generative.layers[-1].log_prob(rows, z[0]).numpy().astype(np.float64)
    log_q = recognition.log_prob(z, rows).numpy().astype(np.float64)
    densities = {
        "prior": log_joint - log_data + beta * log_data,
        "recognition": (1 - beta) * log_q + beta * log_joint,
        "weights": log_joint,
    }
    return densities[path]


def sweep_matrix(log_f):
    """The transition matrix of one Gibbs sweep, unit after unit in the order of the states' digits."""
    states = len(log_f)
    total = np.eye(states)
    bit = states >> 1
    while bit:
        one = np.arange(states)
        other = one ^ bit
        moves = 1 / (1 + np.exp(log_f - log_f[other]))
        single = np.diag(1 - moves)
        single[one, other] = moves
        total, bit = total @ single, bit >> 1
    return total


class Moments(NamedTuple):
    """Of a run's weight w: its mean, standard deviation and largest value; the mean and deviation of log w."""

    mean: float
    deviation: float
    largest: float
    log_mean: float
    log_deviation: float


def moments(start, steps):
    """Of Σ log r along a chain.

    Args:
      start: (S,), the law of the first state.
      steps: list of (log r (S,), matrix of the transition that follows).
    """
    law, weight, square, first, second, largest = start, start, start, 0 * start, 0 * start, np.ones(len(start))
    for log_r, matrix in steps:
        r = np.exp(log_r)
        second = (second + 2 * log_r * first + log_r**2 * law) @ matrix
        first = (first + log_r * law) @ matrix
        weight, square, law = (weight * r) @ matrix, (square * r**2) @ matrix, law @ matrix
        # each entry of a sweep's matrix is above 0, a matrix of the identity keeps the state
        largest = (largest * r) if np.array_equal(matrix, np.eye(len(r))) else np.full(len(r), (largest * r).max())
    mean, log_mean = weight.sum(), first.sum()
    spread = np.sqrt(square.sum() - mean**2), np.sqrt(max(second.sum() - log_mean**2, 0.0))
    return Moments(mean, spread[0], largest.max(), log_mean, spread[1])


def run_moments(model, path, betas, x, direction="forward", moved_first=False):
    """Moments of a run's weight; `moved_first`, of the wrong run that moves to a density before it weighs for it."""
    tables = [log_table(model, path, beta, x) for beta in betas]
    matrices = [sweep_matrix(table) for table in tables]
    stay = np.eye(len(tables[0]))
    # "prior" and "recognition" begin as laws, "weights" as the uniform law times p(x; 0)
    log_start = np.full(len(stay), log_sum(tables[0]))
    pairs = range(1, len(betas))
    if direction == "reverse":
        steps = [(tables[t - 1] - tables[t], matrices[t - 1]) for t in reversed(pairs)]
        return moments(np.exp(tables[-1] - log_sum(tables[-1])), [*steps, (-log_start, stay)])
    ups = [tables[t] - tables[t - 1] for t in pairs]
    if moved_first:
        steps = [part for up, matrix in zip(ups, matrices[1:]) for part in ((0 * up, matrix), (up, stay))]
    else:
        steps = list(zip(ups, matrices[1:]))
    return moments(np.exp(tables[0] - log_sum(tables[0])), [(log_start, stay), *steps])


def posterior_draws(model, x, count, seed=0):
    """Exact draws from p(z given x): (list of arrays (count, H_l), their numbers among the states)."""
    table = log_table(model, "prior", 1.0, x)
    chosen = np.random.default_rng(seed).choice(len(table), count, p=np.exp(table - log_sum(table)))
    return [part.numpy()[chosen] for part in states_of(model.generative)], chosen
