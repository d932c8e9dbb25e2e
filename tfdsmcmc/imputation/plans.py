"""Plans of imputation, compiled once and run over all rows in batches.

A plan is a named tuple that can be called with (generative, recognition, x, observed, seed), in a graph, and whose
`summary` turns the results into a `Part`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.programs import compiled, power_of_two, values_of


class Part(NamedTuple):
    """Imputations of some rows at one θ; the fields of `Imputation` with the rows first.

    Attributes:
      x: (n, num_imputations, D).
      probabilities: (n, D).
      effective_sample_size: (n,).
      acceptance_rate: (n,), or None.
      log_likelihood: (n,), an estimate of log p(x_observed; θ), or None.
    """

    x: np.ndarray
    probabilities: np.ndarray
    effective_sample_size: np.ndarray
    acceptance_rate: np.ndarray | None
    log_likelihood: np.ndarray | None


def run(model, plan, x, observed, weights, seed, batch_size) -> Part:
    """Runs a plan over all rows, a full batch at a time.

    Args:
      model: `DeepGenerativeModel`.
      plan: of what is computed.
      x: (n, D) float32.
      observed: (n, D), booleans.
      weights: pair (θ, φ) of lists of arrays; None for the model's own.
      seed: int32 of shape (2,).
      batch_size: rows at a time, at most.
    """
    theta, phi = values_of(model, weights)
    batch_size = rows_at_a_time(len(x), batch_size)
    program, parts = compiled(model, (type(plan), plan), plan), []
    for number, first in enumerate(range(0, len(x), batch_size)):
        chosen = np.minimum(np.arange(first, first + batch_size), len(x) - 1)
        results = program(theta, phi, x[chosen], observed[chosen], random.fold(seed, number))
        part = plan.summary(tf.nest.map_structure(lambda result: result.numpy(), results))
        count = min(batch_size, len(x) - first)
        parts.append([None if field is None else field[:count] for field in part])
    return Part(*(None if fields[0] is None else np.concatenate(fields) for fields in zip(*parts)))


def rows_at_a_time(rows, batch_size):
    """The size of the batches of some rows: a power of two, so that other numbers seldom need another program."""
    return min(batch_size, power_of_two(rows))
