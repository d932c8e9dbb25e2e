"""Exact answers for machines of any units: all states, or a grid of real values, float64, NumPy alone.

Real units are summed over a grid of steps of 0.6 deviations to nine of them on either side of 0. The trapezoidal rule
errs by exp(−2π²/0.6²) = 10⁻²⁴ there, so a grid is as good as all states.
"""

from __future__ import annotations

import itertools

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import log_sum
from tfdsmcmc.boltzmann.machines.machine import machine_type
from tfdsmcmc.boltzmann.units import Binary, Categorical, Gaussian, Spin

STEP, REACH = 0.6, 9.0

# (kind, width)
KINDS = {
    "binary": (Binary(), 3),
    "spin": (Spin(), 2),
    "gaussian": (Gaussian(2.0), 2),
    "learnt gaussian": (Gaussian(1.5, learnt=True), 2),
    "categorical": (Categorical([3, 2]), 5),
}
PAIRS = list(itertools.product(KINDS, KINDS))


def layer_weights(kind, width, rng, scale=0.6):
    """Asymmetric random weights of a layer, its bias first, float32."""
    further = [rng.normal(value, 0.2, width) for value in kind.initial]
    return [part.astype(np.float32) for part in (rng.normal(0.2, scale, width), *further)]


def tiny_machine(visible, hidden, seed=0, scale=0.6):
    """A machine of two kinds of `KINDS`, whose weights are asymmetric and random; of two Gaussian layers small ones."""
    rng = np.random.default_rng([seed, *visible.encode(), *hidden.encode()])
    (kind, width), (hidden_kind, hidden_width) = KINDS[visible], KINDS[hidden]
    (bias, *further), (hidden_bias, *rest) = (layer_weights(*KINDS[name], rng) for name in (visible, hidden))
    small = 0.5 if "gaussian" in visible and "gaussian" in hidden else 1.0
    kernel = rng.normal(0.1, small * scale, (width, hidden_width)).astype(np.float32)
    parts = kernel, bias, hidden_bias, *further, *rest
    return machine_type(kind, hidden_kind)(*map(tf.constant, parts))


def tiny_rbm(visible, hidden, seed=0, scale=0.6, **arguments):
    """An `RBM` with these weights."""
    machine = tiny_machine(visible, hidden, seed, scale)
    rbm = ds.boltzmann.RBM(*machine.kernel.shape, visible=machine.visible, hidden=machine.hidden, **arguments)
    for variable, value in zip(rbm.theta_variables, machine):
        variable.assign(value)
    return rbm


def layer_table(kind, weights):
    """All states of a layer and log exp(−U) of each, with the weight of a grid's point: (S, width), (S,)."""
    bias, *further = (np.asarray(part, np.float64) for part in weights)
    if isinstance(kind, Gaussian):
        precision = np.exp(further[0]) if kind.learnt else np.full(len(bias), kind.precision)
        deviation = precision**-0.5
        steps = np.arange(-REACH, REACH + STEP / 2, STEP)
        states = np.array(list(itertools.product(*(steps * d for d in deviation))))
        return states, states @ bias - states**2 @ precision / 2 + np.log(STEP * deviation).sum()
    if isinstance(kind, Categorical):
        chosen = itertools.product(*(np.eye(size) for size in kind.groups))
        states = np.array([np.concatenate(parts) for parts in chosen])
    else:
        ends = {Binary: (0.0, 1.0), Spin: (-1.0, 1.0)}[type(kind)]
        states = np.array(list(itertools.product(ends, repeat=len(bias))))
    return states, states @ bias


class Table:
    """All states of a machine.

    Attributes:
      v: (S, D).
      h: (T, M).
      log_joint: (S, T), −E(v, h), with the weights of grids.
      log_z: log Z.
    """

    def __init__(self, machine):
        count = len(machine.visible.parameters)
        further, hidden_further = machine[3 : 3 + count], machine[3 + count :]
        self.visible, self.hidden = machine.visible, machine.hidden
        self.kernel = np.asarray(machine.kernel, np.float64)
        self.v, self.log_v = layer_table(machine.visible, (machine.bias, *further))
        self.h, self.log_h = layer_table(machine.hidden, (machine.hidden_bias, *hidden_further))
        self.further = [np.exp(np.float64(part)) for part in (*further, *hidden_further)]
        self.log_joint = self.v @ self.kernel @ self.h.T + self.log_v[:, None] + self.log_h
        self.log_unnormalized = log_sum(self.log_joint, 1)
        self.log_z = log_sum(self.log_unnormalized)

    @property
    def law(self):
        """p(v), (S,), of grids with their weights."""
        return np.exp(self.log_unnormalized - self.log_z)

    @property
    def given_v(self):
        """p(h given v), (S, T)."""
        return np.exp(self.log_joint - self.log_unnormalized[:, None])

    def statistics(self):
        """E[s(v, h) given v] of each v, (S, weights), in the order of the machine's weights."""
        h = self.given_v @ self.h
        parts = [(self.v[:, :, None] * h[:, None, :]).reshape(len(self.v), -1), self.v, h]
        precisions = iter(self.further)
        if self.visible.parameters:
            parts.append(-0.5 * self.v**2 * next(precisions))
        if self.hidden.parameters:
            parts.append(-0.5 * (self.given_v @ self.h**2) * next(precisions))
        return np.concatenate(parts, 1)

    def moments(self, function, law=None):
        """(mean, deviation) of a function of v, (S, …), under a law of v, by default the machine's own."""
        law, values = self.law if law is None else law, function(self.v)
        mean = law @ values
        return mean, np.sqrt(np.maximum(law @ values**2 - mean**2, 0.0))


def products(v):
    """v_i and v_i v_j, i ≤ j, (S, …): what tells laws of real values apart."""
    v = np.asarray(v, np.float64)
    rows, columns = np.triu_indices(v.shape[1])
    return np.concatenate([v, v[:, rows] * v[:, columns]], 1)


def places(v, states):
    """The place of each row among all states, (n,)."""
    table = {tuple(row): number for number, row in enumerate(states)}
    return np.array([table[tuple(row)] for row in np.asarray(v, np.float64)])
