"""Imputation by Boltzmann machines, deep belief networks and mixtures: kernels of `imputation.sweep_plan`.

    RBM         h given v, then v_missing given h                                       block Gibbs sampling
    DBN         each unit of the lower hidden layers given all else, the topmost layer and v_missing at once
    mixture     c given v_observed, then v_missing given c                              independent draws

The means of v_missing given h, or given c, count for the probabilities. All three leave p(v_missing, h given
v_observed) invariant; that of a mixture is drawn from exactly. Programs are kept by kernel: each is one object.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.boltzmann.deep.sweeps import sweep_hidden
from tfdsmcmc.boltzmann.machines.machine import sum_softplus
from tfdsmcmc.boltzmann.machines.sampling import fieldless
from tfdsmcmc.imputation.sweep_plan import Move

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.rows.rows import Rows


class MachineKernel:
    """Block Gibbs sampling; the one part is a `Machine`, z is [h]."""

    proposes = False

    def start(self, machine: Machine, rows: Rows, seed: Seed) -> tuple[Rows, list[tf.Tensor]]:
        visible_seed, hidden_seed = tf.unstack(random.split(seed))
        v = _kept(rows, fieldless(machine, tf.shape(rows.values)[0], visible_seed))
        return rows._replace(values=v), [self._hidden(machine, v, hidden_seed)]

    def sweep(
        self,
        machine: Machine,
        rows: Rows,
        z: Sequence[tf.Tensor],
        seed: Seed,
    ) -> Move:
        visible_seed, hidden_seed = tf.unstack(random.split(seed))
        drawn = machine.visible.drawn(visible_seed, tf.shape(z[0])[0], *machine.visible_law(z[0]))
        v = _kept(rows, drawn)
        return Move(rows._replace(values=v), [self._hidden(machine, v, hidden_seed)])

    def expected(self, machine: Machine, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        return _kept(rows, machine.visible.mean(*machine.visible_law(z[0])))

    def _hidden(self, machine, v, seed):
        return machine.hidden.drawn(seed, tf.shape(v)[0], *machine.hidden_law(v))

    def log_density(self, machine: Machine, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        return machine.unnormalized_log_prob(rows.values)


class StackKernel:
    """Gibbs sweeps of a deep belief network of binary units; the one part is a `deep.Stack` of two machines or more."""

    proposes = False

    def start(self, stack: Stack, rows: Rows, seed: Seed) -> tuple[Rows, list[tf.Tensor]]:
        rows, own = _filled(rows, seed)
        return rows, deep.ascended(stack, rows.values, own)[1:]

    def sweep(self, stack: Stack, rows: Rows, z: Sequence[tf.Tensor], seed: Seed) -> Move:
        hidden_seed, visible_seed = tf.unstack(random.split(seed))
        _, *z = sweep_hidden(stack, [rows.values, *z], 1.0, hidden_seed)
        v = _kept(rows, _bits(stack.machines[0].visible_logits(z[0]), visible_seed))
        return Move(rows._replace(values=v), z)

    def expected(self, stack: Stack, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        return _kept(rows, tf.sigmoid(stack.machines[0].visible_logits(z[0])))

    def log_density(self, stack: Stack, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        return deep.heights(stack, [rows.values, *z])


class MixtureKernel:
    """Independent draws of a mixture; its parts are log π and the logits of μ, z is [log p(c given v_observed)]."""

    proposes, independent = False, True

    def start(self, log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows, seed: Seed) -> tuple[Rows, list[tf.Tensor]]:
        log_joint = observed_log_joint(log_shares, logits, rows)
        z = [tf.nn.log_softmax(log_joint)]
        return self.sweep(log_shares, logits, rows, z, seed)[:2]

    def sweep(
        self,
        log_shares: tf.Tensor,
        logits: tf.Tensor,
        rows: Rows,
        z: Sequence[tf.Tensor],
        seed: Seed,
    ) -> Move:
        component_seed, unit_seed = tf.unstack(random.split(seed))
        uniform = random.open_uniform(tf.shape(z[0]), component_seed)
        chosen = tf.argmax(z[0] - tf.math.log(-tf.math.log(uniform)), 1)
        return Move(rows._replace(values=_kept(rows, _bits(tf.gather(logits, chosen), unit_seed))), z)

    def expected(self, log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        return _kept(rows, tf.matmul(tf.exp(z[0]), tf.sigmoid(logits)))

    def log_density(self, log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        log_joint = log_shares + tf.matmul(rows.values, logits, transpose_b=True) - sum_softplus(logits)
        return tf.reduce_logsumexp(log_joint, 1)


def log_evidence(log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows, seed: Seed) -> tf.Tensor:
    """log p(v_observed) of a mixture, (n,)."""
    return tf.reduce_logsumexp(observed_log_joint(log_shares, logits, rows), 1)


def observed_log_joint(log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows) -> tf.Tensor:
    """log π_c p(v_observed given c), (n, C)."""
    observed = tf.cast(rows.observed, tf.float32)
    ones = tf.where(rows.observed, rows.values, 0.0)
    normaliser = tf.matmul(observed, tf.nn.softplus(logits), transpose_b=True)
    return log_shares + tf.matmul(ones, logits, transpose_b=True) - normaliser


def _filled(rows, seed):
    """(rows with fair coins in the gaps, a seed that is left)."""
    coin_seed, own = tf.unstack(random.split(seed))
    return rows._replace(values=_kept(rows, random.bernoulli(tf.zeros_like(rows.values), coin_seed))), own


def _kept(rows, drawn):
    return tf.where(rows.observed, rows.values, drawn)


def _bits(logits, seed):
    return random.bernoulli(logits, seed)
