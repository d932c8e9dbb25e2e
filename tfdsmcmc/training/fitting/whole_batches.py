"""A warning of minibatches of all rows, whose gradients do not tell a warm start how long its steps may be."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from tfdsmcmc.mcmc import WarmStart

if TYPE_CHECKING:
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support


def warn_of_whole_batches(
    kernel: StochasticGradientKernel | None, support: Support, source: Source, batch_size: int
) -> None:
    """Warns where the choice of rows makes no noise, by which rates are found, and some columns are of numbers.

    Args:
      kernel: of the step, or None.
      support: of the rows.
      source: the rows.
      batch_size: B.

    Warns:
      UserWarning: for rows of numbers, all of them in a minibatch, by a kernel with rates by noise, see
        `mcmc.rates_by_noise`.
    """
    by_noise = isinstance(kernel, WarmStart) and kernel.tolerance is not None
    if by_noise and not support.discrete and source.random_access and 1 < source.num_rows <= batch_size:
        warnings.warn(
            "A minibatch of all rows has no noise of the choice of rows, which tells the kernel how long its steps "
            "may be: weights that say one column of numbers by others may be flung off when sampling begins. Take a "
            f"batch_size of at most half of the rows. Received: {source.num_rows} rows, batch_size={batch_size}",
            stacklevel=5,
        )
