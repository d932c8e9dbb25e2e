"""Chains that go on from one posterior sample to the next.

At posterior samples θ_m and θ_m+1 the laws p(x_missing, z given x_observed; θ) are much alike, and the end of a chain
at the first is a far better start at the second than noise is: few sweeps forget it. So M samples cost one long
burn-in and M − 1 short ones. The law at each θ is what it was. What is lost is that chains at different samples are
independent: of a mode that chains seldom leave there are as many starts as chains, not M times as many.

x goes on, and z is drawn from the recognition network given it: hidden units of another run may mean other things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc.imputation.plans import Part
    from tfdsmcmc.imputation.sweep_plan import SweepPlan


class ContinuedPlan(NamedTuple):
    """A `SweepPlan` of which a call takes two arguments more, where its chains go on from, and whether they start anew.

    Attributes:
      plan: `SweepPlan`.
      burn_in: sweeps of chains that go on before the first that counts.
    """

    plan: SweepPlan
    burn_in: int

    def __call__(self, *arguments: Any) -> tuple[tf.Tensor, ...]:
        *parts, rows, seed, fillings, fresh = arguments
        return self.plan.along(parts, rows, seed, fillings, fresh, tf.where(fresh, self.plan.burn_in, self.burn_in))

    def summary(self, results: Sequence[np.ndarray]) -> Part:
        return self.plan.summary(results)


class Chains:
    """Where the chains of each batch of rows are.

    Args:
      num_chains: for each row.
    """

    def __init__(self, num_chains: int):
        self._num_chains, self._fillings = num_chains, {}

    def moved(self, program: Callable[..., Any], number: int, batch: Any, seed: tf.Tensor) -> Any:
        """The results of the program of a `ContinuedPlan`, of which a batch's chains stand at the end afterwards.

        Args:
          program: of (rows, seed, fillings, fresh).
          number: of the batch.
          batch: its `Rows`.
          seed: int32 of shape (2,).
        """
        fresh = number not in self._fillings
        if fresh:
            self._fillings[number] = np.zeros([self._num_chains, *batch.values.shape], np.float32)
        results = program(batch, seed, self._fillings[number], fresh)
        self._fillings[number] = results[0][-self._num_chains :].numpy()  # of the states in their order the last ones
        return results
