"""How a deep belief network fills gaps: `impute` of `DBN`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.deep.sweeps import layers_of, swept, widths_of
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.machines.imputing import imputed
from tfdsmcmc.rows import rows_in_memory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.rows.from_users import RowsLike

_CHAINS = 200  # of imputations in one call


def impute(
    self: DBN, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0, steps: int = 100
) -> np.ndarray:
    """Draws missing entries by Gibbs sweeps over all hidden units, observed entries held fixed.

    A sweep draws each unit of the lower hidden layers given all else, one after the other, as directed connections
    make them depend on each other; the topmost layer and the missing entries at once.

    Args:
      x: (n, D), missing entries NaN or, under a mask, anything.
      mask: (n, D) or (D,), True where an entry is observed.
      num_imputations: chains for each row.
      seed: integer, or int32 tensor of shape (2,).
      steps: sweeps of each chain, from random bits.

    Returns:
      float32 array (num_imputations, n, D); what is observed is as it was.

    Raises:
      ValueError: for data or arguments that do not fit.
    """
    if len(self.rbms) == 1:
        return self.rbms[0].impute(x, mask, num_imputations, seed, steps)
    stack = self.stack
    layers_of(widths_of(stack.machines))
    rows = rows_in_memory("x", x, self.units, self.support, mask)
    num_imputations = checks.positive_integer("num_imputations", num_imputations)
    run, size = sampling.program(swept, self.uses_xla), max(1, _CHAINS // num_imputations)
    return imputed(run, stack, rows, num_imputations, seed, steps, size)
