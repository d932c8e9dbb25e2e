"""How closely validation rows look at each average before they choose: at which draws, by how many z, in which rows.

An estimate from importance samples is too low, by half of its squared standard error to first order. So each average
has as many draws of z for a row in all, up to 100 for each chain, whatever its number of components: those of "draws",
of which 100 of a chain are looked at, share them. Units gain by each draw of the weights, nats where weights are many.
So all of these are averaged, but where the first look would take too long by all, or too much memory.

Time is counted in multiplications of weights by "units", which costs the most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.layers import DARN
from tfdsmcmc.posterior.averages import has_starts
from tfdsmcmc.posterior.predictive import predictive_log_likelihood

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.averages import Components
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.source import Source

_SAMPLES = 100  # importance samples a row, of all components of a chain together
_FIRST, _ALL = 2e10, 5e10  # multiplications, seconds of a core: of the first look, and of all
_ROWS = 50, 500  # at least and at most
_DRAWS = 10  # of a chain at least, averaged unit by unit
_HELD = 1e8  # weights of all draws of a chain, in memory together


def components(posterior: Posterior, model: Model) -> dict[Average, Components]:
    """The components that are looked at of each average that there may be.

    Args:
      posterior: `Posterior`.
      model: `DeepGenerativeModel` of its architecture.
    """
    in_time = _ALL / (_ROWS[0] * _products_of_a_row(model) * posterior.num_chains)
    in_memory = _HELD / max(1, sum(np.size(part) for part in posterior.samples[0].theta))
    some: dict[Average, Posterior] = {
        "weights": posterior,
        "units": posterior.thin_to(max(_DRAWS, int(min(len(posterior.samples), in_time, in_memory)))),
        "draws": posterior.thin_to(_SAMPLES),
    }
    if has_starts(posterior.starts, posterior.chain_numbers):
        some["start"] = posterior
    return {average: part.components(model, average) for average, part in some.items()}


def numbers_of_rows(units: Components, model: Model, num_rows: int) -> tuple[int, int, int]:
    """(those of a batch, of the first look, of all): whole batches, as a program is made for each number of rows.

    Args:
      units: what is looked at of "units".
      model: see `components`.
      num_rows: how many there are.
    """
    fewest, most = _ROWS
    for_each = _products_of_a_row(model) * sum(units.draws)
    most = min(num_rows, max(fewest, min(most, int(_ALL / for_each))))
    batches = max(1, most // fewest)
    size = most // batches
    return size, size * max(1, min(batches, int(_FIRST / (for_each * size)))), size * batches


def look(parts: dict[Average, Components], rows: Source, batch_size: int, seed: Seed) -> dict[Average, np.ndarray]:
    """The log-likelihoods of rows by each average, float64 arrays (n,); without "units" where layers have none.

    Args:
      parts: as `components` gives them.
      rows: a source of rows.
      batch_size: rows at a time.
      seed: integer, or int32 tensor of shape (2,); averages of as many components have the same draws.
    """
    draws = len(parts["draws"])
    samples, values = _SAMPLES * len(parts["weights"]) // draws * draws, {}
    for average, own in parts.items():
        try:
            found = predictive_log_likelihood(own, rows, samples // len(own), seed, batch_size, warn=False)
        except ValueError:
            if average != "units":
                raise
        else:
            values[average] = found.value
    return values


def _products_of_a_row(model):
    """Multiplications of weights by one draw of them. A network without latent layers has no z to repeat them for; of
    others the connections within the layer of the data are multiplied with the rows once, for all z."""
    layers = model.generative.layers
    found = sum(int(np.prod(weight.shape)) for layer in layers for weight in layer.weights)
    if len(layers) == 1:
        return max(1, found)
    once = int(np.prod(layers[-1].lateral.shape)) if isinstance(layers[-1], DARN) else 0
    return _SAMPLES * (found - once)
