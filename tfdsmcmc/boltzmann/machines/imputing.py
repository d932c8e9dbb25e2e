"""How a Boltzmann machine fills gaps: `impute` of `RBM`, and rows a block at a time by any program of chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.partition.exact import machine_of
from tfdsmcmc.rows import rows_in_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Nest, Seed
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows


def impute(
    self: RBM, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0, steps: int = 100
) -> np.ndarray:
    """Draws missing entries by Gibbs chains in which the observed ones are held fixed.

    Args:
      x: (n, D), missing entries NaN or, under a mask, anything.
      mask: (n, D) or (D,), True where an entry is observed.
      num_imputations: chains for each row.
      seed: integer, or int32 tensor of shape (2,).
      steps: full Gibbs steps of each chain, from draws without a field.

    Returns:
      float32 array (num_imputations, n, D); what is observed is as it was.

    Raises:
      ValueError: for data or arguments that do not fit.
    """
    run = sampling.program(sampling.clamped, self.uses_xla)
    rows = rows_in_memory("x", x, self.units, self.support, mask)
    return imputed(run, machine_of(self), rows, num_imputations, seed, steps)


def imputed(
    run: Callable[..., tf.Tensor],
    weights: Nest,
    rows: Rows,
    num_imputations: int,
    seed: Seed,
    steps: int,
    size: int = 1000,
) -> np.ndarray:
    """(num_imputations, n, D) float32, by a program of chains in which observed entries stay.

    Args:
      run: function (weights, x, observed, steps, seed) → the ends of the chains.
      weights: what it takes.
      rows: `Rows`.
      num_imputations: of each row.
      seed: integer, or int32 tensor of shape (2,).
      steps: of each chain.
      size: rows at a time.
    """
    num_imputations = checks.positive_integer("num_imputations", num_imputations)
    steps, seed = checks.positive_int32("steps", steps), random.as_seed(seed)
    values = rows.values.astype(np.float32)
    if rows.complete:
        return np.repeat(values[np.newaxis], num_imputations, 0)
    parts = []
    for first in range(0, len(values), size):
        block = rows.take(slice(first, first + size))
        x, observed = (np.tile(part, (num_imputations, 1)) for part in (block.values, block.observed))
        block_seed = random.fold(random.stream(seed, "impute"), first)
        found = run(weights, x.astype(np.float32), observed, tf.constant(steps), block_seed)
        parts.append(np.reshape(found, [num_imputations, -1, values.shape[1]]))
    return np.concatenate(parts, 1)
