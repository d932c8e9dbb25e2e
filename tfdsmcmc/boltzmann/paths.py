"""Paths of densities of the visible units that end at a restricted Boltzmann machine.

From a base-rate model, independent units with logits c, to a machine (W, b, a):

    log f_β(v) = (1 − β) c'v + β b'v + Σ_j log(1 + exp(β (a + v'W)_j))

    h ~ σ(β (a + v'W)),      v ~ σ((1 − β) c + β (b + W h))

f_1 = p*, and f_0(v) = 2^M exp(c'v), so that log Z_0 = M log 2 + Σ_i log(1 + exp c_i): the hidden units, which are
uniform at β = 0, are counted there too. From one machine A to another, B, with hidden units of both present throughout:

    log f_β(v) = (1 − β) b_A'v + Σ_j log(1 + exp((1 − β) (a_A + v'W_A)_j))
                     + β b_B'v + Σ_j log(1 + exp(β (a_B + v'W_B)_j))

At either end the units of the other machine are uniform: Z_0 = Z_A 2^M_B and Z_1 = Z_B 2^M_A, hence
log(Z_B/Z_A) = log(Z_1/Z_0) + (M_B − M_A) log 2.

Source: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 4; the
powers of 2 are derived here.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.annealing import Path
from tfdsmcmc.boltzmann.machine import softplus_increment, sum_softplus


class BaseRatePath(Path):
    """From independent units to a machine. A state is v, (n, D).

    Args:
      machine: `Machine`.
      base: c, (D,).
      num_runs: n.
    """

    def __init__(self, machine, base, num_runs):
        super().__init__(num_runs)
        self.machine, self.base = machine, base

    def start(self, seed):
        return random.bernoulli(self.base, seed, [self.num_runs])

    def log_start(self, state):
        """log Z_0: with it a run's weight has the mean Z."""
        hidden = float(self.machine.kernel.shape[1])
        return tf.fill([self.num_runs], sum_softplus(self.base) + hidden * tf.math.log(2.0))

    def log_density(self, beta, state):
        linear = tf.linalg.matvec(state, (1.0 - beta) * self.base + beta * self.machine.bias)
        return linear + sum_softplus(beta * self.machine.hidden_logits(state))

    def increment(self, before, after, state):
        linear = (after - before) * tf.linalg.matvec(state, self.machine.bias - self.base)
        return linear + softplus_increment(self.machine.hidden_logits(state), before, after)

    def move(self, beta, state, seed, step_size=None):
        units, hidden_units = self.machine.kernel.shape
        hidden, visible = random.open_uniforms(self.num_runs, [hidden_units, units], seed)
        # the product of v and W is the one that the weight of the next step is made of: compiled once
        h = random.bernoulli_of(beta * self.machine.hidden_logits(state), hidden)
        logits = (1.0 - beta) * self.base + beta * self.machine.visible_logits(h)
        return random.bernoulli_of(logits, visible), None


class MachinePath(Path):
    """From machine A to machine B. A state is v, (n, D).

    Args:
      first: `Machine`, A.
      second: `Machine`, B, as wide.
      num_runs: n.
      draws: function (seed) → v (n, D), draws of A.
    """

    def __init__(self, first, second, num_runs, draws):
        super().__init__(num_runs)
        self.first, self.second, self._draws = first, second, draws

    def start(self, seed):
        return self._draws(seed)

    def log_density(self, beta, state):
        linear = tf.linalg.matvec(state, (1.0 - beta) * self.first.bias + beta * self.second.bias)
        leaving = sum_softplus((1.0 - beta) * self.first.hidden_logits(state))
        return linear + leaving + sum_softplus(beta * self.second.hidden_logits(state))

    def increment(self, before, after, state):
        linear = (after - before) * tf.linalg.matvec(state, self.second.bias - self.first.bias)
        leaving = softplus_increment(self.first.hidden_logits(state), 1.0 - after, 1.0 - before)
        return linear - leaving + softplus_increment(self.second.hidden_logits(state), before, after)

    def move(self, beta, state, seed, step_size=None):
        widths = [self.first.kernel.shape[1], self.second.kernel.shape[1], self.first.kernel.shape[0]]
        first, second, visible = random.open_uniforms(self.num_runs, widths, seed)
        h = random.bernoulli_of((1.0 - beta) * self.first.hidden_logits(state), first)
        k = random.bernoulli_of(beta * self.second.hidden_logits(state), second)
        logits = (1.0 - beta) * self.first.visible_logits(h) + beta * self.second.visible_logits(k)
        return random.bernoulli_of(logits, visible), None
