"""Chains that go on from one posterior sample to the next.

At posterior samples θ_m and θ_m+1 of one run the laws p(x_missing, z given x_observed; θ) are much alike, and the end
of a chain at the first is a far better start at the second than noise is: few sweeps forget it. So M samples cost one
long burn-in and M − 1 short ones. Each kernel is what it was: chains at one θ would be one long chain.

What is lost is that chains at different samples are independent: of a mode that chains seldom leave there are as many
starts as chains, not M times as many. Where samples are of several runs, hidden units may mean other things in each,
and the short burn-in is then all that a change of runs has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest
    from tfdsmcmc.contract import Density
    from tfdsmcmc.imputation.sweep_plan import SweepPlan


class BegunPlan(NamedTuple):
    """The first states of the chains of a plan.

    Attributes:
      plan: `SweepPlan`.
    """

    plan: SweepPlan

    def __call__(self, *arguments: Any) -> Nest:
        *parts, rows, seed = arguments
        return self.plan.begun(parts, rows, seed)


class ContinuedPlan(NamedTuple):
    """A plan whose chains are somewhere: a call takes (x, z) and the sweeps before the first that counts besides.

    Attributes:
      plan: `SweepPlan`.
    """

    plan: SweepPlan

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        *parts, rows, seed, x, z, burn_in = arguments
        return self.plan.along(parts, rows, seed, x, z, burn_in)


class Chains:
    """Where the chains of each batch of rows are.

    Args:
      burn_in: sweeps of chains that go on before the first that counts.
    """

    def __init__(self, burn_in: int):
        self._burn_in, self._states = burn_in, {}

    def moved(self, density: Density, plan: SweepPlan, number: int, batch: Any, seed: tf.Tensor) -> tuple[Any, ...]:
        """The results of a plan, from where the chains of a batch were left, or from their start.

        Args:
          density: `contract.Density`.
          plan: `SweepPlan`.
          number: of the batch.
          batch: its `Rows`.
          seed: int32 of shape (2,).
        """
        burn_in = self._burn_in if number in self._states else plan.burn_in
        if number not in self._states:
            self._states[number] = density.program(BegunPlan(plan))(batch, seed)
        *results, x, z = density.program(ContinuedPlan(plan))(batch, seed, *self._states[number], tf.constant(burn_in))
        self._states[number] = tf.nest.map_structure(lambda part: part.numpy(), (x, z))  # not in a device's memory
        return tuple(results)
