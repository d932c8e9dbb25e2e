"""Numbers that are finite: what every update asks of its result, and every file of its weights."""

from __future__ import annotations

import numpy as np
import tensorflow as tf


def all_finite(tensors):
    """Whether all entries of the floating tensors among these are finite: a boolean scalar, True for none."""
    floating = [part for part in map(tf.convert_to_tensor, tensors) if part.dtype.is_floating]
    return tf.reduce_all([tf.reduce_all(tf.math.is_finite(part)) for part in floating])


def check_finite(what, arrays):
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
