"""Where data come in: what a user passes is checked and becomes rows, or a source of rows.

Missing entries are NaN, what pandas takes for missing, what a masked array hides, or what a mask says. Beyond this
file none of these is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import keras
import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.datasets import GreyRows
from tfdsmcmc.rows.array_source import ArraySource
from tfdsmcmc.rows.context_source import ContextSource
from tfdsmcmc.rows.dataset_source import DatasetSource, is_dataset
from tfdsmcmc.rows.file_source import FileSource, mapped_rows
from tfdsmcmc.rows.py_dataset import of_py_dataset
from tfdsmcmc.rows.redrawn_source import RedrawnSource
from tfdsmcmc.rows.rows import Rows
from tfdsmcmc.rows.shard import Shard
from tfdsmcmc.rows.source import Source
from tfdsmcmc.supports import Binary, checked_array
from tfdsmcmc.supports.checked_array import real_numbers

if TYPE_CHECKING:
    import tensorflow as tf
    from numpy.typing import ArrayLike

    from tfdsmcmc.datasets import MappedRows
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.supports import Support

# what users pass where rows are read: an array, rows in a file or drawn anew, batches, a source
RowsLike: TypeAlias = "ArrayLike | MappedRows | GreyRows | tf.data.Dataset[Any] | keras.utils.PyDataset | Rows | Source"


def rows_of(
    name: str,
    x: ArrayLike,
    units: int,
    support: Support,
    mask: ArrayLike | None = None,
    missing: bool = True,
) -> Rows:
    """Checks an array of rows.

    Whatever stands in x where the mask is False is gone from here on.

    Args:
      name: what to call the data in an error.
      x: (n, units), array-like; NaN is missing where there is no mask, and so is what a masked array hides.
      units: D.
      support: `supports.Support`, of what values observed entries may have.
      mask: (n, units) or (units,), True where an entry is observed; None for all that is not NaN.
      missing: whether entries may be missing.

    Returns:
      `Rows` of arrays: values uint8 where data are complete and of zeros and ones, else float32.

    Raises:
      ValueError: for data that do not fit, or NaN where the mask is True.
    """
    if mask is not None:
        x = _masked(name, x, mask, units)
    values = checked_array(name, x, units, support, missing=missing)
    if not np.issubdtype(values.dtype, np.floating):
        return Rows(values)
    gaps = np.isnan(values)
    if not gaps.any():
        return Rows(values)
    return Rows(np.where(gaps, np.float32(support.filling), values), ~gaps)


def source_of(
    name: str,
    x: RowsLike,
    units: int,
    support: Support,
    mask: ArrayLike | None = None,
    num_rows: int | None = None,
    missing: bool = True,
    context: Context | None = None,
) -> Source:
    """A source of rows: an array on the device, a file, or a `tf.data.Dataset` of batches; a source as it is.

    Args:
      name: what to call the data in an error.
      x: what `rows_of` takes, or `Rows`; rows of zeros and ones in a file, `datasets.MappedRows` or a `np.memmap` of
        bytes or booleans; `datasets.GreyRows`, drawn anew each epoch; or a `tf.data.Dataset` whose elements are batches
        (B, units).
      units: D.
      support: `supports.Support`, of what values observed entries may have.
      mask: of an array, as in `rows_of`.
      num_rows: of a dataset, the number of its rows where they are not to be counted.
      missing: of a dataset, whether entries may be missing.
      context: `Context`, of what the rows must be given; None for a model of the rows alone.

    Raises:
      ValueError: for data that do not fit, a mask for what is no array, or rows with a context where there must be
        none, or without.
    """
    if isinstance(x, Shard):  # a part of what was checked
        return x
    if isinstance(x, Rows) and x.weight is not None:
        raise ValueError(f"Weights of rows are the sample_weight of fit. Received: {name}, Rows with weights")
    if isinstance(x, Rows) and x.observed is not None:
        _check_observed(name, x)
    frame = hasattr(x, "to_numpy")  # whose columns are attributes
    if hasattr(x, "train") and hasattr(x, "valid") and not frame:
        raise ValueError(f"{name} is rows, such as those of data.train. Received: {name}, a {type(x).__name__}")
    given = None if frame else getattr(x, "context", None)
    _check_context(name, x, given, context)
    if context is not None:
        source = source_of(name, _without_context(name, x), units, support, mask, num_rows, missing)
        if not source.random_access:
            kind = type(x.values).__name__
            raise ValueError(f"Rows with a context have random access, as an array or a file has. Received: {kind}")
        return ContextSource(source, context.values("context", given, source.num_rows))
    if isinstance(x, Rows):  # whatever was done to them, they are checked
        x = _values_of(name, x)
    failures = None
    if isinstance(x, keras.utils.PyDataset):
        x, failures = of_py_dataset(name, x, units)
    try:
        mapped = None if mask is not None and isinstance(x, np.ndarray) else _mapped(x, support)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if mapped is not None:
        x = FileSource(mapped, support.bits)
    if isinstance(x, GreyRows):
        if support != Binary():
            raise ValueError(f"{name}, grey rows, are drawn for a binary data layer. Received: data that are {support}")
        x = RedrawnSource(x)
    if not (is_dataset(x) or isinstance(x, Source)):
        return _checked(ArraySource(rows_of(name, x, units, support, mask)), support)
    if mask is not None:
        raise ValueError(f"In a dataset NaN is missing; mask is for arrays. Received: {type(mask).__name__}")
    if isinstance(x, DatasetSource) and x.checked_for != support and x.units == units:
        x, num_rows, failures = x.dataset, x.known_rows, x.failures  # of another model: checked anew as it is read
    if is_dataset(x):

        def checked(batch):
            return rows_of(name, batch, units, support, missing=missing)

        return _checked(DatasetSource(name, x, units, num_rows, checked, missing, failures), support)
    if x.units != units:
        raise ValueError(f"{name} must have the width {units}. Received: rows of width {x.units}")
    # a source made before may be that of another model; of a file it has bits, and a user's own stream need not end
    known = isinstance(x, (FileSource, RedrawnSource)) or not x.random_access
    if x.checked_for != support and not (support.takes_bits and known):
        for batch in x.batches(10_000):
            support.check(name, batch.values, batch.observed)
    return _checked(x, support)


def _checked(source, support):
    """The source, of which is known that its rows are of the support."""
    source.checked_for = support
    return source


def rows_in_memory(
    name: str, x: RowsLike, units: int, support: Support, mask: ArrayLike | None = None, context: Context | None = None
) -> Rows:  # fmt: skip
    """All rows of what `source_of` takes, as `Rows` of arrays; a mask is for those of a source too.

    Raises:
      ValueError: for data that do not fit, or NaN where the mask is True.
    """
    if isinstance(x, Rows) or context is not None:
        masked = mask if isinstance(x, Rows) else None
        rows = source_of(name, x, units, support, masked, context=context).all()
        found = rows if mask is None or masked is not None else rows_of(name, rows.with_nan(), units, support, mask)
        return found._replace(context=rows.context)
    if isinstance(x, (Source, GreyRows, keras.utils.PyDataset)) or is_dataset(x) or _mapped(x, support) is not None:
        rows = source_of(name, x, units, support).all()
        return rows if mask is None else rows_of(name, rows.with_nan(), units, support, mask)
    return rows_of(name, x, units, support, mask)


def complete_rows(name: str, x: RowsLike, units: int, support: Support) -> np.ndarray:
    """The values (N, units) of rows without gaps; arguments as those of `rows_in_memory`.

    Raises:
      ValueError: for data that do not fit, or missing entries.
    """
    found = rows_in_memory(name, x, units, support)
    if not found.complete:
        raise ValueError(f"{name} must be complete rows. Received: rows with missing entries")
    return found.values


def _mapped(x, support):
    """x as mapped rows where it is such, or an array in a file whose entries are to be zeros and ones; else None."""
    return None if isinstance(x, np.ndarray) and not support.bits else mapped_rows(x)


def _check_observed(name, x):
    """Raises a ValueError for a mask of `Rows` that is none: it stands where labels are looked for."""
    shape, found = np.shape(x.values), np.shape(x.observed)
    if found != shape:
        raise ValueError(
            f"observed of {name} must have the shape {shape} of the values; labels are Rows(x, context=…). "
            f"Received: shape={found}"
        )
    checks.observed(f"observed of {name}", x.observed, shape)
    unknown = np.isnan(real_numbers(name, x.values)) & np.asarray(x.observed, bool)
    if unknown.any():
        raise ValueError(
            f"{name} must be known where observed is True. Received: {unknown.sum()} such entries that are NaN"
        )


def _check_context(name, x, given, context):
    """Raises a ValueError for rows with a context that the model does not take, or without one that it needs."""
    if context is None and given is not None:
        raise ValueError(f"{name} has a context, and the model is of rows alone. Received: {name} with a context")
    if context is not None and given is None:
        raise ValueError(
            f"{name} needs a context of {context.units} entries a row, Rows(x, context=…): the model is of p(x given "
            f"it). Received: {name}, a {type(x).__name__} without"
        )


def _without_context(name, x):
    """The rows, or the source of them, alone."""
    if isinstance(x, Rows):
        return _values_of(name, x)
    return x.source if isinstance(x, ContextSource) else ArraySource(x.rows._replace(context=None))


def _values_of(name, x):
    """The values of `Rows`, with NaN where they are not observed."""
    return x.values if x.observed is None else Rows(real_numbers(name, x.values), x.observed).with_nan()


def _masked(name, x, mask, units):
    """x with NaN where the mask is False; as it is where it is no array of numbers, which the check of rows refuses."""
    try:
        array = checks.numbers(x)
        if array.dtype.kind not in "biufO":
            return x
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return x
    if array.ndim != 2 or array.shape[1] != units:
        return x
    observed = checks.observed("mask", mask, array.shape)
    unknown = int(np.isnan(array[observed]).sum())
    if unknown:
        raise ValueError(f"{name} must be known where mask is True. Received: {unknown} such entries that are NaN")
    return np.where(observed, array, np.nan)
