"""The density of a deep generative model at weights of its own or at others, see `contract.Density`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import random
from tfdsmcmc.annealing import annealed_importance_sampling
from tfdsmcmc.imputation.directed import imputation_plan, method_for
from tfdsmcmc.imputation.resampling import plan_resampling
from tfdsmcmc.likelihood import importance_sampling
from tfdsmcmc.programs import at_weights, compiled, values_of
from tfdsmcmc.rows import Rows, rows_in_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.imputation.directed import ImputationMethod
    from tfdsmcmc.imputation.plans import Plan
    from tfdsmcmc.imputation.settings import Settings
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike

_BLOCK_ENTRIES = 2**24  # floats of what a layer holds while it draws its units one by one: 64 MiB


class NetworkDensity:
    """p(x; θ) of two networks: estimates by importance samples, or by annealing.

    Args:
      model: `DeepGenerativeModel`.
      weights: pair (θ, φ) of lists of arrays; None for the model's own.

    Raises:
      ValueError: for weights of other shapes, or not finite.
    """

    def __init__(self, model: DirectedModel, weights: ThetaAndPhi | None = None):
        self.model = model
        self._values = None if weights is None else values_of(model, weights, "theta and phi of a sample")

    def log_likelihood(
        self,
        x: RowsLike,
        num_samples: int,
        seed: Seed,
        batch_size: int,
        warn: bool = True,
    ) -> LogLikelihood:
        return importance_sampling(self.model, x, num_samples, seed, batch_size, self._values, warn)

    def annealed_log_likelihood(self, x: RowsLike, seed: Seed, **annealing: Any) -> LogLikelihood:
        return annealed_importance_sampling(self.model, x, **annealing, seed=seed, weights=self._values)

    def sample(
        self, num_samples: int, seed: Seed, probabilities: bool = False, context: np.ndarray | None = None
    ) -> np.ndarray:  # fmt: skip
        most = max(1, _BLOCK_ENTRIES // max(layer.widest_drawn for layer in self.model.generative.layers))
        with at_weights(self.model, values_of(self.model, self._values)):
            blocks = [
                _block(
                    self.model.generative,
                    min(most, num_samples - first),
                    random.fold(seed, first),
                    probabilities,
                    None if context is None else context[first : first + most],
                )  # fmt: skip
                for first in range(0, num_samples, most)
            ]
        return np.concatenate(blocks)

    def rows(self, name: str, x: RowsLike, mask: ArrayLike | None = None) -> Rows:
        return rows_in_memory(name, x, self.model.units, self.model.support, mask, self.model.generative.context)

    def method_for(self, method: ImputationMethod) -> ImputationMethod:
        return method_for(self.model.generative, method)

    def imputation_plan(self, method: ImputationMethod, settings: Settings, batch_size: int) -> Plan:
        return imputation_plan(self.model.generative, method, settings, batch_size)

    def evidence_plan(self, num_samples: int, batch_size: int) -> Plan:
        return plan_resampling(self.model.generative, 1, num_samples, batch_size)

    def program(self, plan: Plan) -> Callable[..., Any]:
        program, values = compiled(self.model, (type(plan), plan), plan), values_of(self.model, self._values)
        return lambda *arguments: program(*values, *arguments)


def _block(generative, count, seed, probabilities, context):
    x, z = generative.sample(count, seed, context)
    if probabilities:
        x = generative.layers[-1].conditional_mean(x, generative.data_parents(Rows(x, context=context), z))
    return x.numpy()
