"""A `keras.utils.PyDataset` of batches as a `tf.data.Dataset`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc.supports.checked_array import real_numbers


class FirstBatches(keras.utils.PyDataset):
    """The first batches of another, of which `on_epoch_end` is called all the same.

    Args:
      dataset: the other.
      count: how many, at most.
    """

    def __init__(self, dataset: keras.utils.PyDataset, count: int):
        super().__init__()
        self._dataset, self._count = dataset, count

    @property
    def num_batches(self) -> int | None:
        known = self._dataset.num_batches
        return None if known is None else min(self._count, known)

    def __getitem__(self, place: int) -> Any:
        return self._dataset[place]

    def on_epoch_end(self) -> None:
        self._dataset.on_epoch_end()


def of_py_dataset(
    name: str, dataset: keras.utils.PyDataset, units: int
) -> tuple[tf.data.Dataset[Any], list[ValueError]]:  # fmt: skip
    """(the batches, what was wrong with one): tf.data raises errors of its own.

    They come in the order of their numbers, pass after pass; `on_epoch_end` is called after each,
    and after the pass that counts and checks the rows before the first.

    Its workers are not used: batches are made one after the other.

    Args:
      name: what to call the data in an error.
      dataset: whose elements are arrays (B, D), or tuples of one.
      units: D.

    Raises:
      ValueError: for one without a number of batches.
    """
    count = dataset.num_batches
    if count is None:
        raise ValueError(f"{name}, a PyDataset, must have a number of batches. Received: num_batches=None")

    failures = []

    def batches():
        for place in range(count):
            try:
                rows = _rows_of(name, dataset[place], units)
            except ValueError as error:
                failures.append(error)
                raise
            yield rows
        dataset.on_epoch_end()

    found = tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec([None, units], tf.float32))
    return found.apply(tf.data.experimental.assert_cardinality(count)), failures


def _rows_of(name, element, units):
    parts = element if isinstance(element, tuple) else (element,)
    if any(part is not None for part in parts[1:]):
        raise ValueError(f"{name}, a PyDataset, has data alone: there are no targets. Received: {len(parts)} parts")
    x = real_numbers(f"A batch of {name}, a PyDataset,", parts[0]).astype(np.float32)
    if x.ndim != 2 or x.shape[1] != units:
        raise ValueError(f"{name}, a PyDataset, yields batches of shape (rows, {units}). Received: shape={x.shape}")
    return x
