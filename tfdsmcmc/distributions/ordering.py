"""The order in which an autoregressive distribution takes its units."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf


def check_ordering(ordering: Sequence[int] | np.ndarray | None, units: int) -> list[int] | None:
    """Returns an order as a list of integers, the unit drawn first first; None is the natural order.

    Raises:
      ValueError: if `ordering` is no permutation of 0, …, units − 1.
    """
    if ordering is None:
        return None
    try:
        order = np.asarray(ordering)
        valid = order.ndim == 1 and np.issubdtype(order.dtype, np.integer) and sorted(order) == list(range(units))
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(
            f"ordering must be a permutation of the integers from 0 to {units - 1}. Received: ordering={ordering!r}"
        )
    return [int(unit) for unit in order]


def in_order(x: tf.Tensor, ordering: Sequence[int] | np.ndarray | None, axis: int = -1) -> tf.Tensor:
    """The units of an axis, put in order."""
    return x if ordering is None else _permuted(x, ordering, axis)


def in_place(x: tf.Tensor, ordering: Sequence[int] | np.ndarray | None, axis: int = -1) -> tf.Tensor:
    """The inverse of `in_order`."""
    return x if ordering is None else _permuted(x, np.argsort(ordering), axis)


def _permuted(x, order, axis):
    @tf.custom_gradient
    def permute(x):
        # the inverse permutation, where TensorFlow would scatter
        return tf.gather(x, order, axis=axis), lambda upstream: tf.gather(upstream, np.argsort(order), axis=axis)

    return permute(x)
