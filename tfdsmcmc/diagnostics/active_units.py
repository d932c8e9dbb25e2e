"""Which latent units tell rows apart.

    a_j = Var_x E[z_j given x]        over rows x, the mean under q(z given x; φ)

A unit that is on, or off, whatever the row has a_j = 0, and so has one that is noise: such a unit adds nothing to what
the layers above the data can say. One with a_j > 0.01 is active. A wide layer with few active units is a narrow one.

The inner mean is that of K draws, of which m_i and m'_i are those of two halves for row i of n. Their covariance

    â_j = Σ_i (m_ij − m̄_j) (m'_ij − m̄'_j)/(n − 1)

has the mean a_j of these rows, however few the draws are: the halves are independent, so their noise does not add up.
Dead units so have an â_j near 0, on either side.

Source: Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016, section 5.2: a and the bound.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks, compiling
from tfdsmcmc.programs import batches
from tfdsmcmc.rows import source_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike


class ActiveUnits(NamedTuple):
    """What is known of each latent layer, the one nearest to the data first.

    Attributes:
      variances: list of (H_l,) arrays, â of each unit.
      counts: list of integers, how many units of a layer are active.
    """

    variances: list[np.ndarray]
    counts: list[int]


def active_units(
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 20,
    threshold: float = 0.01,
    seed: Seed = 0,
    batch_size: int = 100,
) -> ActiveUnits:
    """How much the posterior mean of each latent unit varies from row to row, see the module.

    The posterior is that of the recognition network: after a method that does not teach it, such as
    `methods.dsgnht_gibbs`, `refit_recognition` comes first.

    Args:
      model: `DeepGenerativeModel`.
      x: (n, D) or a source of rows, two at least; NaN is missing.
      num_samples: K, draws for each row, two at least.
      threshold: a_j above which a unit counts as active; at most ¼ is possible for a binary one.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Returns:
      `ActiveUnits`; of a model without latent layers its lists are empty.

    Raises:
      ValueError: for another kind of model, data that do not fit, fewer than two rows or draws, or a threshold below 0.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN/SBN 20-10", units=64, seed=0)
    >>> x = np.random.default_rng(0).integers(0, 2, (50, 64))
    >>> found = ds.diagnostics.active_units(model, x)
    >>> [part.shape for part in found.variances], len(found.counts)
    ([(20,), (10,)], 2)
    """
    contract.check_directed(model, "active_units", "The units of others have no recognition network.")
    source = source_of("x", x, model.generative.units, model.generative.support, context=model.generative.context)
    if source.num_rows < 2:
        raise ValueError(f"x must have two rows at least. Received: {source.num_rows} row")
    if checks.positive_integer("num_samples", num_samples) < 2:
        raise ValueError(f"num_samples must be 2 at least. Received: num_samples={num_samples}")
    threshold = float(checks.nonnegative_number("threshold", threshold))
    batch_size = checks.positive_integer("batch_size", batch_size)
    variances = _covariances(model, source, num_samples, random.stream(seed, "active units"), batch_size)
    return ActiveUnits(variances, [int((part > threshold).sum()) for part in variances])


def _covariances(model, source, num_samples, seed, batch_size):
    """â of each layer, by sums over batches of rows."""
    half = num_samples // 2

    @functools.partial(compiling.program, jit_compile=model.uses_xla)
    def means(rows, own):
        draws = model.recognition.sample(rows, num_samples, own)
        return [(tf.reduce_mean(z[:half], 0), tf.reduce_mean(z[half:], 0)) for z in draws]

    count, sums = 0, [np.zeros((3, units)) for units in model.recognition.latent_units]
    for rows, own in batches(source, batch_size, seed):
        count += len(rows.values)
        for total, pair in zip(sums, means(rows.floats().plain, own), strict=True):
            a, b = (np.asarray(part, np.float64) for part in pair)
            total += np.stack([a.sum(0), b.sum(0), (a * b).sum(0)])
    return [(product - a * b / count) / (count - 1) for a, b, product in sums]
