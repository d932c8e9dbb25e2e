"""The log-likelihood by enumeration of every latent configuration.

    log p(x) = log Σ_z p(x, z; θ)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.programs import batches
from tfdsmcmc.rows import source_of

if TYPE_CHECKING:
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike

_LARGEST = 20
_MOST_ROWS = 256
_CHUNK_ENTRIES = 2**22


def exact(model: DirectedModel, x: RowsLike) -> LogLikelihood:
    """log p(x) of each row, exact up to rounding.

    Args:
      model: a `DeepGenerativeModel` with binary latent layers, at most 20 latent units in all.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Entries that are NaN are missing: the value is
        log p(x_observed) then.

    Returns:
      `LogLikelihood` with standard error 0 and infinite effective sample size.

    Raises:
      ValueError: for more than 20 latent units, layers that are not binary, data that do not fit, weights that are
        not finite, or missing entries of a data layer whose units depend on each other.
    """
    contract.check_directed(model, "Enumeration", "rbm.log_likelihood is exact where a layer has at most 25 units.")
    generative = model.generative
    check_finite("the weights of the generative network", [np.asarray(w) for w in generative.get_weights()])
    source = source_of("x", x, generative.units, generative.support, context=generative.context)
    generative.check_gaps(source)
    widths = generative.latent_units
    if not all(layer.binary for layer in generative.layers[:-1]):
        kinds = [type(layer).__name__ for layer in generative.layers]
        raise ValueError(f"Enumeration needs binary latent layers. Received: layers {kinds}")
    if sum(widths) > _LARGEST:
        raise ValueError(f"Enumeration takes at most {_LARGEST} latent units. Received: {sum(widths)} of {widths}")

    value = np.concatenate([_enumerated(generative, rows) for rows, _ in batches(source, _MOST_ROWS, 0)])
    return LogLikelihood(value, np.zeros(len(value)), np.full(len(value), np.inf))


def _enumerated(generative, rows):
    """log Σ_z p(x, z), (n,)."""
    widths = generative.latent_units
    states, count = 2 ** sum(widths), len(rows.values)
    chunk = max(1, min(states, _CHUNK_ENTRIES // (count * max(layer.widest for layer in generative.layers))))
    data = rows.floats().map(lambda part: part[tf.newaxis])
    total = np.full(count, -np.inf)
    for start in range(0, states, chunk):
        configurations = _configurations(start, min(start + chunk, states), sum(widths))
        z = tf.split(configurations, widths, -1) if widths else []
        terms = generative.log_joint(data, [part[:, tf.newaxis] for part in z])
        total = np.logaddexp(total, np.logaddexp.reduce(terms.numpy().astype(np.float64), 0))
    return total


def _configurations(start, stop, units):
    """The binary digits of start, …, stop − 1, (stop − start, units)."""
    numbers = np.arange(start, stop)[:, np.newaxis]
    return tf.constant((numbers >> np.arange(units)) & 1, tf.float32)
