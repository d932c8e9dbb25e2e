"""The name that `export` had for Boltzmann machines."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tfdsmcmc.serving.saved_model.export import export

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition


def export_machines(
    model: RBM | DBN,
    path: FilePath,
    version: int = 1,
    log_partition: LogPartition | float | None = None,
    steps: int = 1000,
    **arguments: Any,
) -> str:
    """`serving.export` of an `RBM` or `DBN`, which it is better called by.

    Args:
      model: `boltzmann.RBM` or `boltzmann.DBN`.
      path: the served model's folder.
      version: positive integer.
      log_partition: as of `export`.
      steps: `sweeps` of `export`.
      **arguments: others of `export`.

    Returns:
      The version's path, a string.

    Raises:
      ValueError: as of `export`.

    Warns:
      DeprecationWarning: always.
    """
    warnings.warn("Call serving.export: it takes every model.", DeprecationWarning, stacklevel=2)
    return export(model, path, version, sweeps=steps, log_partition=log_partition, **arguments)
