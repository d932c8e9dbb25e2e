"""What kind a column of a DataFrame is of: by its type and its values, or by what the user says.

| type | kind |
| --- | --- |
| booleans, objects that are True or False | binary |
| categories | binary where they are two, else categorical; ordered ones ordinal |
| integers, all 0 or 1 | binary |
| integers that are amounts, as incomes are: see below | semicontinuous, and what is filled in is rounded |
| other integers from 0 on whose variance is at least half of their mean | count |
| whole floating numbers, of a column with gaps, of such values | as integers: so pandas reads integers with gaps |
| other integers | real, and what is filled in is rounded |
| floating numbers, all 0 or 1 | binary |
| floating numbers from 0 on, at least 1 in 10 of them 0, the others of more than ten values | semicontinuous |
| other floating numbers | real |

Integers from 0 on are amounts where at least 1 in 10 of them is 0, the others are of more than ten values, and the
zeros are more than ten times as many as counts have: with μ and σ² the mean and the variance of the others, the share
of zeros is to be above 10 p₀,

    p₀ = (r/(r + μ))^r,      r = μ²/(σ² − μ)      the negative binomial law of these moments; e^−μ where σ² ≤ μ

A law of counts with so many zeros would have most of its values between 0 and the amounts.

Counts of a smaller variance are refused by the laws of counts: years are such. Text, dates and other
objects have no kind of their own. No column is "skewed" unless it is said to be: to transform one of two columns that
are linear in each other bends their relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

if TYPE_CHECKING:
    import pandas

Word: TypeAlias = Literal["binary", "categorical", "ordinal", "count", "real", "semicontinuous", "skewed"]

WORDS: tuple[str, ...] = get_args(Word)
ENUMERATIONS = "tfdsmcmc.enumerations"  # attribute of a frame: the columns whose categories were listed in an order
_STEPS = 10  # of float64 in a standard deviation, at least
_LARGEST = 10**6  # of counts, whose distribution ends at three times as many


def word_of(name: object, series: pandas.Series[Any], asked: Word | None = None) -> str:
    """The kind of a column.

    Args:
      name: of the column.
      series: its values.
      asked: what the user says it is; None for what its type says.

    Raises:
      ValueError: for text, dates and other objects of no kind, or values that are not of the kind that was asked for.
    """
    import pandas
    from pandas.api import types

    numeric, boolean = is_numeric(series), types.is_bool_dtype(series)
    if asked is not None:
        if asked == "ordinal" and not (numeric or boolean or _tells_order(name, series)):
            raise ValueError(
                f"Column {name!r} is of text, which does not tell its order: make it pandas.Categorical(values, "
                "categories=[…], ordered=True), or an Enum of Polars. "
                f"Received: kind 'ordinal' for {series.dtype} entries"
            )
        if asked in ("count", "real", "semicontinuous", "skewed") and not numeric:
            received = f"kind {asked!r} for {series.dtype} entries"
            raise ValueError(f"Column {name!r} is to be of numbers. Received: {received}")
        if asked == "count":
            _check_counts(name, numbers(series))
        if asked == "semicontinuous":
            _check_amounts(name, numbers(series))
        return asked
    if hasattr(series.dtype, "categories"):
        if len(series.dtype.categories) == 2:
            return "binary"
        return "ordinal" if series.dtype.ordered else "categorical"
    if boolean or types.is_object_dtype(series) and _of_booleans(series):
        return "binary"
    if isinstance(series.dtype, pandas.SparseDtype):
        raise ValueError(f"Column {name!r} must be dense: series.sparse.to_dense(). Received: {series.dtype} entries")
    if not numeric:
        found = sorted({type(value).__name__ for value in series.dropna()} if types.is_object_dtype(series) else ())
        raise ValueError(
            f"Column {name!r} is of no kind that can be filled: make it a category, booleans or numbers, name its kind "
            f"in kinds, or leave it out. Received: {series.dtype} entries{' of ' * bool(found)}{', '.join(found)}"
        )
    values = numbers(series)
    values = values[~np.isnan(values)]
    if np.isin(values, (0, 1)).all():
        return "binary"
    whole = types.is_integer_dtype(series) or len(values) < len(series) and _whole(values)
    spike = _has_spike(values)
    if spike and (not whole or _has_zeros_beyond_counts(values)):
        return "semicontinuous"
    counted = whole and values.min() >= 0 and values.max() <= _LARGEST
    if counted and values.var() >= values.mean() / 2:
        return "count"
    return "semicontinuous" if spike and types.is_float_dtype(series) else "real"


def is_numeric(series: pandas.Series[Any]) -> bool:
    """Whether a column is of real numbers, not of booleans, and not sparse."""
    from pandas.api import types

    other = types.is_complex_dtype(series) or types.is_bool_dtype(series) or hasattr(series.dtype, "fill_value")
    return not other and types.is_numeric_dtype(series)


def numbers(series: pandas.Series[Any]) -> np.ndarray:
    """A column as float64, with NaN where it is missing."""
    return series.to_numpy(np.float64, na_value=np.nan)


def check_finite(name: object, values: np.ndarray) -> None:
    """Raises a ValueError for a column whose observed values are not all finite."""
    if not np.isfinite(values).all():
        raise ValueError(f"Column {name!r} must be finite. Received: an infinite entry")


def check_told_apart(name: object, series: pandas.Series[Any]) -> None:
    """Raises a ValueError for integers whose differences are lost among the steps of float64."""
    import pandas

    seen = series.dropna()
    if not (len(seen) and pandas.api.types.is_integer_dtype(series.dtype)):
        return
    step = float(np.spacing(max(abs(float(seen.min())), abs(float(seen.max())))))
    if step <= 1:
        return
    least = int(seen.min())
    spread = float(np.std([float(int(value) - least) for value in seen]))
    if 0 < spread < _STEPS * step:
        raise ValueError(
            f"Column {name!r} has integers that are too alike for their size: subtract the least of them. Received: a "
            f"standard deviation of {spread:.3g} where numbers of 64 bits have steps of {step:.3g}"
        )


def _whole(values):
    return bool(np.isfinite(values).all() and (values % 1 == 0).all())


def _tells_order(name, series):
    """Whether a column has categories in an order of their own: not that of the alphabet, by which text is sorted."""
    if not hasattr(series.dtype, "categories"):
        return False
    states = list(series.dtype.categories)
    in_order = series.dtype.ordered or name in series.attrs.get(ENUMERATIONS, ())
    sorted_text = any(isinstance(state, str) for state in states) and states == sorted(states, key=str)
    return in_order or len(states) <= 2 or not sorted_text


def _of_booleans(series):
    values = series[series.notna()]
    return len(values) > 0 and all(isinstance(value, (bool, np.bool_)) for value in values)


def _has_spike(values):
    """Whether many amounts are 0, and the others of too many values to be states."""
    some = values[values != 0]
    return bool((values >= 0).all() and len(some) <= 0.9 * len(values) and len(np.unique(some)) > 10)


def _has_zeros_beyond_counts(values):
    """Whether counts that vary as the values above 0 do would have less than a tenth of the zeros that there are."""
    some = values[values > 0]
    mean, variance = some.mean(), some.var()
    size = mean**2 / (variance - mean) if variance > mean else np.inf
    log_zero = -size * np.log1p(mean / size) if np.isfinite(size) else -mean
    return bool(1 - len(some) / len(values) > 10 * np.exp(log_zero))


def _check_amounts(name, values):
    values = values[~np.isnan(values)]
    wrong = values[(values < 0) | ~np.isfinite(values)]
    if len(wrong):
        raise ValueError(f"Column {name!r} is to be of amounts of 0 or more. Received: {wrong[0]}")
    if not (values > 0).any():
        raise ValueError(f"Column {name!r} is to have amounts above 0. Received: none")


def _check_counts(name, values):
    values = values[~np.isnan(values)]
    wrong = values[(values < 0) | (values % 1 != 0) | (values > _LARGEST)]
    if len(wrong):
        raise ValueError(f"Column {name!r} is to be of counts from 0 to {_LARGEST:,}. Received: {wrong[0]}")
