"""log p(x_observed) where missing entries do not drop out, for columns that depend on each other.

    p(x_observed given θ) = E[w],      w = p(z; θ) W / q(z given u; φ)

with the draws and weights of `imputation.resampling`, K for each θ_m, and the average over m of their means. Its
variance is Σ_m v_m / M², v_m that of a mean of K weights, so that the standard error of the logarithm is

    √(Σ_m p̂_m² (1/n_m − 1/K)) / Σ_m p̂_m,      n_m = (Σ w)² / Σ w²
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.imputation.plans import rows_at_a_time, run

if TYPE_CHECKING:
    from tfdsmcmc.model import DeepGenerativeModel
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows import Rows

_BATCH = 100


def log_likelihood_by_completions(
    model: DeepGenerativeModel, posterior: Posterior | None, rows: Rows, num_samples: int, seed: int
) -> LogLikelihood:
    """log p(x_observed) of each row, averaged over posterior samples.

    Args:
      model: `DeepGenerativeModel`.
      posterior: its samples; None for the model's own weights.
      rows: `Rows` of arrays (n, D), with gaps.
      num_samples: K.
      seed: integer.
    """
    num_samples, parts = checks.positive_integer("num_samples", num_samples), []
    stream, batch_size = random.stream(seed, "completions"), rows_at_a_time(len(rows.values), _BATCH)
    for place, sample in enumerate([None] if posterior is None else posterior.samples):
        density = model.density(None if sample is None else (sample.theta, sample.phi))
        plan = density.evidence_plan(num_samples, batch_size)
        parts.append(run(density, plan, rows, random.fold(stream, place), batch_size))
    logs = np.array([part.log_likelihood for part in parts], np.float64)
    sizes = np.array([part.effective_sample_size for part in parts], np.float64)
    total = np.logaddexp.reduce(logs, 0)
    shares = np.exp(logs - total)
    error = np.sqrt((np.square(shares) * np.maximum(1 / sizes - 1 / num_samples, 0.0)).sum(0))
    return LogLikelihood(total - np.log(len(parts)), error, 1 / (np.square(shares) / sizes).sum(0))
