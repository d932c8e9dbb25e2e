"""Frames of Polars and tables of Arrow, by way of pandas and back, with narwhals.

| there | in pandas |
| --- | --- |
| booleans | booleans |
| integers | integers of their size |
| floating numbers, decimals of 128 bits | floating numbers of their size, null where they are NaN |
| enumerations | categories, in their order |
| dictionaries of Arrow that are ordered, all parts alike | ordered categories, in their order |
| other categories, dictionaries | categories, those that are there, sorted |
| all else | objects, which are of no kind unless `kinds` says so |

What comes back has the types of what was given: columns with gaps are made anew, the others are the very same. An
enumeration that lacks what fills it gets the one of `fit`.
"""

from __future__ import annotations

import decimal
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc.imputer.kinds_of_columns import ENUMERATIONS

if TYPE_CHECKING:
    import pandas

_LIBRARIES = ("polars", "pyarrow")
_NOT_YET = {
    ("polars", "LazyFrame"): "X.collect()",
    ("pyarrow", "RecordBatch"): "pyarrow.Table.from_batches([X])",
}


def check_in_memory(x: object) -> None:
    """Raises a ValueError for what becomes a frame of Polars or a table of Arrow by one call more."""
    for (module, name), made in _NOT_YET.items():
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(x, kind):
            raise ValueError(f"X must be a frame or a table, as {made} is. Received: X of type {name}")


def is_foreign(x: object) -> bool:
    """Whether x is a frame of Polars or a table of Arrow; neither is imported for the question."""
    names = [(module, sys.modules.get(module)) for module in _LIBRARIES]
    classes = [getattr(m, "DataFrame" if name == "polars" else "Table", None) for name, m in names if m is not None]
    return isinstance(x, tuple(found for found in classes if found is not None))


def to_pandas(x: Any) -> pandas.DataFrame:
    """A foreign frame in pandas.

    Raises:
      ImportError: if narwhals is not installed.
    """
    import pandas

    frame = _narwhals().from_native(x, eager_only=True)
    made = pandas.DataFrame({name: _series(frame[name]) for name in frame.columns})
    made.attrs[ENUMERATIONS] = [name for name in frame.columns if frame[name].dtype == _narwhals().Enum]
    return made


def like(x: Any, filled: pandas.DataFrame, learnt: Any = None) -> Any:
    """A frame of pandas as one of the library of x, with its types.

    Args:
      x: a foreign frame; where it has as many rows, columns without gaps in it are taken from there.
      filled: some of its columns.
      learnt: a foreign frame without rows, which has types for columns that show nothing in x; or None.
    """
    nw = _narwhals()
    frame, columns = nw.from_native(x, eager_only=True), {}
    typed = frame if learnt is None else nw.from_native(learnt, eager_only=True)
    typed = typed if typed.implementation == frame.implementation else frame
    for name in filled.columns:
        column = frame[name] if name in frame.columns else None
        kept = column is not None and len(column) == len(filled) and not _missing(column).any()
        if kept:
            columns[name] = column
        elif column is not None and _shows_no_type(column, filled[name]):
            columns[name] = _back(nw, typed, name, filled[name], typed[name])
        else:
            columns[name] = _back(nw, frame, name, filled[name], column)
    return nw.from_dict(columns).to_native()


def made(x: Any, frame: pandas.DataFrame) -> Any:
    """A frame of pandas as one of the library of x, of whose columns it has none.

    Args:
      x: a foreign frame.
      frame: whose columns may have the names of some of x.
    """
    nw = _narwhals()
    foreign = nw.from_native(x, eager_only=True)
    columns = {str(name): _back(nw, foreign, str(name), frame[name], None) for name in frame.columns}
    return nw.from_dict(columns).to_native()


def emptied(x: Any) -> Any:
    """A foreign frame without its rows, which has its types."""
    return x.slice(0, 0)


def _narwhals():
    try:
        import narwhals
    except ImportError as error:
        raise ImportError(f"Frames of this kind need narwhals: pip install tfdsmcmc[tables]. ({error})") from error
    return narwhals


def _missing(column):
    """(n,), null or NaN."""
    missing = column.is_null().to_numpy().astype(bool)
    return missing | column.is_nan().fill_null(False).to_numpy().astype(bool) if column.dtype.is_float() else missing


def _series(column):
    """A column in pandas."""
    import pandas

    nw, dtype = _narwhals(), column.dtype
    if dtype in (nw.Int128, nw.UInt128):
        raise ValueError(f"Column {column.name!r} must be of numbers of up to 64 bits. Received: {dtype} entries")
    values = column.to_list()
    if dtype == nw.Boolean:
        return pandas.Series(pandas.array(values, dtype="boolean"))
    if dtype.is_integer():
        return pandas.Series(pandas.array(values, dtype=str(dtype)))
    if dtype.is_float() or dtype.is_decimal():
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
        return pandas.Series(numbers.astype(np.float32 if dtype == nw.Float32 else np.float64))
    if dtype == nw.Enum:
        return pandas.Series(pandas.Categorical(values, categories=list(dtype.categories)))
    if dtype == nw.Categorical and getattr(getattr(column.to_native(), "type", None), "ordered", False):
        states = _states_in_order(column.to_native())
        if states is not None:
            return pandas.Series(pandas.Categorical(values, states, ordered=True))
    if dtype == nw.Categorical:
        return pandas.Series(pandas.Categorical(values, sorted({value for value in values if value is not None})))
    return pandas.Series(values, dtype=object)


def _states_in_order(array):
    """The states of an ordered dictionary of Arrow; None where its chunks disagree, or repeat one."""
    parts = {tuple(chunk.dictionary.to_pylist()) for chunk in array.chunks}
    longest = max(parts, key=len, default=())
    alike = all(part == tuple(filter(set(part).__contains__, longest)) for part in parts)
    return list(longest) if alike and None not in longest and len(set(longest)) == len(longest) else None


def _takes(column, series):
    """Whether a column has a type for what fills it: one that shows nothing may be of any, one without rows not.

    What fills numbers has the type of `fit` where theirs does not hold it.
    """
    from pandas.api import types

    own = _series(column).dtype
    if own == series.dtype or hasattr(own, "categories") and hasattr(series.dtype, "categories"):
        return True
    if len(column) and _missing(column).all():
        return False
    return not (types.is_numeric_dtype(own) and types.is_numeric_dtype(series.dtype))


def _shows_no_type(column, series):
    """Whether a column with rows has nothing in it, and a type that does not hold what fills it."""
    return bool(len(column)) and _missing(column).all() and not _takes(column, series)


def _back(nw, frame, name, series, column):
    """A column of pandas in the library of a frame, of the type of a column of it, or of none in particular."""
    values = [None if missing else value for value, missing in zip(series.tolist(), series.isna())]
    dtype = None if column is None or not _takes(column, series) else column.dtype
    if dtype is not None and dtype.is_decimal():
        values = _decimals(values, column)
    if dtype is not None and frame.implementation.is_pyarrow():
        import pyarrow  # whose dictionaries have types of their own

        kind = frame.to_native().schema.field(name).type  # of a column that is all null, none: that of what fills it
        if getattr(kind, "ordered", False) and hasattr(series.dtype, "categories"):
            codes = pyarrow.array([None if code < 0 else code for code in series.cat.codes], kind.index_type)
            states = pyarrow.array(list(series.dtype.categories), kind.value_type)
            array = pyarrow.DictionaryArray.from_arrays(codes, states, ordered=True)
        elif pyarrow.types.is_dictionary(kind):
            found = pyarrow.array(values, kind.value_type).dictionary_encode()
            codes = found.indices.cast(kind.index_type)
            array = pyarrow.DictionaryArray.from_arrays(codes, found.dictionary, ordered=kind.ordered)
        else:
            array = pyarrow.array(values, None if pyarrow.types.is_null(kind) else kind)
        return nw.from_native(pyarrow.chunked_array([array]), series_only=True)
    if dtype is None or dtype in (nw.Categorical, nw.Enum):
        if dtype == nw.Enum and not set(values) <= {None, *dtype.categories}:
            dtype = nw.Enum([str(state) for state in series.dtype.categories])
        plain = nw.new_series(name, values, backend=frame.implementation)
        return plain if dtype is None else plain.cast(dtype)
    return nw.new_series(name, values, dtype, backend=frame.implementation)


def _decimals(values, column):
    """Numbers as decimals of the type of a column, those that it has itself as they stand there."""
    native = column.to_native()
    kind = getattr(native, "type", None) or native.dtype
    own = column.to_list() if len(column) == len(values) else [None] * len(values)
    with decimal.localcontext(decimal.Context(prec=100)):
        unit = decimal.Decimal(1).scaleb(-kind.scale)
        most = decimal.Decimal(10) ** (kind.precision or 38) * unit - unit
        near = [None if value is None else decimal.Decimal(repr(float(value))) for value in values]
        near = [None if value is None else min(max(value, -most), most).quantize(unit) for value in near]
    return [value if there is None else there for value, there in zip(near, own)]
