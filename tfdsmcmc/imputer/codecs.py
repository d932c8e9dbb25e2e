"""A column of a DataFrame in the units of the data layer, and back.

A codec is made from the column that is learnt from. `encode` gives entries (n, entries), NaN where they are missing;
`decode` gives what stands in a DataFrame. Values of a codec come as draws, or as the likeliest ones where they are
discrete and means where they are real.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import columns
from tfdsmcmc.imputer.columns import columns_of
from tfdsmcmc.imputer.kinds_of_columns import check_finite, check_told_apart, is_numeric, numbers
from tfdsmcmc.imputer.powers import transform_of
from tfdsmcmc.supports.counts import LARGEST

if TYPE_CHECKING:
    import pandas

    from tfdsmcmc.columns import Kind

_LEAST_AMOUNT = 1e-20  # draws are up to e³⁰ times the typical one, or a share of it
_BEYOND = 2.0  # times the largest count of a column, from where on means grow slowly: see `columns.Count`


class States:
    """A column of finitely many values.

    Args:
      name: of the column.
      series: pandas.Series that is learnt from.
      word: "binary", "categorical" or "ordinal".

    Attributes:
      labels: what the states are in the DataFrame: the categories, or all values in their order.
      kind: `columns.Kind`; None where there is one state alone.

    Raises:
      ValueError: for more than two values of a binary column.
    """

    def __init__(self, name: object, series: pandas.Series[Any], word: str):
        self.name, self.dtype = name, series.dtype
        self.labels: list[Any] = _labels(name, series, word)
        if word == "binary" and len(self.labels) > 2:
            received = f"{len(self.labels)} values, {self.labels[:3]} among them"
            raise ValueError(f"Column {name!r} is to have two values. Received: {received}")
        count = len(self.labels)
        of_many = columns.Ordinal if word == "ordinal" else columns.Categorical
        self.kind: Kind | None = None if count < 2 else columns.Binary() if count == 2 else of_many(count)

    def encode(self, series: pandas.Series[Any]) -> np.ndarray:
        """(n, entries).

        Raises:
          ValueError: for a value that is not among the states.
        """
        import pandas

        with _states(self.name, series):
            # a float32 of NumPy would be equal to integers that it cannot hold
            states = pandas.Index(list(map(_plain, self.labels)), dtype=object)
            codes = states.get_indexer(series.astype(object))
        missing = series.isna().to_numpy(bool)
        unseen = (codes < 0) & ~missing
        if unseen.any():
            codes[unseen] = self._rounded(series[unseen])
            unseen &= codes < 0
        if unseen.any():
            *some, received = map(_plain, [*self.labels[:5], series[unseen].iloc[0]])
            more = " and more" if len(self.labels) > 5 else ""
            raise ValueError(f"Column {self.name!r} had the values {some}{more} in fit. Received: {received!r}")
        if self.kind is None:
            return np.zeros((len(codes), 0))
        entries = codes[:, np.newaxis] if self.kind.entries == 1 else np.eye(len(self.labels))[codes]
        return np.where(missing[:, np.newaxis], np.nan, entries)

    def _rounded(self, series):
        """Codes of floats that are states as the shorter of the two types has them: 0.1 is 0.1 in all. Else -1."""
        own, other = _float_of(self.dtype), _float_of(series.dtype)
        if own is None or other is None:  # an integer is a state as it stands, or none
            return np.full(len(series), -1)
        shortest = min(own, other, key=lambda kind: kind.itemsize)
        with np.errstate(over="ignore"):
            states, values = (np.asarray(one, np.float64).astype(shortest) for one in (self.labels, numbers(series)))
        some, places = np.unique(values, return_inverse=True)
        found = [np.flatnonzero((states == value) & np.isfinite(value)) for value in some]
        return np.array([one[0] if len(one) == 1 else -1 for one in found])[places]

    def decode(self, values: np.ndarray) -> np.ndarray:
        """(n,) labels, of entries (n, entries) in the support."""
        if self.kind is None:
            codes = np.zeros(len(values), int)
        else:
            codes = values[:, 0].astype(int) if self.kind.entries == 1 else values.argmax(-1)
        labels = np.empty(len(self.labels), object)
        labels[:] = self.labels
        return labels[codes]

    def probabilities(self, means: np.ndarray) -> np.ndarray:
        """(n, number of states), of the means of the entries, (n, entries)."""
        if self.kind is None:
            return np.ones((len(means), 1))
        return np.concatenate([1 - means, means], -1) if self.kind.entries == 1 else means

    def log_scale(self, observed: np.ndarray) -> np.ndarray:
        return np.zeros(len(observed))

    def series(self, values: np.ndarray) -> Any:
        """Labels as an array of the column's type in `fit`."""
        import pandas

        return pandas.array(values, dtype=self.dtype)


class Numbers:
    """A column of numbers, which are counts, amounts, or real ones in units of their own, (x − m)/s.

    What fills a skewed column lies at most one range beyond the observed range, on either side.

    Args:
      name: of the column.
      series: pandas.Series that is learnt from.
      word: "count", "semicontinuous", "skewed" or "real".

    Attributes:
      kind: `columns.Kind`; of a column that is to be skewed and is not, that of a real one.
    """

    _limits = (-np.inf, np.inf)  # of what is filled in
    _whole = False  # whether amounts are whole, as what is filled in is then
    _only: Any = None  # the one value of a column that has no other, as it stands there

    def __init__(self, name: object, series: pandas.Series[Any], word: str):
        self.name, self.dtype, self.mean, self.scale = name, series.dtype, 0.0, 1.0
        values = numbers(series)
        seen = values[~np.isnan(values)]
        check_finite(name, seen)
        check_told_apart(name, series[series != 0] if word == "semicontinuous" else series)
        if (seen == seen[0]).all():  # such a column is filled with its one value
            self._only = series.iloc[int(np.flatnonzero(~np.isnan(values))[0])]
        if word == "count":
            typical = _power_of_two(max(float(np.nanmean(values)), 0.5))
            # log(1 + y) of small counts among large ones is far out, and means that are log-linear in it farther
            limit = _power_of_two(_BEYOND * max(float(np.nanmax(values)), 1.0))
            self.kind: Kind = columns.Count(typical=typical, offset=max(typical, 1.0), limit=limit)
            return
        if word == "semicontinuous":
            typical = float(np.median(values[values > 0]))
            if not (_LEAST_AMOUNT <= typical <= 1 / _LEAST_AMOUNT):
                raise ValueError(
                    f"Column {name!r} has amounts that are too small or too large for 32 bits: give them in another "
                    f"unit. Received: amounts of about {typical:.3g}"
                )
            self.kind, self._whole = columns.Semicontinuous(_power_of_two(typical)), bool((seen % 1 == 0).all())
            return
        if word == "skewed" and self._only is None:
            found = transform_of(seen)
            if found.power != 1:
                self.kind, self.mean, self.scale = columns.Skewed(found.power), found.centre, found.unit
                self._limits = 2 * seen.min() - seen.max(), 2 * seen.max() - seen.min()
                return
        self.kind = columns.Real()
        found = columns_of(values[:, np.newaxis])
        self.mean, self.scale = float(found.mean[0]), float(found.scale[0])

    def encode(self, series: pandas.Series[Any]) -> np.ndarray:
        """(n, 1).

        Raises:
          ValueError: for a column that holds no numbers, or counts that are none.
        """
        nothing = series.isna().all()
        if not (nothing or is_numeric(series)):
            raise ValueError(f"Column {self.name!r} had numbers in fit. Received: {series.dtype} entries")
        values = np.full(len(series), np.nan) if nothing else numbers(series)
        check_finite(self.name, values[~np.isnan(values)])
        if self.kind.word == "semicontinuous" and (values < 0).any():
            raise ValueError(
                f"Column {self.name!r} had amounts in fit, none of them below 0; kinds={{{self.name!r}: 'real'}} takes "
                f"others. Received: {np.nanmin(values)}"
            )
        if self.kind.word == "count":
            wrong = values[~np.isnan(values) & ((values < 0) | (values % 1 != 0) | (values > LARGEST))]
            if len(wrong):
                raise ValueError(
                    f"Column {self.name!r} had counts in fit, which are at most {LARGEST:,}; "
                    f"kinds={{{self.name!r}: 'real'}} takes other numbers. Received: {wrong[0]}"
                )
        with np.errstate(over="ignore"):
            return ((values - self.mean) / self.scale)[:, np.newaxis]

    def decode(self, values: np.ndarray) -> np.ndarray:
        """(n,) float64; of a column of one value that value as it was."""
        if self._only is not None:
            return np.full(len(values), self._only)
        found = np.clip(self.mean + self.scale * values[:, 0].astype(np.float64), *self._limits)
        return np.rint(found) if self._whole else found

    def log_scale(self, observed: np.ndarray) -> np.ndarray:
        """(n,), log s where the entry is observed: what its log-density loses in the units of the column."""
        return np.where(observed, np.log(self.scale), 0.0)

    def series(self, values: np.ndarray) -> Any:
        """Numbers as an array of the column's type in `fit`."""
        import pandas

        return of_type(values, self.dtype) if self._only is None else pandas.array(values, dtype=self.dtype)


def of_type(values: np.ndarray, dtype: Any) -> Any:
    """Numbers as an array of a pandas type, kept in its range; integers are rounded."""
    import pandas

    own = getattr(dtype, "numpy_dtype", dtype)
    if pandas.api.types.is_integer_dtype(dtype):
        limits = np.iinfo(own)
        # float64 has no number between the largest of 64 bits and the one beyond
        largest = float(limits.max) if limits.bits < 64 else np.nextafter(float(limits.max), 0)
        values = np.clip(np.rint(values), float(limits.min), largest).astype(limits.dtype)
    elif pandas.api.types.is_float_dtype(dtype):
        values = np.clip(values, float(np.finfo(own).min), float(np.finfo(own).max))
    return pandas.array(values, dtype=dtype)


def held(values: Any, dtype: Any) -> Any:
    """Numbers as an array of another pandas type of numbers; broken ones as the nearest floats of that type.

    Raises:
      ValueError, TypeError, OverflowError: where it does not hold them: large, or, in a type of integers, broken.
    """
    import pandas

    if pandas.api.types.is_float_dtype(dtype) and not pandas.api.types.is_integer_dtype(values.dtype):
        floats = values.to_numpy(np.float64)
        if np.any(np.abs(floats) > float(np.finfo(getattr(dtype, "numpy_dtype", dtype)).max)):
            raise ValueError(f"A type must hold the values that fill a column. Received: dtype={dtype}")
        return of_type(floats, dtype)
    plain = np.array(np.asarray(values).tolist(), object)
    made = pandas.array(list(plain), dtype=dtype)
    if np.any(np.asarray(made, object) != plain):
        raise ValueError(f"A type must hold the values that fill a column. Received: dtype={dtype}")
    return made


def _power_of_two(value):
    """The nearest: tables that are alike have columns of one kind then, and share what was compiled."""
    return float(2.0 ** np.round(np.log2(value)))


def _plain(value):
    """A number as Python writes it."""
    return value.item() if isinstance(value, (np.number, np.bool_)) else value


@contextlib.contextmanager
def _states(name, series):
    """Where values are told from each other: a ValueError for lists and the like, with which pandas cannot."""
    try:
        yield
    except TypeError:
        wrong = [value for value in series if not _is_hashable(value)]
        if not wrong:
            raise
        raise ValueError(f"Column {name!r} must have values that can be states. Received: {wrong[0]!r}") from None


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _float_of(dtype):
    """NumPy's type of the floating numbers of a pandas type; None of any other."""
    own = getattr(dtype, "subtype", getattr(dtype, "numpy_dtype", dtype))
    return own if isinstance(own, np.dtype) and own.kind == "f" else None


def _labels(name, series, word):
    if hasattr(series.dtype, "categories"):
        return list(series.dtype.categories)
    with _states(name, series):
        values = list(series[series.notna()].unique())
    if all(isinstance(value, (bool, np.bool_)) for value in values):
        return [False, True]
    if word == "binary" and all(value in (0, 1) for value in values):
        return [0, 1]
    with contextlib.suppress(TypeError):
        return sorted(values)
    return sorted(values, key=lambda value: (type(value).__name__, str(value)))  # any order: it is not ordinal
