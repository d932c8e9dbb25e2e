"""What a path to a machine begins at: independent units, or a mixture of such."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis
from tfdsmcmc.boltzmann.mixture.path import Mixture, MixturePath
from tfdsmcmc.boltzmann.partition.paths import BaseRatePath
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.rows import Rows, complete_rows

if TYPE_CHECKING:
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.rows.from_users import RowsLike

_SMOOTHING = 0.05  # of the rows, values of each sort that are added to those counted: 3,000 of 60,000


def base_rates(x: RowsLike) -> np.ndarray:
    """Logits of the columns' means, (D,), with N/20 ones and as many zeros added, so that none is infinite.

    Args:
      x: (N, D) zeros and ones, or a source of such rows, as `datasets.open` gives it; grey rows are drawn once.

    Raises:
      ValueError: for what are no such rows.
    """
    return Binary().fit(complete_rows("x", x, _units_of("x", x), Binary().support), _SMOOTHING)[0]


def checked_base(base: Any, machine: Machine) -> tuple[np.ndarray | None, Any]:
    """(rows of data or None, the base: weights [c, …] of independent units, float32 tensors, or a `Mixture`)."""
    units, (bias, *further) = int(machine.kernel.shape[0]), machine.visible_weights
    if base is None:
        return None, [tf.zeros_like(bias), *further]
    if isinstance(base, MixtureOfBernoullis):
        if machine.visible != Binary():
            raise ValueError(f"A mixture of Bernoullis is a base of binary units. Received: {machine.visible!r}")
        if base.units != units:
            raise ValueError(f"base must be a mixture of {units} units. Received: one of {base.units}")
        return None, Mixture(*base.density().parts)  # checked, frozen or not, and with shares that add up to 1
    several = isinstance(base, Rows) or hasattr(base, "units") or hasattr(base, "element_spec")
    if several or len(_shape("base", base)) == 2:
        rows = complete_rows("base", base, units, machine.visible.support)
        return rows, [tf.constant(part) for part in machine.visible.fit(rows, _SMOOTHING)]
    try:
        vector = np.asarray(base).astype(np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"base must be an array of numbers. Received: {type(base).__name__}") from None
    if vector.shape != (units,):
        raise ValueError(f"base must be biases of shape ({units},), or rows of data. Received: shape={vector.shape}")
    check_finite("base", [vector])
    return None, [tf.constant(vector), *further]


def path_from(base: Any, machine: Machine, num_runs: int) -> MixturePath | BaseRatePath:
    """The path from a base, as `checked_base` gives it, to a machine."""
    return (MixturePath if isinstance(base, Mixture) else BaseRatePath)(machine, base, num_runs)


def _units_of(name, x):
    """D of a source, of a dataset of batches, of `Rows` or of an array; 0 where it has none."""
    x = x.values if isinstance(x, Rows) else x
    shape = getattr(getattr(x, "element_spec", x), "shape", None)
    shape = _shape(name, x) if shape is None else shape
    return getattr(x, "units", int(shape[-1]) if len(shape) == 2 else 0)


def _shape(name, x):
    """The shape of what NumPy makes an array of."""
    try:
        return np.shape(x)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers. Received: {type(x).__name__}") from None
