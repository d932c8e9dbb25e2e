"""Numbers that are finite: what every update asks of its result, and every file of its weights."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

_FOLDS, _LARGE = 16, 10_000


def all_finite(tensors: Iterable[Any]) -> tf.Tensor:
    """Whether all entries of the floating tensors among these are finite: a boolean scalar, True for none.

    What XLA on a CPU reduces to a scalar it reads entry by entry, at the cost of a sixth of a step of a large Boltzmann
    machine. So the flags of tensors of one shape are joined first, and folded onto a fraction of their number, by
    operations that it makes for many entries at once.
    """
    groups = {}
    for number, part in enumerate(map(tf.convert_to_tensor, tensors)):
        if part.dtype.is_floating:
            shape = tuple(part.shape) if part.shape.is_fully_defined() else number
            groups.setdefault(shape, []).append(tf.math.is_finite(part))
    joined = (functools.reduce(tf.logical_and, group) for group in groups.values())
    return tf.reduce_all([tf.reduce_all(_folded(flags)) for flags in joined])


def check_finite(what: str, arrays: Iterable[Any]) -> None:
    """Raises a ValueError if one of some arrays has an entry that is not finite.

    Args:
      what: what the arrays are, such as "the model's weights", for the error.
      arrays: floating arrays or tensors.
    """
    wrong = sum(int(np.size(part)) - int(np.isfinite(np.asarray(part)).sum()) for part in arrays)
    if wrong:
        raise ValueError(
            f"Entries of {what} must be finite; where learning diverged, take a lower learning rate. "
            f"Received: {wrong} that are not"
        )


def _folded(flags):
    """Flags of which all are True where all of the given ones are, a fraction of their number."""
    count = flags.shape.num_elements() or 0
    folds = math.gcd(count, _FOLDS) if count >= _LARGE else 1
    return flags if folds == 1 else functools.reduce(tf.logical_and, tf.unstack(tf.reshape(flags, [folds, -1])))
