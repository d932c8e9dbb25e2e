"""What users pass to an `Imputer`: arrays, masked ones, DataFrames and tables of others, checked and opened."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import FLOAT_DTYPES, validate_data

from tfdsmcmc._common import checks
from tfdsmcmc.imputer import frames
from tfdsmcmc.imputer.columns import columns_of
from tfdsmcmc.imputer.table import Table, check_names, is_frame
from tfdsmcmc.supports.checked_array import real_numbers

if TYPE_CHECKING:
    from tfdsmcmc.imputer.columns import Columns
    from tfdsmcmc.imputer.estimator import Imputer
    from tfdsmcmc.rows.rows import Rows


def columns_in_fit(self: Imputer, X: Any) -> tuple[Any, Columns | Table]:
    """(X checked, its columns), in `fit`."""
    frames.check_in_memory(X)
    self._like = frames.emptied(X) if frames.is_foreign(X) else None
    X = frames.to_pandas(X) if frames.is_foreign(X) else X
    _check_types(X)
    if is_frame(X):
        X = _with_missing(X)
        columns = Table(X, self.kinds)
        validate_data(self, X, skip_check_array=True)
        return X, columns
    if self.kinds is not None:
        raise ValueError(f"kinds are of the columns of a DataFrame. Received: X of type {type(X).__name__}")
    X = validate_data(self, _with_nan(X), dtype=FLOAT_DTYPES, ensure_all_finite="allow-nan")
    return X, columns_of(X)


def opened(self: Imputer, X: Any) -> tuple[Any, Rows, Callable[..., Any]]:
    """(X checked, its `Rows`, function of it and values (n, K) or None → the result), after `fit`."""
    frames.check_in_memory(X)
    if frames.is_foreign(X):
        frame, rows, finish = opened(self, frames.to_pandas(X))
        return frame, rows, lambda x, values: _as_given(X, finish(x, values), self._like)
    columns, keep = self.columns_, self.keep_empty_features
    if not isinstance(columns, Table):
        _check_types(X)
        if is_frame(X):
            real_numbers("X", X)  # which refuses columns that scikit-learn would cast
    if isinstance(columns, Table) and is_frame(X):
        check_names(X)
        X = _with_missing(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return X, columns.standardised(X), lambda x, values: columns.filled(x, values, keep)
    if isinstance(columns, Table):
        columns.check_for_array()
    X = validate_data(self, _with_nan(X), dtype=FLOAT_DTYPES, ensure_all_finite="allow-nan", reset=False)
    if not isinstance(columns, Table):
        return X, columns.standardised(X), lambda x, values: columns.filled(x, values, keep)
    frame = columns.frame_of_array(X)
    rows = columns.standardised(frame)
    return frame, rows, lambda x, values: columns.filled(x, values, keep).to_numpy(X.dtype)


def _check_types(x):
    """Raises a ValueError for arrays of what scikit-learn casts to numbers, or cannot, and for names of two kinds."""
    if is_frame(x):
        named = [isinstance(name, str) for name in x.columns]
        if any(named) and not all(named):
            raise ValueError(f"Either all columns have a text as their name, or none. Received: {list(x.columns)[:9]}")
        return
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype) and (dtype.kind in "mM" or dtype.names):
        raise ValueError(f"X must be numbers: dates, spans of time and records are none. Received: dtype={dtype}")


def _as_given(x, filled, learnt):
    """As a frame of the library of x; an array, of an imputer of arrays, as it is."""
    return filled if isinstance(filled, np.ndarray) else frames.like(x, filled, learnt)


def _with_missing(frame):
    """A DataFrame in which NaN is missing in columns of Arrow and of masked floats too, whose own NA it is not."""
    import pandas

    if not frame.columns.is_unique:  # which is refused
        return frame
    marked = frame.copy(deep=False)
    for place, name in enumerate(frame.columns):
        series = frame[name]
        if pandas.api.types.is_extension_array_dtype(series.dtype) and pandas.api.types.is_float_dtype(series.dtype):
            lost = np.isnan(series.to_numpy(np.float64, na_value=np.nan)) & series.notna().to_numpy(bool)
            if lost.any():
                marked.isetitem(place, series.mask(lost))
    return marked


def _with_nan(x):
    """A masked array as one with NaN where it is masked, of objects too where they are numbers and pandas' NA; anything
    else as it is."""
    x = checks.with_masks(x)
    if isinstance(x, np.ndarray) and x.dtype == object and not isinstance(x, np.ma.MaskedArray):
        pandas = sys.modules.get("pandas")
        return x if pandas is None else np.where(pandas.isna(x), np.nan, x)
    if not isinstance(x, np.ma.MaskedArray):
        return x
    return x.astype(np.result_type(x.dtype, np.float32)).filled(np.nan)
