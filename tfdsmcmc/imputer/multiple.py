"""Several imputations of a table, each at a draw of the weights of its own.

For i = 1, …, m: θ_i of the posterior samples, evenly over the run from a random one on, and x_missing of all rows from
p(x_missing given x_observed, θ_i). So the m tables differ by what is not known of the weights as well, as Rubin's rules
ask for (`imputation.pool`): draws of a mixture over θ, a row at a time, would average that over the rows of a table.

Source: Rubin, "Multiple imputation for nonresponse in surveys" (1987), sections 3.1 and 4.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfdsmcmc import imputation, random
from tfdsmcmc.imputation.plans import bar_of
from tfdsmcmc.imputer import choices, sharing
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Verbose
    from tfdsmcmc.model import DeepGenerativeModel
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.posterior.store import Sample
    from tfdsmcmc.rows import Rows

# a second chain of few rows is cheaper than another program than that of `transform`, which has two
_CHAINS, _FEW = 2, 1000


class _One(NamedTuple):
    """A posterior of one sample."""

    samples: list[Sample]


def imputations(
    model: DeepGenerativeModel,
    posterior: Posterior | None,
    rows: Rows,
    count: int,
    seed: int,
    options: dict[str, Any],
    verbose: Verbose = 0,
) -> np.ndarray:
    """Draws of what is missing, (count, n, D).

    Args:
      model: `DeepGenerativeModel`, compiled.
      posterior: with M samples; None for the model's own weights. With M < count some share a sample.
      rows: `Rows` of arrays (n, D), with gaps.
      count: m.
      seed: integer.
      options: of `imputation.impute`.
      verbose: 0 is silent; otherwise a bar tells how many samples are done.
    """
    samples = [None] if posterior is None else posterior.samples
    stream, drawn = random.stream(seed, "multiple imputation"), []
    first = int(random.integers([], len(samples), random.stream(seed, "first sample of a multiple imputation")))
    places = [(first + i * len(samples) // count) % len(samples) for i in range(count)]
    most = max(np.bincount(places))  # of one sample: as many of each, so that one program serves all
    lengths = choices.lengths_of(options, len(rows.with_gaps), draws=True)[0]
    if options.get("method") != "resampling" and "num_chains" not in options:
        lengths["num_chains"] = int(max(most, _CHAINS) if len(rows.values) <= _FEW else most)
    lengths.pop("average", None)  # each is at one sample
    options = {**lengths, "posterior_weights": "equal"}
    bar = bar_of(verbose, len(set(places)), "sample")
    with sharing.in_place_of(model) as twin:
        for place in sorted(set(places)):
            chosen = None if samples[place] is None else _One([samples[place]])
            own = random.fold(stream, place)
            result = imputation.impute(twin, ArraySource(rows), None, int(most), own, posterior=chosen, **options)
            drawn.append(result.x[: places.count(place)])
            bar.add(1)
    return np.concatenate(drawn)
