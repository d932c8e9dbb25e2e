"""Two Boltzmann machines over the same visible units, and the path from one to the other: no network, no data."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.oracles import binary_states
from tfdsmcmc import random
from tfdsmcmc.annealing import Path


class TwoMachines(Path):
    """f_β(v, h, k) = exp((1 − β) (b·v + c·h) + β (v'Wk + a·v + d·k)): from independent units, the hidden ones h, to a
    machine with couplings W and the hidden units k.

    A state is a dictionary of the visible units and of both machines' hidden ones; at the other end of the path each
    machine's hidden units are uniform. A transition draws the hidden units given v, and v given them.

    Args:
      num_runs: n.
      seed: of the weights.
    """

    def __init__(self, num_runs, seed=0):
        super().__init__(num_runs)
        rng = np.random.default_rng(seed)

        def normal(*shape):
            return tf.constant(rng.normal(0.2, 1.0, shape), tf.float32)

        self.coupling = normal(3, 2)
        self.visible = normal(3), normal(3)
        self.hidden = {"first": normal(1), "second": normal(2)}

    def start(self, seed):
        seeds = dict(zip(("visible", "first", "second"), tf.unstack(random.split(seed, 3))))
        logits = {"visible": self.visible[0], "first": self.hidden["first"], "second": tf.zeros([2])}
        return {name: random.bernoulli(logits[name], seeds[name], [self.num_runs]) for name in logits}

    def log_density(self, beta, state):
        v, h, k = state["visible"], state["first"], state["second"]
        first = _dot(v, self.visible[0]) + _dot(h, self.hidden["first"])
        second = tf.reduce_sum(tf.matmul(v, self.coupling) * k, -1) + _dot(v, self.visible[1])
        return (1.0 - beta) * first + beta * (second + _dot(k, self.hidden["second"]))

    def move(self, beta, state, seed, step_size=None):
        first, second, visible = tf.unstack(random.split(seed, 3))
        v = state["visible"]
        h = random.bernoulli((1.0 - beta) * tf.tile(self.hidden["first"][tf.newaxis], [self.num_runs, 1]), first)
        k = random.bernoulli(beta * (tf.matmul(v, self.coupling) + self.hidden["second"]), second)
        from_k = tf.matmul(k, self.coupling, transpose_b=True) + self.visible[1]
        v = random.bernoulli((1.0 - beta) * self.visible[0] + beta * from_k, visible)
        return {"visible": v, "first": h, "second": k}, None


class Tempered(TwoMachines):
    """The same, its first normaliser left in, and moved by single flips that Metropolis' rule takes or refuses."""

    def log_start(self, state):
        biases = (self.visible[0], self.hidden["first"], tf.zeros([2]))
        return tf.fill([self.num_runs], sum(tf.reduce_sum(tf.math.softplus(part)) for part in biases))

    def move(self, beta, state, seed, step_size=None):
        place_seed, accept_seed = tf.unstack(random.split(seed))
        flipped = tf.one_hot(random.integers([self.num_runs], 6, place_seed), 6)
        parts = dict(zip(("first", "second", "visible"), tf.split(flipped, [1, 2, 3], -1)))
        trial = {name: tf.abs(state[name] - parts[name]) for name in state}
        acceptance = tf.exp(tf.minimum(self.log_density(beta, trial) - self.log_density(beta, state), 0.0))
        taken = (random.open_uniform([self.num_runs], accept_seed) < acceptance)[:, tf.newaxis]
        return {name: tf.where(taken, trial[name], state[name]) for name in state}, acceptance


def all_states():
    """Every state of `TwoMachines`, (64, …)."""
    first, second, visible = np.split(binary_states(6).astype(np.float32), [1, 3], 1)
    return {"visible": tf.constant(visible), "first": tf.constant(first), "second": tf.constant(second)}


def log_partitions(path):
    """(log Z_0, log Z_1) by sums over the visible units alone, the hidden ones being summed out by hand."""
    v = binary_states(3)
    coupling, (b, a) = path.coupling.numpy(), (part.numpy() for part in path.visible)
    c, d = (path.hidden[name].numpy() for name in ("first", "second"))
    log_first = v @ b + np.logaddexp(0, c).sum() + 2 * np.log(2)
    log_second = v @ a + np.logaddexp(0, v @ coupling + d).sum(1) + np.log(2)
    return np.logaddexp.reduce(log_first), np.logaddexp.reduce(log_second)


def _dot(values, weights):
    return tf.linalg.matvec(values, weights)
