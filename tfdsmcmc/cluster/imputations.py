"""Imputations of many rows, in shards.

A shard has a seed of its own, a fold of its first row's number: the draws are the same however many workers there are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import imputation, random
from tfdsmcmc._common import checks
from tfdsmcmc.cluster import places, work
from tfdsmcmc.cluster.rows import opened
from tfdsmcmc.imputation import Imputation
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike


def impute(
    posterior: Posterior | FilePath,
    make_model: Callable[[int], Any],
    rows: RowsLike | str,
    seed: int = 0,
    shard_rows: int = 1000,
    verbose: bool = False,
    timeout: float | None = None,
    **options: Any,
) -> Imputation:
    """`imputation.impute` over shards of rows, by `joblib`.

    Args:
      posterior: a folder, or a `Posterior`; see `cluster.log_likelihood`.
      make_model: function of a seed; returns a model of the samples' architecture.
      rows: see `opened`; missing entries are NaN.
      seed: integer.
      shard_rows: rows of a task.
      verbose: whether a line says how many tasks are done.
      timeout: seconds within which some task must get done, see `fit_chains`.
      **options: other arguments of `imputation.impute`, without `mask`.

    Raises:
      ValueError: for options that `imputation.impute` has not, before anything is run, and for what it refuses.
      TasksFailed: in the end, naming the tasks that failed and why.
    """
    shard_rows = checks.positive_integer("shard_rows", shard_rows)
    own = set(inspect.signature(imputation.impute).parameters) - {"model", "x", "mask", "posterior", "seed"}
    if unknown := set(options) - own:
        raise ValueError(f"Options are of {sorted(own)}. Received: {', '.join(sorted(unknown))}")
    call, (_, _, source) = places.called(make_model, posterior, rows, _source)
    firsts = range(0, source.num_rows, shard_rows)
    call, shards = places.shards(call, [(first, min(first + shard_rows, source.num_rows)) for first in firsts])
    tasks = [
        (f"rows from {first} on", (call, shard, first, seed, options))
        for first, shard in zip(firsts, shards, strict=True)
    ]
    try:
        found = work.run(_of_shard, tasks, verbose, "tasks", timeout=timeout)
    finally:
        places.forget()
    x, means, sizes, rates = zip(*found, strict=True)
    rate = None if rates[0] is None else np.concatenate(rates)
    return Imputation(np.concatenate(x, 1), np.concatenate(means), np.concatenate(sizes), rate)


def _of_shard(call, shard, first, seed, options):
    seed = random.fold(random.stream(seed, "imputations of shards"), first)
    model, posterior, _ = call.here()
    return imputation.impute(model, call.shard_here(shard).all(), seed=seed, posterior=posterior, **options)


def _source(model, rows):
    return kept(model.source("x", opened(rows, "test"), gaps_are_filled=True))
