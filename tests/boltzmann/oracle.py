"""Exact answers for tiny Boltzmann machines: every state enumerated, float64, NumPy alone."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states, log_sum


def tiny_machine(units=4, hidden_units=3, seed=0, scale=1.0):
    """A `Machine` of asymmetric random weights."""
    rng = np.random.default_rng(seed)
    shapes = (units, hidden_units), (units,), (hidden_units,)
    return ds.boltzmann.Machine(*(tf.constant(rng.normal(0.2, scale, shape), tf.float32) for shape in shapes))


def tiny_rbm(units=4, hidden_units=3, seed=0, scale=1.0, **arguments):
    """An `RBM` with these weights, whose programs are not compiled."""
    rbm = ds.boltzmann.RBM(units, hidden_units, **arguments)
    for variable, value in zip(rbm.theta_variables, tiny_machine(units, hidden_units, seed, scale)):
        variable.assign(value)
    return rbm


class Enumerated:
    """All states of a machine.

    Attributes:
      v: (2^D, D).
      h: (2^M, M).
      log_joint: (2^D, 2^M), −E(v, h).
      log_z: log Z.
    """

    def __init__(self, machine):
        self.kernel, self.bias, self.hidden_bias = (np.asarray(part, np.float64) for part in machine)
        self.v, self.h = (binary_states(n).astype(np.float64) for n in self.kernel.shape)
        self.log_joint = self.v @ self.kernel @ self.h.T + (self.v @ self.bias)[:, None] + self.h @ self.hidden_bias
        self.log_z = log_sum(log_sum(self.log_joint))

    @property
    def joint(self):
        """p(v, h), (2^D, 2^M)."""
        return np.exp(self.log_joint - self.log_z)

    @property
    def log_unnormalized(self):
        """log p*(v), (2^D,)."""
        return log_sum(self.log_joint, 1)

    @property
    def gibbs(self):
        """The matrix of a full step, h given v and then v given h, (2^D, 2^D)."""
        given_v = np.exp(self.log_joint - log_sum(self.log_joint, 1)[:, None])
        given_h = np.exp(self.log_joint - log_sum(self.log_joint, 0))
        return given_v @ given_h.T

    def statistics(self, law):
        """E s(v, h) for v of a law (2^D,) and h given v: the parts of the gradient, of W, b and a."""
        joint = law[:, None] * np.exp(self.log_joint - log_sum(self.log_joint, 1)[:, None])
        return [self.v.T @ joint @ self.h, law @ self.v, joint.sum(0) @ self.h]
