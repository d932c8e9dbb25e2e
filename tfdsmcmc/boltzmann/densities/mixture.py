"""The density of a mixture of products of Bernoulli distributions, which is exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.boltzmann.densities.base import UndirectedDensity, check_annealing
from tfdsmcmc.boltzmann.imputation import MixtureKernel, log_evidence
from tfdsmcmc.boltzmann.mixture.draws import drawn, log_likelihood
from tfdsmcmc.boltzmann.partition.estimates import LogPartition
from tfdsmcmc.boltzmann.served import ServedMixture
from tfdsmcmc.imputation.plans import Part

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis
    from tfdsmcmc.imputation.plans import Plan
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows

_KERNEL = MixtureKernel()


class MixtureDensity(UndirectedDensity):
    """p(v) of a mixture of products of Bernoulli distributions, exact.

    Args:
      mixture: `MixtureOfBernoullis`.
      log_shares: log π, (C,), checked.
      logits: of μ, (C, D), checked.
    """

    _kernel = _KERNEL
    served: ServedMixture = ServedMixture()

    def __init__(self, mixture: MixtureOfBernoullis, log_shares: tf.Tensor, logits: tf.Tensor):
        super().__init__(mixture)
        # a mean of several log π is not normalised
        self.parts: list[tf.Tensor] = [tf.nn.log_softmax(log_shares), logits]

    def log_likelihood(
        self,
        x: RowsLike,
        num_samples: int,
        seed: Seed,
        batch_size: int,
        warn: bool = True,
    ) -> LogLikelihood:
        """log p(x) of each row, however many samples."""
        return log_likelihood(*self.parts, self.model.source_to_estimate(x), batch_size, self.model.uses_xla)

    def annealed_log_likelihood(
        self,
        x: RowsLike,
        seed: Seed,
        batch_size: int = 1000,
        **annealing: Any,
    ) -> LogLikelihood:
        """log p(x) of each row: nothing is left to anneal."""
        check_annealing(None, annealing)
        return self.log_likelihood(x, 1, seed, batch_size)

    def sample(self, num_samples: int, seed: Seed, probabilities: bool = False) -> np.ndarray:
        v, means = drawn(*self.parts, num_samples, random.stream(seed, "sample"))
        return (means if probabilities else v).numpy()

    def known_partition(self) -> LogPartition:
        """That of a normalised density: log Z = 0."""
        return LogPartition(0.0, 0.0, (0.0, 0.0), np.inf)

    def evidence_plan(self, num_samples: int, batch_size: int) -> Plan:
        return ExactEvidence()


class ExactEvidence(NamedTuple):
    """A plan: log p(v_observed) of a mixture."""

    def __call__(self, log_shares: tf.Tensor, logits: tf.Tensor, rows: Rows, seed: Seed) -> tuple[tf.Tensor]:
        return (log_evidence(log_shares, logits, rows, seed),)

    def summary(self, results: Sequence[np.ndarray]) -> Part:
        (value,) = results
        nothing = np.zeros((len(value), 1))
        return Part(nothing, nothing, value, None, value)
