"""What a step does several times in turn, as a loop of its program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest


def repeated(function: Callable[..., Nest], count: int, start: Nest) -> Nest:
    """function(i, ·) for i = 0, …, count − 1 in turn, from `start` on: as a loop of the program, but for the first.

    The first tells the structure of the values, which need not be that of `start`. A program of ten updates, one after
    the other, would compile for a minute.

    Args:
      function: of a number and a nest of tensors, to such a nest; None stays None.
      count: at least 1.
      start: nest.
    """
    first = function(0, start)
    if count == 1:
        return first
    like = [tf.convert_to_tensor(part) for part in _tensors(first)]

    def advance(i, parts):
        values = function(i, _packed(first, parts))
        return i + 1, [tf.ensure_shape(new, old.shape) for new, old in zip(_tensors(values), like, strict=True)]

    limit = {"maximum_iterations": count - 1}
    return _packed(first, loops.while_loop(lambda i, _: i < count, advance, (1, like), **limit)[1])


def _tensors(nest):
    return [part for part in tf.nest.flatten(nest) if part is not None]


def _packed(like, tensors):
    """The tensors as a nest of another's structure; None stays None."""
    tensors = iter(tensors)
    return tf.nest.map_structure(lambda part: None if part is None else next(tensors), like)
