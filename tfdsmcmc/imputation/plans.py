"""Plans of imputation, compiled once and run over all rows in batches.

A plan is a named tuple that can be called with (what the model is made of, rows, seed), in a graph, and whose `summary`
turns the results into a `Part`. What a directed model is made of is its two networks. All rows have gaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc.programs import batches, power_of_two
from tfdsmcmc.rows import ArraySource, Rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Verbose
    from tfdsmcmc.contract import Density
    from tfdsmcmc.imputation.continued import Chains


class Plan(Protocol):
    """What is computed of some rows; a value, by which programs are kept."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The results of (what the model is made of, rows, seed), a nest of tensors."""
        ...

    def summary(self, results: Any) -> Part:
        """The results, as arrays, as a `Part`."""
        ...


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


def run(
    density: Density,
    plan: Plan,
    rows: Rows,
    seed: Seed,
    batch_size: int,
    bar: keras.utils.Progbar | None = None,
    chains: Chains | None = None,
) -> Part:
    """Runs a plan over all rows, a full batch at a time.

    Args:
      density: `contract.Density`.
      plan: of what is computed.
      rows: `Rows` of arrays (n, D), with gaps.
      seed: int32 of shape (2,).
      batch_size: rows at a time, at most.
      bar: is told of each batch, where there is one.
      chains: of a `SweepPlan`, where they go on from an earlier run.
    """
    batch_size = rows_at_a_time(len(rows.values), batch_size)
    program, parts = None if chains else density.program(plan), []
    for number, (batch, batch_seed) in enumerate(batches(ArraySource(rows), batch_size, seed)):
        padded = batch.padded(batch_size)
        if chains is None:
            results = program(padded, batch_seed)
        else:
            results = chains.moved(density, plan, number, padded, batch_seed)
        part = plan.summary(tf.nest.map_structure(lambda result: result.numpy(), results))
        parts.append([None if field is None else field[: len(batch.values)] for field in part])
        if bar is not None:
            bar.add(1)
    return Part(*(None if fields[0] is None else np.concatenate(fields) for fields in zip(*parts)))


def bar_of(verbose: Verbose, count: int, unit: str = "batch") -> keras.utils.Progbar:
    """A bar for so many units of work; `verbose` is 0 for one that prints nothing."""
    return keras.utils.Progbar(count, verbose=1 if verbose else 0, unit_name=unit)


def rows_at_a_time(rows: int, batch_size: int) -> int:
    """The size of the batches of some rows: a power of two, so that other numbers seldom need another program."""
    return min(batch_size, power_of_two(rows))
