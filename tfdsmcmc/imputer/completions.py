"""log p(x_observed) where missing entries do not drop out, for columns that depend on each other.

    p(x_observed given θ) = E[w],      w = p(z; θ) W / q(z given u; φ)

with the draws and weights of `imputation.resampling`, K for each θ_m. The standard error of the logarithm of their
mean is

    s_m = √((K/n_m − 1)/(K − 1)),      n_m = (Σ w)² / Σ w²

nan for a single weight, and the average over m has the error of `posterior.running_means`. A row with nothing observed
has log p = 0 exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.imputation.plans import rows_at_a_time, run
from tfdsmcmc.posterior.running_means import PredictiveAverage

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
    num_samples, average = checks.positive_integer("num_samples", num_samples), PredictiveAverage()
    stream, batch_size = random.stream(seed, "completions"), rows_at_a_time(len(rows.values), _BATCH)
    known = np.any(rows.observed, 1)
    for place, sample in enumerate([None] if posterior is None else posterior.samples):
        density = model.density(None if sample is None else (sample.theta, sample.phi))
        plan = density.evidence_plan(num_samples, batch_size)
        part = run(density, plan, rows, random.fold(stream, place), batch_size)
        size = part.effective_sample_size.astype(np.float64)
        with np.errstate(invalid="ignore"):
            error = np.sqrt(np.maximum(num_samples / size - 1.0, 0.0) / np.float64(num_samples - 1))
        average.add(LogLikelihood(part.log_likelihood, np.where(known, error, 0.0), size))
    return average.log_likelihood()
