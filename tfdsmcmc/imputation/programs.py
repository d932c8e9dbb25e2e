"""Plans of imputation, compiled once and run over all rows in batches.

A plan is a named tuple that can be called with (generative, recognition, x, observed, seed), in a graph, and whose
`summary` turns the results into a `Part`.
"""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks import evaluated_at

_programs = weakref.WeakKeyDictionary()


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
    groups = model.generative.trainable_variables, model.recognition.trainable_variables
    theta, phi = (_values(*pair) for pair in zip(groups, groups if weights is None else weights, strict=True))
    # a power of two, so that other numbers of rows seldom need another program
    batch_size = min(batch_size, 1 << (len(x) - 1).bit_length())
    program, parts = _program(model, plan), []
    for number, first in enumerate(range(0, len(x), batch_size)):
        chosen = np.minimum(np.arange(first, first + batch_size), len(x) - 1)
        results = program(theta, phi, x[chosen], observed[chosen], random.fold(seed, number))
        part = plan.summary(tf.nest.map_structure(lambda result: result.numpy(), results))
        count = min(batch_size, len(x) - first)
        parts.append([None if field is None else field[:count] for field in part])
    return Part(*(None if fields[0] is None else np.concatenate(fields) for fields in zip(*parts)))


def _program(model, plan):
    """The compiled plan at explicit weights; one for each model, plan and way to compile."""
    programs = _programs.setdefault(model, {})
    key = type(plan), plan, getattr(model, "uses_xla", True)
    if key not in programs:
        generative, recognition = model.generative, model.recognition

        def evaluate(theta, phi, x, observed, seed):
            variables = [*generative.trainable_variables, *recognition.trainable_variables]
            with evaluated_at(variables, [*theta, *phi]):
                return plan(generative, recognition, x, observed, seed)

        programs[key] = tf.function(evaluate, jit_compile=key[-1], autograph=False)
    return programs[key]


def _values(variables, weights):
    """The weights as tensors of the variables' types."""
    expected, received = ([tuple(np.shape(part)) for part in group] for group in (variables, weights))
    if received != expected:
        raise ValueError(f"The samples must be of weights of the shapes {expected}. Received: shapes {received}")
    return [tf.cast(tf.convert_to_tensor(w), v.dtype) for v, w in zip(variables, weights)]
