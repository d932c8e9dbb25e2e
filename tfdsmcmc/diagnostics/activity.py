"""Which latent units tell rows apart.

    a_j = Var_x E[z_j given x]        over rows x, the mean under q(z given x; φ)

A unit that is on, or off, whatever the row has a_j = 0, and so has one that is noise. One with a_j > 0.01 is called
active. A wide layer of binary units of which few are active is a narrow one. A real unit may also tell rows apart by
its spread, which this does not see.

The inner mean is that of K draws, of which m_ij and m'_ij are those of two halves for row i of n. Their covariance

    â_j = Σ_i d_ij d'_ij/(n − 1),      d_ij = m_ij − m̄_j,    d'_ij = m'_ij − m̄'_j

has the mean a_j of these rows, however few the draws are: the halves are independent, so their noise does not add up.
The â_j of a unit that tells nothing is near 0, on either side. The standard error of â_j is that of a mean of n
products d_ij d'_ij.

Source: Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016, section 5.2: a and the bound.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.likelihood.sampler import checked_count
from tfdsmcmc.programs import batches, compiled, values_of
from tfdsmcmc.rows import source_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike


_FEWEST_ROWS = 20  # of fewer a standard error says little


class ActiveUnits(NamedTuple):
    """What is known of each latent layer, the one nearest to the data first.

    Attributes:
      variances: list of (H_l,) arrays, â of each unit.
      standard_errors: list of (H_l,) arrays, those of â.
      counts: list of integers, how many units of a layer are active: their â is above the threshold, and above 0 by
        more than three standard errors.
    """

    variances: list[np.ndarray]
    standard_errors: list[np.ndarray]
    counts: list[int]


def active_units(
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 20,
    threshold: float = 0.01,
    seed: Seed = 0,
    batch_size: int = 100,
) -> ActiveUnits:
    """How much the posterior mean of each latent unit varies from row to row: a_j = Var_x E[z_j given x].

    It is estimated as the covariance of the means of two independent halves of K draws, which is unbiased (see the
    module `diagnostics.activity`). The posterior is that of the recognition network: after a method that does not teach
    it, such as `methods.dsgnht_gibbs`, `refit_recognition` comes first.

    Args:
      model: `DeepGenerativeModel`.
      x: (n, D) or a source of rows, 20 at least; a unit that is on in fewer than some ten of them does not count. NaN
        is missing, and tells rows apart as the recognition network sees it. Two means of each unit and row are kept.
      num_samples: K, draws for each row, two at least.
      threshold: of an active unit's a_j; that of a binary one is at most ¼.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time, whose K draws are held at once.

    Returns:
      `ActiveUnits`; of a model without latent layers its lists are empty.

    Raises:
      ValueError: for another kind of model, weights that are not finite, data that do not fit, fewer than 20 rows or
        2 draws, or a threshold below 0.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN/SBN 20-10", units=64, seed=0)
    >>> x = np.random.default_rng(0).integers(0, 2, (50, 64))
    >>> found = ds.diagnostics.active_units(model, x)
    >>> [part.shape for part in found.variances], len(found.counts)
    ([(20,), (10,)], 2)
    """
    contract.check_directed(model, "active_units", "The units of others have no recognition network.")
    num_samples = checked_count("num_samples", num_samples)
    if num_samples < 2:
        raise ValueError(f"num_samples must be 2 at least. Received: num_samples={num_samples}")
    threshold = threshold if isinstance(threshold, (list, tuple)) else np.asarray(threshold).tolist()  # of tensors too
    threshold = checks.nonnegative_number("threshold", threshold)
    batch_size, seed = checks.positive_integer("batch_size", batch_size), random.stream(seed, "active units")
    weights = values_of(model, None)
    check_finite("weights of the recognition network", model.recognition.weights)  # of frozen layers too
    source = source_of("x", x, model.generative.units, model.generative.support, context=model.generative.context)
    if source.num_rows < _FEWEST_ROWS:
        raise ValueError(f"x must have {_FEWEST_ROWS} rows at least. Received: {source.num_rows} rows")
    means = compiled(model, ("active units", num_samples), functools.partial(_means, num_samples=num_samples))
    parts = [means(*weights, rows.floats().plain, own) for rows, own in batches(source, batch_size, seed)]
    found = [_covariance(*map(np.concatenate, zip(*layer))) for layer in zip(*parts)]
    counts = [int(((value > threshold) & (value > 3 * error)).sum()) for value, error in found]
    return ActiveUnits([value for value, _ in found], [error for _, error in found], counts)


def _means(generative, recognition, rows, seed, num_samples):
    """Of each layer the means of the two halves of the draws, both (n, H_l)."""
    del generative
    draws, half = recognition.sample(rows, num_samples, seed), num_samples // 2
    return [(tf.reduce_mean(z[:half], 0), tf.reduce_mean(z[half:], 0)) for z in draws]


def _covariance(first, second):
    """(â, its standard error) of units by the means of both halves, (n, H)."""
    products = (first - first.mean(0, np.float64)) * (second - second.mean(0, np.float64))
    count = len(products)
    return products.sum(0) / (count - 1), products.std(0) / np.sqrt(count - 1)
