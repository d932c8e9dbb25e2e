"""What rows are given: labels or covariates c, the parents of the top layer of p(x, z given c)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc.supports import OneHot, Real, checked_array

if TYPE_CHECKING:

    from tfdsmcmc.supports import Support


class Context:
    """What the context of a row consists of.

    Args:
      parts: C, the number of real covariates; or a list of the numbers of states of categorical ones, such as [10] for
        a label of ten classes, which are zeros and a one then.

    Attributes:
      units: C, the entries of a row's context.
      support: `supports.Support`, of what values they have.

    Raises:
      ValueError: for something else.
    """

    units: int
    support: Support
    parts: int | list[int]

    def __init__(self, parts: int | Sequence[int]):
        if isinstance(parts, (int, np.integer)) and not isinstance(parts, bool) and parts > 0:
            self.units, self.support, self.parts = int(parts), Real(), int(parts)
            return
        if not isinstance(parts, (list, tuple)):
            raise ValueError(
                "context is a number of real covariates, or a list of numbers of states such as [10]. "
                f"Received: context={parts!r}"
            )
        self.support = OneHot(parts)
        self.units, self.parts = sum(self.support.groups), list(self.support.groups)

    def __repr__(self) -> str:
        return f"Context({self.parts})"

    def values(self, name: str, given: Any, num_rows: int) -> np.ndarray:
        """The context of so many rows, (n, C) float32.

        Args:
          name: what to call it in an error.
          given: (n, C); of categorical covariates the numbers of their states too, (n, categories) or (n,) integers.
            One for all rows is (C,), of numbers that are not integers, or a state.
          num_rows: n.

        Raises:
          ValueError: for a context that does not fit.
        """
        array = _array(name, given)
        if hasattr(self.support, "groups") and array.shape == (num_rows,) == (self.units,) and num_rows > 1:
            if not np.issubdtype(array.dtype, np.integer):  # labels, or one of all rows
                raise ValueError(f"{name} must be integers where it has a number for each row. Received: {array.dtype}")
        array = self._one_hot(name, array)
        if array.ndim < 2:
            array = np.broadcast_to(array, (num_rows, self.units)) if array.shape == (self.units,) else array
        found = checked_array(name, array, self.units, self.support).astype(np.float32)
        if len(found) != num_rows:
            raise ValueError(f"{name} must have a row for each of {num_rows} rows. Received: {len(found)} rows")
        return found

    def _one_hot(self, name, array):
        """Numbers of states as zeros and ones; anything else as it is."""
        groups = getattr(self.support, "groups", None)
        if groups is None or not np.issubdtype(array.dtype, np.integer):
            return array
        if len(groups) == 1 and array.ndim < 2:
            array = array[..., np.newaxis]
        if array.shape[-1:] != (len(groups),) or array.shape[-1:] == (self.units,):
            return array
        wrong = (array < 0) | (array >= groups)
        if wrong.any():
            raise ValueError(f"{name} must be states in 0, …, {groups} − 1. Received: {int(wrong.sum())} others")
        return np.concatenate([np.eye(size)[array[..., i]] for i, size in enumerate(groups)], -1)


def of_draws(context: Context | None, given: Any, num_draws: int) -> np.ndarray | None:
    """What draws of a model are given, (n, C) float32; None where it is of rows alone.

    Raises:
      ValueError: for a context that the model does not take, or none where it needs one.
    """
    if (context is None) != (given is None):
        takes = "takes no context" if context is None else f"needs a context of {context.units} entries for each draw"
        raise ValueError(f"This model {takes}. Received: context={given!r}")
    return None if context is None else context.values("context", given, num_draws)


def _array(name, given):
    if np.ma.is_masked(given):
        raise ValueError(f"{name} is known of each row. Received: a masked array")
    try:
        return np.asarray(given)
    except ValueError:
        raise ValueError(f"{name} must be an array. Received: a {type(given).__name__} of unequal rows") from None
