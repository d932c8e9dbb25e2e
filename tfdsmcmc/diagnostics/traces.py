"""Traces: one number for each draw of a posterior, chain by chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import contract, random
from tfdsmcmc.diagnostics.draws import arrangement, log_prior_of
from tfdsmcmc.diagnostics.selection import select

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike

_MOST = 1000


def trace(
    posterior: Posterior,
    model: Model,
    x: RowsLike | None = None,
    weights: str | Sequence[str] = (),
    num_samples: int = 100,
    seed: Seed = 0,
    batch_size: int = 100,
    log_partition: Any = None,
) -> dict[str, np.ndarray]:
    """What a chain's convergence is judged by, at each posterior sample.

    "log_likelihood" (where x is given) is the mean over the rows of importance-sampling estimates of log p(x given θ):
    its own noise counts as noise of the chain, so take enough samples. Of Boltzmann machines it is log p(x given θ)
    with the log Z of each sample. "log_prior" is log p(θ), of models whose prior is not flat; with shrinkage priors
    log p(θ given λ) with λ drawn anew given θ by 20 Gibbs sweeps, since samples are kept without λ. A weight is not
    identified where hidden units may swap roles, the other two are.

    Args:
      posterior: `Posterior`. Its chains are cut to the draws of the shortest, from the first draw on.
      model: of its architecture; it is not changed.
      x: (n, D), or None; NaN is missing, as in `likelihood.importance_sampling`.
      weights: list of patterns, such as "sbn_2/kernel[3, 4]": a regular expression searched in the weights' names, and
        an index; without one, every entry has its trace.
      num_samples: importance samples a row.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      log_partition: of Boltzmann machines, as `Posterior.log_likelihood` takes it.

    Returns:
      Dict from name to float64 array (chains, draws).

    Raises:
      ValueError: for a model of another architecture, patterns of no weight or of more than 1,000 entries, or data that
        do not fit.
    """
    posterior.check(model)
    contract.check_partition(log_partition, len(posterior.samples))
    chosen = select(model.named_weights, weights)
    count = sum(int(np.prod(part.shape)) for part in chosen)
    if count > _MOST:
        raise ValueError(f"A trace takes at most {_MOST} entries of weights; give indices. Received: {count} entries")
    chosen = [entry for part in chosen for entry in part.entries()]
    places = arrangement(posterior)
    log_prior = log_prior_of(model)
    of_model = [name for name, has in (("log_likelihood", x), ("log_prior", log_prior)) if has is not None]
    names = [*of_model, *(entry.label for entry in chosen)]
    values = {name: np.empty(places.shape) for name in names}
    for cell, place in np.ndenumerate(places):
        sample, own_seed = posterior.samples[place], random.fold(seed, place)
        if x is not None:
            density, first = model.density((sample.theta, sample.phi), log_partition), place == places[0, 0]
            estimate = density.log_likelihood(x, num_samples, own_seed, batch_size, warn=bool(first))
            values["log_likelihood"][cell] = float(estimate.mean())
        if log_prior is not None:
            values["log_prior"][cell] = log_prior(sample.theta, own_seed)
        for entry in chosen:
            values[entry.label][cell] = entry.of(sample.theta)
    return values
