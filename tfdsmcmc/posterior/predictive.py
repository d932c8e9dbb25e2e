"""The log-likelihood of rows under a mixture of components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdsmcmc import random
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.posterior.running_means import PredictiveAverage

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.posterior.averages import Component
    from tfdsmcmc.rows.source import Source


def predictive_log_likelihood(
    components: Sequence[Component],
    x: Source,
    num_samples: int,
    seed: Seed,
    batch_size: int = 100,
    warn: bool = True,
) -> LogLikelihood:
    """log (1/C) Σ_c p_c(x) of each row.

    Args:
      components: sequence of `Component`.
      x: a source of rows.
      num_samples: K, importance samples a row for each component.
      seed: integer, or int32 tensor of shape (2,); each component has its own.
      batch_size: rows at a time.
      warn: whether to warn of few effective samples and heavy tails, which are looked for in the first component.
    """
    mixed = PredictiveAverage()
    for c, part in enumerate(components):
        mixed.add(part.density.log_likelihood(x, num_samples, random.fold(seed, c), batch_size, warn and c == 0))
    return mixed.log_likelihood()
