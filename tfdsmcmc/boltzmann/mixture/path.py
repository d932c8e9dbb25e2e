"""The path from a mixture of Bernoulli products to a restricted Boltzmann machine.

With C components, u_c(v) = log π_c p(v given c) with logits l_c, and a machine (W, b, a),

    log f_β(v) = log Σ_c exp((1 − β) u_c(v)) − β log C + β b'v + Σ_j log(1 + exp(β (a + v'W)_j))

    h ~ σ(β (a + v'W)),      c ~ softmax((1 − β) u(v)),      v ~ σ((1 − β) l_c + β (b + W h))

f_0 = 2^M p(v) of the mixture, which is drawn from exactly, so that log Z_0 = M log 2; and f_1 = p*, as C equal terms
and −log C cancel. Of hidden units of another kind Γ_h(β x) stands for the sum, and Γ_h(0) for M log 2. The mixture is a
machine with one hidden unit of C values: the move is a Gibbs step of h and c together, and of v. A mixture that knows
the clusters of the data leaves less for the path to bridge than base rates.

Derived here; the path of two machines is that of Salakhutdinov and Murray, ICML 2008, section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.annealing import Path
from tfdsmcmc.boltzmann.mixture.draws import drawn, log_components
from tfdsmcmc.boltzmann.partition.paths import log_uncoupled
from tfdsmcmc.boltzmann.units.base import tempered

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, Seed, Weight
    from tfdsmcmc.boltzmann.machines.machine import Machine


class Mixture(NamedTuple):
    """The weights of a mixture, tensors.

    Attributes:
      log_shares: log π, (C,).
      logits: of the means, (C, D).
    """

    log_shares: Weight
    logits: Weight


class MixturePath(Path):
    """From a mixture to a machine. A state is v, (n, D).

    Args:
      machine: `Machine`.
      mixture: `Mixture`.
      num_runs: n.
    """

    machine: Machine
    mixture: Mixture

    def __init__(self, machine: Machine, mixture: Mixture, num_runs: int):
        super().__init__(num_runs)
        self.machine, self.mixture = machine, mixture

    def start(self, seed: Seed) -> tf.Tensor:
        return drawn(*self.mixture, self.num_runs, seed)[0]

    def log_start(self, state: tf.Tensor) -> tf.Tensor:
        """log Z_0: with it a run's weight has the mean Z."""
        return tf.fill([self.num_runs], log_uncoupled(self.machine))

    def log_density(self, beta: Number, state: tf.Tensor) -> tf.Tensor:
        leaving = tf.reduce_logsumexp((1.0 - beta) * log_components(*self.mixture, state), -1) - beta * self._log_count
        coming = beta * tf.linalg.matvec(state, self.machine.bias)
        return leaving + coming + self.machine.hidden.cumulant(*tempered(beta, self.machine.hidden_law(state)))

    def increment(self, before: Number, after: Number, state: tf.Tensor) -> tf.Tensor:
        """With d_c = max u − u_c ≥ 0 the components' part is −Δ max u + log(1 + Σ_c e^{−(1−β')d_c} (1 − e^{−Δd_c}) /
        Σ_c e^{−(1−β)d_c}), in which nothing overflows and no digits are lost however small Δ is."""
        delta, u = after - before, log_components(*self.mixture, state)
        largest = tf.reduce_max(u, -1)
        d = largest[:, tf.newaxis] - u
        grown = tf.reduce_sum(tf.exp(-(1.0 - after) * d) * -tf.math.expm1(-delta * d), -1)
        rest = tf.math.log1p(grown / tf.reduce_sum(tf.exp(-(1.0 - before) * d), -1))
        linear = delta * (tf.linalg.matvec(state, self.machine.bias) - largest - self._log_count)
        return linear + rest + self.machine.hidden.increment(before, after, *self.machine.hidden_law(state))

    def move(
        self,
        beta: Number,
        state: tf.Tensor,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[tf.Tensor, None]:
        units, hidden_units = self.machine.kernel.shape
        widths = [self.machine.hidden.num_uniforms(hidden_units), units, 1]
        hidden, visible, component = random.open_uniforms(self.num_runs, widths, seed)
        h = self.machine.hidden.draw(hidden, *tempered(beta, self.machine.hidden_law(state)))
        ends = tf.cumsum(tf.nn.softmax((1.0 - beta) * log_components(*self.mixture, state)), -1)
        c = tf.reduce_sum(tf.cast(ends[:, :-1] <= component * ends[:, -1:], tf.int32), -1)
        logits = (1.0 - beta) * tf.gather(self.mixture.logits, c) + beta * self.machine.visible_logits(h)
        return random.bernoulli_of(logits, visible), None

    @property
    def _log_count(self):
        return tf.math.log(float(self.mixture.log_shares.shape[0]))
