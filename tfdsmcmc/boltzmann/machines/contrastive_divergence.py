"""Contrastive divergence: the gradient of a Boltzmann machine's likelihood, a positive minus a negative phase.

    ∇ log p(v) = E[s(v, h) given v] − E[s(v, h)],            s(v, h) = (v h', v, h), for W, b and a

The first expectation is known, with E[h given v] in place of h, of binary units σ(a + v'W); where units have further
parameters ϑ, s has ∇_ϑ log p*(v). The second is taken over the last states of Gibbs chains of T full steps, h given v
and v given h, all of them drawn; its h is summed out too:

    g = mean over rows s(v, E[h given v]) − mean over chains s(v_T, E[h given v_T]) + ∇ log p(θ)/N

Chains that start at the rows of the minibatch give CD-T, the gradient of no function, whose bias goes with growing T.
An optimizer may follow it; a kernel that samples the posterior by it samples something else. With s(v) for s(v, E[h
given v]) and rows of the law of a machine of weights θ, to first order in δ and but for the prior,

    E g at θ + δ = −(C_0 − C_T) δ,       C_t = Cov(s(v_0), s(v_t)) of the machine's own chain;   exact: −C_0 δ.

C_T is symmetric and positive semidefinite, as v to h to v is reversible. So CD-T pulls back too weakly, and samples
are too wide, by C_0/(C_0 − C_T) in variance. At strong weights the chain hardly moves, and C_T is almost C_0: of a
machine of 3 × 2 units, CD-1 leaves a twentieth of the pull in one direction, CD-3 a seventh
(`tests/boltzmann/test_fresh_chains.py`). Where no machine has the law of the rows, the drift need not be stable at all.

Persistent chains are carried by the run from step to step (`persistent=True`); their law follows the machine's where
it moves slowly, and g is then the gradient. That is what a kernel that samples is to be given.

Sources: Hinton, "Training products of experts by minimizing contrastive divergence", Neural Computation 14 (2002);
Tieleman, "Training restricted Boltzmann machines using approximations to the likelihood gradient", ICML 2008
(persistent chains); Salakhutdinov and Murray, ICML 2008, equation 7 and section 5 (T that grows in learning).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.priors import Prior
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Nest, Number, Seed, TensorLike
    from tfdsmcmc.rows.rows import Rows

FLAT: dict[str, None] = {"": None}


class Phases(NamedTuple):
    """What a gradient was made of.

    Attributes:
      data: (B, D), the visible units of the positive phase.
      chains: (P, D), those of the negative phase.
    """

    data: tf.Tensor
    chains: tf.Tensor


class Carry(NamedTuple):
    """What a gradient leaves for the next one.

    Attributes:
      particles: (P, D) float32, the persistent chains; (0, D) where there are none.
      epoch: int32 scalar, the passes over N rows that are done.
      minus_seen: int32 scalar, minus the rows seen of the pass that goes on, of which the last minibatch may have some
        twice. Runs of older versions have the rows of a minibatch here, above 0, and updates in place of epochs.
    """

    particles: tf.Tensor
    epoch: tf.Tensor
    minus_seen: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class GrowingSteps:
    """T = min(1 + ⌊epoch/every⌋, most), epochs counted from 0.

    Args:
      every: epochs between a growth and the next.
      most: the largest T.

    Raises:
      ValueError: for an argument that is no positive integer.
    """

    every: int
    most: int

    def __init__(self, every: int = 20, most: int = 25):
        self.every, self.most = checks.positive_integer("every", every), checks.positive_integer("most", most)

    def __call__(self, epoch: int | tf.Tensor) -> tf.Tensor:
        return tf.minimum(1 + epoch // self.every, self.most)

    def get_config(self) -> Config:
        return {"every": self.every, "most": self.most}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)


@keras.saving.register_keras_serializable("tfdsmcmc")
class ContrastiveDivergence(GradientEstimator):
    """CD-T or, with persistent chains, stochastic maximum likelihood.

    The metric `reconstruction_error` is the mean absolute difference of an entry of a row and of the end of the chain
    that started there, of binary units the fraction that differs; persistent chains have none.

    Args:
      steps: T, full Gibbs steps; a positive integer, or a function of the epoch, an int32 tensor counted from 0 since
        `compile`, that returns such a tensor: `lambda epoch: 1 + epoch // 20`, or `GrowingSteps(20, 25)`. An epoch is
        a pass of ⌈N/B⌉ minibatches, whatever `steps_per_epoch` is. A model is saved with a function that Keras can
        find again (`keras.saving.register_keras_serializable`), and no other.
      persistent: whether the chains of the negative phase go on from step to step.
      num_particles: P, the persistent chains.

    Raises:
      ValueError: for arguments out of range.
    """

    steps: int | Callable[[Any], Any]
    prior: Prior
    lifted: Callable[..., tf.Tensor] | None
    kind: type[Machine]

    def __init__(
        self,
        steps: int | Callable[[Any], Any] | dict[str, Any] = 1,
        persistent: bool = False,
        num_particles: int = 100,
    ):
        self.steps = keras.saving.deserialize_keras_object(steps) if isinstance(steps, dict) else steps
        first = self.steps(tf.constant(0)) if callable(self.steps) else self.steps
        if callable(self.steps):
            first = np.asarray(first)
            first = int(first) if first.shape == () and first.dtype.kind in "iu" else first
        if isinstance(first, bool) or not isinstance(first, (int, np.integer)) or first < 1:
            raise ValueError(f"steps must be positive integers, at epoch 0 too. Received: steps={first!r}")
        self.persistent: bool = checks.boolean("persistent", persistent)
        self.num_particles: int = checks.positive_integer("num_particles", num_particles)
        self.carries: Literal["row", "run"] | None = "run" if persistent or callable(self.steps) else None
        self.metric_names: tuple[str, ...] = () if persistent else ("reconstruction_error",)
        self.prior, self.lifted, self.kind = Prior(FLAT), None, Machine

    def of(
        self,
        prior: Prior,
        lifted: Callable[..., tf.Tensor] | None = None,
        kind: type[Machine] = Machine,
    ) -> ContrastiveDivergence:
        """The same estimator for a prior of the weights, rows that lie below the machine, and units of another kind.

        Args:
          prior: `Prior`, of weights named as the fields of the machine, "kernel", "bias", "hidden_bias", ….
          lifted: function (rows (B, …), seed) → the visible units (B, D) that they are learnt as, drawn anew in each
            step; None where the rows are the visible units.
          kind: the class of the machine, of `machine_type`.
        """
        twin = copy.copy(self)
        twin.prior, twin.lifted, twin.kind = prior, lifted, kind
        return twin

    def gradient(
        self,
        weights: Sequence[tf.Tensor],
        x: TensorLike | Rows,
        num_rows: Number,
        auxiliary: Sequence[tf.Tensor],
        carry: Nest,
        seed: Seed,
        prior_weight: Number = 1.0,
    ) -> tuple[list[tf.Tensor], Nest, Nest]:
        machine = self.kind(*weights)
        phases, moved = self._draw(machine, x, num_rows, carry, seed)
        gradients = difference(machine, phases)
        if not (tf.is_tensor(prior_weight) or prior_weight):
            return gradients, phases, moved
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(list(weights))
            prior = prior_weight * self.prior.log_prob(self.kind._fields, weights, auxiliary) / num_rows
        slopes = tape.gradient(prior, list(weights), unconnected_gradients="zero")
        return [g + slope for g, slope in zip(gradients, slopes)], phases, moved

    def start(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows | None, seed: Seed) -> Nest:
        machine, count = self.kind(*weights), self.num_particles if self.persistent else 0
        particles = machine.visible.drawn(seed, count, *machine.visible_natural)
        return Carry(particles, tf.constant(0), tf.constant(0))

    def metrics(self, draws: Nest) -> dict[str, tf.Tensor]:
        if self.persistent:
            return {}
        return {"reconstruction_error": tf.reduce_mean(tf.abs(draws.data - draws.chains))}

    def get_config(self) -> Config:
        steps = self.steps
        if callable(steps):
            if getattr(steps, "__name__", "") == "<lambda>":
                raise ValueError(
                    "A lambda cannot be saved: register a function with keras.saving.register_keras_serializable, or "
                    f"use GrowingSteps. Received: steps={steps!r}"
                )
            steps = keras.saving.serialize_keras_object(steps)
        return {"steps": steps, "persistent": self.persistent, "num_particles": self.num_particles}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)

    def _draw(self, machine, x, num_rows, carry, seed):
        """(`Phases`, carry)."""
        row_seed, chain_seed = tf.unstack(random.split(seed))
        data = x if self.lifted is None else self.lifted(x, row_seed)
        start = carry.particles if self.persistent else data
        carry = None if carry is None else _of_this_version(carry, num_rows)
        chains = machine.gibbs(start, self._steps(carry), chain_seed)
        if carry is not None:
            seen = tf.shape(x)[0] - carry.minus_seen
            done = tf.cast(seen, tf.float64) >= tf.cast(num_rows, tf.float64)
            carry = carry._replace(epoch=carry.epoch + tf.cast(done, tf.int32), minus_seen=-tf.where(done, 0, seen))
            carry = carry._replace(particles=chains) if self.persistent else carry
        return Phases(data, chains), carry

    def _steps(self, carry):
        """T, as an integer where it is one."""
        if not callable(self.steps):
            return self.steps
        return tf.maximum(tf.cast(self.steps(carry.epoch), tf.int32), 1)


def _of_this_version(carry, num_rows):
    """The carry, or what stands for one of an older version: its updates in whole passes."""
    old = carry.minus_seen > 0
    updates = tf.math.ceil(num_rows / tf.cast(tf.maximum(carry.minus_seen, 1), tf.float32))
    epoch = tf.where(old, carry.epoch // tf.cast(updates, tf.int32), carry.epoch)
    return carry._replace(epoch=epoch, minus_seen=tf.minimum(carry.minus_seen, 0))


def difference(machine: Machine, phases: Phases) -> list[tf.Tensor]:
    """The mean of s(v, E[h given v]) over the data less that over the chains, in the order of the weights."""
    v = tf.concat([phases.data, phases.chains], 0)
    h = tf.concat([machine.hidden.mean(*machine.hidden_law(part)) for part in phases], 0)
    counts = [tf.shape(part)[0] for part in phases]
    shares = [tf.fill([1, n], sign / tf.cast(n, v.dtype)) for n, sign in zip(counts, (1.0, -1.0))]
    # all as products: XLA on a CPU sums slowly over a leading axis
    share = tf.concat(shares, 1)
    linear = tf.matmul(v, tf.transpose(share) * h, transpose_a=True), tf.matmul(share, v)[0], tf.matmul(share, h)[0]
    return [*linear, *_further_slopes(machine, v, share)]


def _further_slopes(machine, v, share):
    """The gradient of Σ_n share_n log p*(v_n) in the parameters beside W and the biases."""
    further = list(machine[3:])
    if not further:
        return []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(further)
        total = tf.linalg.matvec(share, machine._make([*machine[:3], *further]).unnormalized_log_prob(v))
    return tape.gradient(total, further)
