"""The density of a mixture of products of Bernoulli distributions, which is exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.densities.base import UndirectedDensity
from tfdsmcmc.boltzmann.estimates import LogPartition
from tfdsmcmc.boltzmann.imputation import MixtureKernel, log_evidence
from tfdsmcmc.boltzmann.mixture_draws import drawn, log_likelihood
from tfdsmcmc.boltzmann.served import ServedMixture
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.imputation.plans import Part

_KERNEL = MixtureKernel()


class MixtureDensity(UndirectedDensity):
    """p(v) of a mixture of products of Bernoulli distributions, exact.

    Args:
      mixture: `MixtureOfBernoullis`.
      log_shares: log π, (C,), checked.
      logits: of μ, (C, D), checked.
    """

    _kernel = _KERNEL
    served = ServedMixture()

    def __init__(self, mixture, log_shares, logits):
        super().__init__(mixture)
        self.parts = [tf.nn.log_softmax(log_shares), logits]  # a mean of several log π is not normalised

    def log_likelihood(self, x, num_samples, seed, batch_size, warn=True) -> LogLikelihood:
        """log p(x) of each row, however many samples."""
        return log_likelihood(*self.parts, self.source(x), batch_size, self.model.uses_xla)

    def annealed_log_likelihood(self, x, seed, batch_size=1000, **annealing) -> LogLikelihood:
        """log p(x) of each row: nothing is left to anneal."""
        return self.log_likelihood(x, 1, seed, batch_size)

    def sample(self, num_samples, seed, probabilities=False):
        v, means = drawn(*self.parts, num_samples, random.stream(seed, "sample"))
        return (means if probabilities else v).numpy()

    def known_partition(self):
        """That of a normalised density: log Z = 0."""
        return LogPartition(0.0, 0.0, (0.0, 0.0), np.inf)

    def evidence_plan(self, num_samples, batch_size):
        return ExactEvidence()


class ExactEvidence(NamedTuple):
    """A plan: log p(v_observed) of a mixture."""

    def __call__(self, log_shares, logits, rows, seed):
        return (log_evidence(log_shares, logits, rows, seed),)

    def summary(self, results) -> Part:
        (value,) = results
        nothing = np.zeros((len(value), 1))
        return Part(nothing, nothing, value, None, value)
