"""The rows that `fit` is given: whether a step can go through them, and which are held out."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc.rows import DatasetSource

if TYPE_CHECKING:
    from tfdsmcmc.rows.source import RandomAccessSource, Source
    from tfdsmcmc.training.steps.step import Step


def check(source: Source, step: Step, steps_per_epoch: int | None, num_rows: int | None) -> None:
    """Raises a ValueError for rows that a step cannot go through, before any of them is read.

    Args:
      source: the rows.
      step: `Step`.
      steps_per_epoch: as given to `fit`, or None.
      num_rows: as given to `fit`, or None.
    """
    if not source.random_access:
        if not isinstance(source, DatasetSource):
            raise ValueError(
                f"Learning takes rows with random access, or a tf.data.Dataset. Received: x={type(source).__name__}"
            )
        if step.per_row:
            raise ValueError(
                "This method keeps something of each row, such as the state of its chain or the means of its units, "
                "and needs rows with random access. Received: x, a dataset"
            )
        if steps_per_epoch is None and int(source.dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
            raise ValueError("An infinite dataset needs steps_per_epoch. Received: steps_per_epoch=None")
    if not step.needs_passes:
        return
    if steps_per_epoch is not None or not source.random_access:
        raise ValueError(
            "This method goes once over all rows in an epoch: rows with random access, and no steps_per_epoch. "
            f"Received: steps_per_epoch={steps_per_epoch}, x={type(source).__name__}"
        )
    if num_rows not in (None, source.num_rows):
        raise ValueError(
            "This method sums over the rows that there are: leave num_rows out. "
            f"Received: num_rows={num_rows} for {source.num_rows} rows"
        )


def cardinality(source: DatasetSource) -> int | None:
    """The batches of a dataset, None where they are not known."""
    count = int(source.dataset.cardinality()) if isinstance(source, DatasetSource) else -1
    return count if count >= 0 else None


def check_repeats(source: DatasetSource) -> None:
    """Raises a ValueError for a dataset that gives its rows once: they have been looked at, and none is left."""
    if next(iter(source.dataset.take(1)), None) is None:
        raise ValueError(
            "A dataset must give its rows whenever it is read: from a function that begins anew. "
            "Received: x, a dataset that gave them once"
        )


def warn_of_uneven_batches(source: DatasetSource) -> None:
    """Warns of a dataset some of whose batches have less than half of the rows of others: all batches count alike."""
    least, most = source.batch_sizes or (1, 1)
    if 2 * least < most:
        warnings.warn(
            f"The batches of x, a dataset, have {least} to {most} rows, and each counts alike in a posterior: a row "
            f"of the smallest counts {most / least:.3g} times as much. Batch with drop_remainder=True, and shuffle "
            "before.",
            UserWarning,
            stacklevel=7,
        )


def first(source: Source, steps: int | None, batch_size: int) -> Source:
    """The rows of the first `steps` batches of validation data; all where `steps` is None."""
    if steps is None or not source.random_access:  # whose batches were cut off when they were a dataset
        return source
    return source.part(slice(0, steps * batch_size))


def split_last(source: RandomAccessSource, fraction: float) -> tuple[RandomAccessSource, RandomAccessSource]:
    """(the source without its last rows, one of the last `fraction` of the rows)."""
    if not source.random_access:
        raise ValueError(f"validation_split is for arrays and files. Received: validation_split={fraction}")
    held_out = math.floor(round(source.num_rows * fraction, 6))  # not 28.99… of 29
    if not 0 < held_out < source.num_rows:
        raise ValueError(f"validation_split must leave rows on both sides. Received: validation_split={fraction!r}")
    return source.part(slice(None, -held_out)), source.part(slice(-held_out, None))
