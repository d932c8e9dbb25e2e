"""Programs at explicit weights, compiled once for each model, and the batches of rows that they run over.

What is estimated or drawn with the networks is a program of (θ, φ, …): other weights, such as posterior samples, need
no other program, and no variable is touched.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.contract import Model
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork, evaluated_at

if TYPE_CHECKING:
    import contextlib

    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source

_programs = weakref.WeakKeyDictionary()


class DirectedModel(Model, Protocol):
    """A model of two networks, such as `DeepGenerativeModel`."""

    @property
    def generative(self) -> GenerativeNetwork: ...

    @property
    def recognition(self) -> RecognitionNetwork: ...


def values_of(model: DirectedModel, weights: ThetaAndPhi | None, name: str = "weights") -> list[list[tf.Tensor]]:
    """The pair (θ, φ) of lists of tensors; by default the model's own. The name is for the error.

    Raises:
      ValueError: for weights of other shapes, or not finite.
    """
    groups = _groups(model)
    weights = groups if weights is None else weights
    expected = [[tuple(variable.shape) for variable in group] for group in groups]
    try:
        received = [[tuple(np.shape(weight)) for weight in group] for group in weights]
    except (TypeError, ValueError):
        received = type(weights).__name__
    if received != expected:
        raise ValueError(f"{name} must be a pair of lists of arrays of shapes {expected}. Received: shapes {received}")
    values = [
        [tf.cast(tf.convert_to_tensor(w), v.dtype) for v, w in zip(variables, values)]
        for variables, values in zip(groups, weights)
    ]
    check_finite(name, [part for group in values for part in group])
    return values


def at_weights(model: DirectedModel, values: ThetaAndPhi) -> contextlib.AbstractContextManager[Any]:
    """A context in which both networks have the given weights (θ, φ)."""
    return evaluated_at([variable for group in _groups(model) for variable in group], [*values[0], *values[1]])


def compiled(model: DirectedModel, key: Hashable, evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The program (θ, φ, …) → evaluate(generative, recognition, …) at these weights.

    Args:
      model: a `DeepGenerativeModel`.
      key: hashable; all that `evaluate` depends on besides its arguments.
      evaluate: function of the two networks and tensors; it must not hold the model, which would then live for ever.
    """
    programs = _programs.setdefault(model, {})
    # a layer that is frozen meanwhile has no place in θ and φ
    trained = tuple(id(variable) for group in _groups(model) for variable in group)
    key = key, trained, getattr(model, "uses_xla", True)
    if key not in programs:
        # TensorFlow warns of frequent tracing where one function's code is traced often; a partial is its own function
        program = functools.partial(_run, evaluate, model.generative, model.recognition)
        programs[key] = compiling.program(program, key[-1])
    return programs[key]


def batches(source: Source, batch_size: int, seed: Seed) -> Iterator[tuple[Rows, tf.Tensor]]:
    """Yields (`Rows` of arrays, seed) of each batch of a source; of one without end, as many rows as it says it has.

    The rows of a `Shard` have the seeds that they have in the whole source."""
    left = source.num_rows
    for number, rows in enumerate(source.batches(batch_size), source.first_row // batch_size):
        yield rows.take(slice(0, left)), random.fold(seed, number)
        left -= len(rows.values)
        if left <= 0:
            return
    raise ValueError(f"A stream must give the same rows whenever it is read. Received: one that gave {left} fewer")


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below `number`."""
    return 1 << (number - 1).bit_length()


def _run(evaluate, generative, recognition, theta, phi, *arguments):
    variables = [*generative.trainable_variables, *recognition.trainable_variables]
    with evaluated_at(variables, [*theta, *phi]):
        return evaluate(generative, recognition, *arguments)


def _groups(model):
    """The variables that θ and φ stand for."""
    return model.generative.trainable_variables, model.recognition.trainable_variables
