"""A posterior as data of ArviZ, for its plots and its comparisons of models."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import contract, random
from tfdsmcmc.diagnostics.draws import arrangement, log_prior_of
from tfdsmcmc.diagnostics.selection import select
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from arviz import InferenceData

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike


def inference_data(
    posterior: Posterior,
    model: Model,
    x: RowsLike | None = None,
    weights: str | Sequence[str] = "",
    num_samples: int = 100,
    seed: Seed = 0,
    batch_size: int = 100,
    separator: str = "/",
    log_partition: Any = None,
) -> InferenceData:
    """The draws of the chosen weights as `arviz.InferenceData`.

    Unlike everything else here it holds the chosen weights of all draws in memory, and p(x given θ) of all rows and
    draws where x is given: choose a few weights of a large model.

    Args:
      posterior: `Posterior`. Its chains are cut to the draws of the shortest, from the first draw on.
      model: of its architecture; it is not changed.
      x: (n, D), `Rows`, a source of rows or a `tf.data.Dataset`, read into memory, or None; NaN is missing, and
        log_likelihood is of what is observed then.
      weights: pattern or list of patterns of names, as in `diagnostics.trace`; by default all weights.
      num_samples: importance samples a row.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      separator: what stands between layer and weight in the names; netCDF files take no "/", but ".".
      log_partition: of Boltzmann machines, as `Posterior.log_likelihood` takes it.

    Returns:
      `arviz.InferenceData` with the groups posterior (weights under their names, (chain, draw, …)), sample_stats (step,
      and log_prior where `diagnostics.trace` has it), and where x is given log_likelihood (x: (chain, draw, row),
      importance-sampling estimates) and observed_data (x: (row, column)).

    Raises:
      ValueError: for a model of another architecture, patterns of no weight, data that do not fit, or a separator that
        is no string.
    """
    if not isinstance(separator, str):
        raise ValueError(f"A separator is a string. Received: separator={separator!r}")
    posterior.check(model)
    contract.check_partition(log_partition, len(posterior.samples))
    chosen = select(model.named_weights, weights)
    if x is not None:
        x = kept(model.source_to_estimate(x))
    places = arrangement(posterior)
    draws = {part.label: np.empty((*places.shape, *part.shape), np.float32) for part in chosen}
    log_prior = log_prior_of(model)
    stats = {} if log_prior is None else {"log_prior": np.empty(places.shape)}
    stats["step"] = np.empty(places.shape, np.int64)
    values = None if x is None else np.empty((*places.shape, x.num_rows), np.float32)
    for cell, place in np.ndenumerate(places):
        sample, own_seed = posterior.samples[place], random.fold(seed, place)
        for part in chosen:
            draws[part.label][cell] = part.of(sample.theta)
        if log_prior is not None:
            stats["log_prior"][cell] = log_prior(sample.theta, own_seed)
        stats["step"][cell] = sample.step
        if x is not None:
            density, first = model.density((sample.theta, sample.phi), log_partition), place == places[0, 0]
            estimate = density.log_likelihood(x, num_samples, own_seed, batch_size, warn=bool(first))
            values[cell] = estimate.value
    rows = None if x is None else _entries(x.all())
    return _in_groups({name.replace("/", separator): array for name, array in draws.items()}, stats, values, rows)


def _entries(rows):
    """The values in their own type, or with NaN in gaps."""
    return rows.values if rows.complete else rows.with_nan()


def _in_groups(draws, stats, values, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its next version
        import arviz

    data = {} if x is None else {"log_likelihood": {"x": values}, "observed_data": {"x": x}}
    # observations have the axes (row, column), their log-likelihoods (chain, draw, row)
    groups = [arviz.from_dict(posterior=draws, sample_stats=stats)]
    for name, group in data.items():
        dims = ["row"] if name == "log_likelihood" else ["row", "column"]
        groups.append(arviz.from_dict(**{name: group}, dims={"x": dims}))
    return arviz.concat(*groups) if len(groups) > 1 else groups[0]
