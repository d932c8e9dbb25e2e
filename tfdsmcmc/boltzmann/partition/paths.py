"""Paths of densities of the visible units that end at a restricted Boltzmann machine.

From a base-rate model, independent units with natural parameters ζ, to a machine with those η and a field x = a + v'W
of its hidden units, see `boltzmann.units` for t, Γ and what they are in each kind:

    log f_β(v) = Σ_k ((1 − β) ζ_k + β η_k)·t_k(v) + Γ_h(β x)

    h ~ p(h given β x),      v ~ p(v given (1 − β) ζ + β (b + W h, η_2, …))

f_1 = p*, and f_0(v) = exp(Γ_h(0) + Σ_k ζ_k·t_k(v)), so that log Z_0 = Γ_h(0) + Γ_v(ζ): the hidden units, which have the
law of no field at β = 0, are counted there too. Of binary units, with logits c and M hidden units:

    log f_β(v) = (1 − β) c'v + β b'v + Σ_j log(1 + exp(β (a + v'W)_j))

    h ~ σ(β (a + v'W)),      v ~ σ((1 − β) c + β (b + W h))

    f_0(v) = 2^M exp(c'v),      log Z_0 = M log 2 + Σ_i log(1 + exp c_i)

From one machine A to another, B, of the same visible units, with hidden units of both present throughout:

    log f_β(v) = Σ_k ((1 − β) η_k^A + β η_k^B)·t_k(v) + Γ_A((1 − β) x_A) + Γ_B(β x_B)

At either end the units of the other machine have no field: Z_0 = Z_A exp(Γ_B(0)) and Z_1 = Z_B exp(Γ_A(0)), hence
log(Z_B/Z_A) = log(Z_1/Z_0) + Γ_B(0) − Γ_A(0), of binary units log(Z_1/Z_0) + (M_B − M_A) log 2.

Where all units are Gaussian, f_β has a normaliser for every β if it has one at both ends: the precision of v is
(1 − β) Γ_ζ + β Γ_η − β² W W'/γ_h, at least (1 − β) Γ_ζ + β (Γ_η − W W'/γ_h) as β² ≤ β.

Source: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 3; the
powers of 2, and what is said of other units, are derived here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.annealing import Path
from tfdsmcmc.boltzmann.units.base import between, tempered

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, Seed
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.units.base import Units


class BaseRatePath(Path):
    """From independent units to a machine. A state is v, (n, D).

    Args:
      machine: `Machine`.
      base: the bias of the independent units, (D,), or a list of it and their further parameters.
      num_runs: n.
    """

    machine: Machine
    visible: Units
    hidden: Units
    base: Any

    def __init__(self, machine: Machine, base: Any, num_runs: int):
        super().__init__(num_runs)
        self.machine, self.visible, self.hidden = machine, machine.visible, machine.hidden
        self.base = self.visible.natural(*(base if isinstance(base, (list, tuple)) else [base]))

    def start(self, seed: Seed) -> tf.Tensor:
        return self.visible.drawn(seed, self.num_runs, *self.base)

    def log_start(self, state: tf.Tensor) -> tf.Tensor:
        """log Z_0: with it a run's weight has the mean Z."""
        return tf.fill([self.num_runs], self.visible.cumulant(*self.base) + log_uncoupled(self.machine))

    def log_density(self, beta: Number, state: tf.Tensor) -> tf.Tensor:
        natural = between(beta, self.base, self.machine.visible_natural)
        hidden = self.hidden.cumulant(*tempered(beta, self.machine.hidden_law(state)))
        return self.visible.log_measure(state, natural) + hidden

    def increment(self, before: Number, after: Number, state: tf.Tensor) -> tf.Tensor:
        linear = (after - before) * self.visible.log_ratio(state, self.base, self.machine.visible_natural)
        return linear + self.hidden.increment(before, after, *self.machine.hidden_law(state))

    def move(
        self,
        beta: Number,
        state: tf.Tensor,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[tf.Tensor, None]:
        hidden, visible = self.machine.uniforms(self.num_runs, seed)
        # the product of v and W is the one that the weight of the next step is made of: compiled once
        h = self.hidden.draw(hidden, *tempered(beta, self.machine.hidden_law(state)))
        law = between(beta, self.base, self.machine.visible_law(h))
        return self.visible.draw(visible, *law), None


class MachinePath(Path):
    """From machine A to machine B. A state is v, (n, D).

    Args:
      first: `Machine`, A.
      second: `Machine`, B, with as many visible units of the same kind.
      num_runs: n.
      draws: function (seed) → v (n, D), draws of A.
    """

    first: Machine
    second: Machine

    def __init__(self, first: Machine, second: Machine, num_runs: int, draws: Callable[[Any], tf.Tensor]):
        super().__init__(num_runs)
        self.first, self.second, self._draws = first, second, draws

    def start(self, seed: Seed) -> tf.Tensor:
        return self._draws(seed)

    def log_density(self, beta: Number, state: tf.Tensor) -> tf.Tensor:
        natural = between(beta, self.first.visible_natural, self.second.visible_natural)
        leaving = self.first.hidden.cumulant(*tempered(1.0 - beta, self.first.hidden_law(state)))
        coming = self.second.hidden.cumulant(*tempered(beta, self.second.hidden_law(state)))
        return self.first.visible.log_measure(state, natural) + leaving + coming

    def increment(self, before: Number, after: Number, state: tf.Tensor) -> tf.Tensor:
        ends = self.first.visible_natural, self.second.visible_natural
        linear = (after - before) * self.first.visible.log_ratio(state, *ends)
        leaving = self.first.hidden.increment(1.0 - after, 1.0 - before, *self.first.hidden_law(state))
        return linear - leaving + self.second.hidden.increment(before, after, *self.second.hidden_law(state))

    def move(
        self,
        beta: Number,
        state: tf.Tensor,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[tf.Tensor, None]:
        a, b = self.first, self.second
        (units, count), other = a.kernel.shape, b.kernel.shape[1]
        widths = [a.hidden.num_uniforms(count), b.hidden.num_uniforms(other), a.visible.num_uniforms(units)]
        first, second, visible = random.open_uniforms(self.num_runs, widths, seed)
        h = a.hidden.draw(first, *tempered(1.0 - beta, a.hidden_law(state)))
        k = b.hidden.draw(second, *tempered(beta, b.hidden_law(state)))
        return a.visible.draw(visible, *between(beta, a.visible_law(h), b.visible_law(k))), None


def log_uncoupled(machine: Machine) -> tf.Tensor:
    """Γ_h(0), a scalar: what the hidden units add to log Z_0 where they have no field."""
    field, *rest = machine.hidden_natural
    return machine.hidden.cumulant(tf.zeros_like(field), *rest)
