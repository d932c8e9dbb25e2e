"""The rows of a fit as sources, all that can be checked before it checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc.rows import ArraySource, ContextSource, DatasetSource, Rows, WeightedSource, source_of, weighted
from tfdsmcmc.rows.py_dataset import FirstBatches
from tfdsmcmc.training.feeding import rows_of_fit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.training.fitting.arguments import FitArguments
    from tfdsmcmc.training.fitting.learnable import Learnable


def source_for(
    model: Learnable, name: str, x: RowsLike, mask: ArrayLike | None = None, num_rows: int | None = None,
    gaps_are_filled: bool = False,
) -> Source:  # fmt: skip
    """The rows that a user passes as a source, checked; those of a dataset are checked as they come.

    Args:
      model: `Learnable`, whose rows these are.
      name: what an error calls them.
      x: the rows.
      mask: of an array, True where an entry is observed.
      num_rows: of a dataset, where its rows are not to be counted.
      gaps_are_filled: whether they may have gaps whatever the model: the step draws what is missing.

    Raises:
      ValueError: for rows that do not fit.
    """
    takes_gaps = model.takes_gaps or gaps_are_filled
    source = source_of(name, x, model.units, model.support, mask, num_rows, takes_gaps, model.context)
    if not isinstance(source, DatasetSource) and not gaps_are_filled:
        model.check_rows(source)
    return source


def sources_of_fit(
    model: Learnable, x: RowsLike, mask: ArrayLike | None, validation_data: Any, told: FitArguments,
    sample_weight: ArrayLike | None = None,
) -> tuple[Source, Source | None]:  # fmt: skip
    """(the rows to learn from, those to validate on or None); arguments as those of `Fitting.begin`.

    Weights are of the rows to learn from: those held out are validated on each once.
    """
    source = model.source("x", x, mask, told.num_rows, model.run.step.fills_gaps)
    weights = None
    if sample_weight is not None:
        weights = _weighted(model.run.step, source, sample_weight, told.num_rows).weights
    if told.validation_split and validation_data is None:
        source, validation_data = rows_of_fit.split_last(source, told.validation_split)
    _check_observed(source)
    if weights is not None:
        source = weighted(source, weights[: source.num_rows])
    if validation_data is not None:
        batch_size = told.validation_batch_size or told.batch_size
        validation_data = _validation(model, validation_data, told.validation_steps, batch_size)
    _check(model, source, told)
    return source, validation_data


def _check_observed(source):
    """Raises a ValueError for an array of which nothing is observed, with a context or without."""
    source = source.source if isinstance(source, ContextSource) else source
    observed = source.rows.observed if isinstance(source, ArraySource) else None
    if observed is not None and not observed.any():
        raise ValueError(f"At least one entry of x must be observed. Received: {observed.size} missing ones")


def _weighted(step, source, weights, num_rows):
    """The source with weights, where the step heeds them."""
    if not step.takes_weights:
        raise ValueError(
            "This method counts each row once: leave sample_weight out, or repeat the rows. "
            f"Received: sample_weight, and a step that is a {type(step).__name__}"
        )
    if num_rows is not None:
        raise ValueError(
            "With sample_weight N is the sum of the weights: leave num_rows out. "
            f"Received: num_rows={num_rows}, sample_weight"
        )
    return weighted(source, weights)


def _validation(model, data, steps, batch_size):
    """The source of the first `steps` batches of validation data, or of all, checked before anything is learnt."""
    if isinstance(data, tuple) and not data:
        raise ValueError("validation_data is rows, or None. Received: validation_data=()")
    if isinstance(data, tuple) and not isinstance(data, Rows):
        if any(part is not None for part in data[1:]):
            raise ValueError(
                "validation_data takes data x alone: there are no targets. "
                f"Received: a tuple of {[type(part).__name__ for part in data]}"
            )
        data = data[0]
    if isinstance(data, WeightedSource):
        data = data.source
    if isinstance(data, tf.data.Dataset) and steps is not None:
        data = data.take(steps)  # which need not end
    if isinstance(data, keras.utils.PyDataset) and steps is not None:
        data = FirstBatches(data, steps)
    source = rows_of_fit.first(model.source("validation_data", data), steps, batch_size)
    source.check()
    model.check_rows(source)
    return source


def _check(model, source, told):
    """Raises a ValueError for rows that the step cannot go through; reads a dataset once, or its first batch."""
    rows_of_fit.check(source, model.run.step, told.steps_per_epoch, told.num_rows)
    if source.random_access:
        model.run.step.check_rows(source)
    else:
        source.check()
        model.check_rows(source)
        rows_of_fit.check_repeats(source)
        rows_of_fit.warn_of_uneven_batches(source)
