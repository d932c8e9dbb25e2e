"""The name that `posterior.log_likelihood` had for Boltzmann machines."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfdsmcmc._common.estimates import LogLikelihood

if TYPE_CHECKING:
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition
    from tfdsmcmc.rows.from_users import RowsLike


def predictive_log_likelihood(
    rbm: RBM,
    posterior: Any,
    x: RowsLike,
    log_partition: Callable[[Machine], LogPartition | float] | None = None,
    batch_size: int = 1000,
) -> LogLikelihood:
    """`posterior.log_likelihood(rbm, x, average="draws", log_partition=…)`, by which it is better called.

    Args:
      rbm: `RBM` of the samples' architecture; its weights stay as they are.
      posterior: `Posterior`, as `posterior.load` gives it.
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      log_partition: as of `posterior.log_likelihood`.
      batch_size: rows at a time.

    Returns:
      `LogLikelihood`.

    Raises:
      ValueError: as of `posterior.log_likelihood`.

    Warns:
      DeprecationWarning: always.
    """
    warnings.warn("Call posterior.log_likelihood: it takes every model.", DeprecationWarning, stacklevel=2)
    return posterior.log_likelihood(rbm, x, 1, 0, batch_size, average="draws", log_partition=log_partition)
