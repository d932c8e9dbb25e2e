"""Plans of imputation, compiled once and run over all rows in batches.

A plan is a named tuple that can be called with (generative, recognition, x, observed, seed), in a graph, and whose
`summary` turns the results into a `Part`.
"""

from __future__ import annotations

import functools
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
    if weights is not None:
        check_weights(model, weights)
    groups = _groups(model)
    theta, phi = (_values(*pair) for pair in zip(groups, groups if weights is None else weights, strict=True))
    batch_size = rows_at_a_time(len(x), batch_size)
    program, parts = _program(model, plan), []
    for number, first in enumerate(range(0, len(x), batch_size)):
        chosen = np.minimum(np.arange(first, first + batch_size), len(x) - 1)
        results = program(theta, phi, x[chosen], observed[chosen], random.fold(seed, number))
        part = plan.summary(tf.nest.map_structure(lambda result: result.numpy(), results))
        count = min(batch_size, len(x) - first)
        parts.append([None if field is None else field[:count] for field in part])
    return Part(*(None if fields[0] is None else np.concatenate(fields) for fields in zip(*parts)))


def check_weights(model, weights):
    """Raises a ValueError unless the pair (θ, φ) has the shapes of the model's weights."""
    expected = [[tuple(v.shape) for v in group] for group in _groups(model)]
    received = [[tuple(np.shape(part)) for part in group] for group in weights]
    if received != expected:
        raise ValueError(f"The samples must be of weights of the shapes {expected}. Received: shapes {received}")


def power_of_two(number):
    """The smallest power of two that is not below `number`."""
    return 1 << (number - 1).bit_length()


def rows_at_a_time(rows, batch_size):
    """The size of the batches of some rows: a power of two, so that other numbers seldom need another program."""
    return min(batch_size, power_of_two(rows))


def _program(model, plan):
    """The compiled plan at explicit weights; one for each model, plan and way to compile."""
    programs = _programs.setdefault(model, {})
    generative, recognition = model.generative, model.recognition
    # a layer that is frozen meanwhile has no place in the weights
    trained = tuple(id(v) for network in (generative, recognition) for v in network.trainable_variables)
    key = type(plan), plan, trained, getattr(model, "uses_xla", True)
    if key not in programs:
        # TensorFlow warns of frequent tracing where one function's code is traced often; a partial is its own function
        program = functools.partial(_evaluate, plan, generative, recognition)
        programs[key] = tf.function(program, jit_compile=key[-1], autograph=False)
    return programs[key]


def _evaluate(plan, generative, recognition, theta, phi, x, observed, seed):
    variables = [*generative.trainable_variables, *recognition.trainable_variables]
    with evaluated_at(variables, [*theta, *phi]):
        return plan(generative, recognition, x, observed, seed)


def _groups(model):
    return model.generative.trainable_variables, model.recognition.trainable_variables


def _values(variables, weights):
    """The weights as tensors of the variables' types."""
    return [tf.cast(tf.convert_to_tensor(w), v.dtype) for v, w in zip(variables, weights)]
