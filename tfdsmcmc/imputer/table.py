"""A DataFrame in the units of the data layer, and back.

Columns whose kinds are all binary, or all real, are those of an array: the data layer is then that of arrays. A column
of which nothing was observed, and one that is constant by its type, such as a category of one state, are no part of the
model.
"""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc.columns import Binary, Layout, Real
from tfdsmcmc.imputer.codecs import Numbers, States, held, of_type
from tfdsmcmc.imputer.kinds_of_columns import WORDS, Word, is_numeric, word_of
from tfdsmcmc.rows import rows_of
from tfdsmcmc.supports import Binary as BinarySupport
from tfdsmcmc.supports import Real as RealSupport

_NOT_HELD = TypeError, ValueError, OverflowError  # as pandas says that a type does not take values

if TYPE_CHECKING:
    import pandas

    from tfdsmcmc.columns import Kind
    from tfdsmcmc.rows import Rows
    from tfdsmcmc.supports import Support


class Table:
    """The columns of the DataFrame that was learnt from.

    Args:
      frame: pandas.DataFrame.
      words: dict from names of columns to kinds, see `kinds_of_columns`.

    Attributes:
      names: list of the names of all columns.
      kept: (D,), whether anything of a column was observed.
      codecs: list of `codecs.States` or `codecs.Numbers`, of the kept columns.
      kinds: list of `columns.Kind`, of the columns of the model.
      binary: whether all of these are binary.
      mixed: whether they are neither all binary nor all real.

    Raises:
      ValueError: for names that are not unique, kinds that are none, columns of no kind, or nothing to learn from.
    """

    def __init__(self, frame: pandas.DataFrame, words: Mapping[Any, Word] | None = None):
        check_names(frame)
        self.names: list[Any] = list(frame.columns)
        words = _checked_words(words, self.names)
        _check_rows(frame)
        self.kept: np.ndarray = np.array([frame[name].notna().any() for name in self.names], bool)
        if not self.kept.any():
            raise ValueError(f"At least one entry must be observed. Received: {frame.size} missing entries")
        self.codecs: list[States | Numbers] = [
            _codec(name, frame[name], words.get(name)) for name, kept in zip(self.names, self.kept) if kept
        ]
        self._modelled = [codec for codec in self.codecs if codec.kind is not None]
        self.kinds: list[Kind] = [codec.kind for codec in self._modelled]
        if not self.kinds:
            raise ValueError("At least one column must have two values. Received: columns of one category each")
        self.binary: bool = all(isinstance(kind, Binary) for kind in self.kinds)
        self.mixed: bool = not (self.binary or all(isinstance(kind, Real) for kind in self.kinds))
        ends = np.cumsum([kind.entries for kind in self.kinds])
        self._places = [np.arange(end - kind.entries, end) for end, kind in zip(ends, self.kinds)]

    @property
    def support(self) -> Support:
        """That of the rows."""
        if self.mixed:
            return Layout(self.kinds).support
        return BinarySupport() if self.binary else RealSupport()

    def check(self, frame: pandas.DataFrame) -> None:
        """Raises a ValueError for no rows, and other columns than those of `fit`, or in another order."""
        _check_rows(frame)
        if list(frame.columns) != self.names:
            raise ValueError(f"X must have the columns of fit, {self.names}. Received: {list(frame.columns)}")

    def standardised(self, frame: pandas.DataFrame) -> Rows:
        """The rows of the model, `Rows` of arrays (n, entries of all its columns).

        Raises:
          ValueError: for values that a column did not have in `fit`, or that are none of its kind.
        """
        self.check(frame)
        for codec in self.codecs:
            if codec.kind is None:
                codec.encode(frame[codec.name])  # which refuses other values
        with np.errstate(over="ignore"):
            values = np.concatenate([codec.encode(frame[codec.name]) for codec in self._modelled], 1)
        return rows_of("X", values, values.shape[1], self.support)

    def filled(self, frame: pandas.DataFrame, values: np.ndarray | None, keep_empty: bool) -> pandas.DataFrame:
        """The frame with its gaps filled, what is observed as it was.

        Args:
          frame: as `standardised` took it.
          values: (n, entries), in the support; None where nothing of the model's columns is missing.
          keep_empty: whether columns of which nothing was observed in `fit` stay: with 0 in the gaps where they are of
            numbers, else as they are.
        """
        filled = frame.copy()
        for name in [] if keep_empty else self._empty:
            del filled[name]
        for name in self._empty if keep_empty else []:
            series = frame[name]
            if is_numeric(series):
                filled[name] = series.fillna(0)
        for codec, part in self._parts(values, len(frame)):
            gaps = frame[codec.name].isna().to_numpy(bool)
            if gaps.any():
                filled[codec.name] = _with(frame[codec.name], gaps, codec, part)
        return filled

    def frame_of(self, values: np.ndarray) -> pandas.DataFrame:
        """A frame of the columns of which something was observed in `fit`, with their types.

        Args:
          values: (n, entries), in the support.
        """
        import pandas

        parts = self._parts(values, len(values))
        return pandas.DataFrame({codec.name: codec.series(codec.decode(part)) for codec, part in parts})

    def check_for_array(self) -> None:
        """Raises a ValueError where an array of numbers has no place: columns of `fit` hold what is none."""
        states = {codec.name: codec.labels for codec in self.codecs if isinstance(codec, States)}
        text = [name for name, labels in states.items() if not all(isinstance(one, numbers.Number) for one in labels)]
        if text:
            raise ValueError(f"X must be a DataFrame, as in fit: columns {text} hold no numbers. Received: an array")

    def frame_of_array(self, x: np.ndarray) -> pandas.DataFrame:
        """An array (n, D) of numbers as a frame with the columns of `fit`."""
        import pandas

        return pandas.DataFrame(x, columns=self.names)

    def probabilities(self, frame: pandas.DataFrame, means: np.ndarray) -> dict[Any, pandas.DataFrame]:
        """Of each column of states, a frame with a column for each state.

        Args:
          frame: gives the index.
          means: (n, entries), of what is observed the entries themselves.
        """
        import pandas

        return {
            codec.name: pandas.DataFrame(codec.probabilities(part), index=frame.index, columns=codec.labels)
            for codec, part in self._parts(means, len(frame))
            if isinstance(codec, States)
        }

    def log_scales(self, rows: Rows) -> np.ndarray:
        """(n,), what the log-densities of rows lose in the units of the columns: Σ log s over what is observed."""
        observed = np.ones(rows.values.shape, bool) if rows.complete else rows.observed
        scales = (codec.log_scale(observed[:, place[0]]) for codec, place in zip(self._modelled, self._places))
        return sum(scales, np.zeros(len(observed)))

    @property
    def _empty(self):
        return [name for name, kept in zip(self.names, self.kept) if not kept]

    def _parts(self, values, rows):
        """Pairs of a codec and its entries, (n, entries)."""
        places = iter(self._places)
        nothing = np.zeros((rows, 0))
        for codec in self.codecs:
            place = None if codec.kind is None else next(places)
            yield codec, nothing if place is None or values is None else values[:, place]


def is_frame(x: object) -> bool:
    """Whether x is a DataFrame of pandas, which is not imported for the question."""
    import sys

    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.DataFrame)


def check_names(frame: pandas.DataFrame) -> None:
    """Raises a ValueError for columns of one name."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"The columns of a DataFrame have different names. Received: {names}")


def _check_rows(frame):
    if not len(frame):
        raise ValueError("X must have at least one row. Received: a DataFrame without rows")


def _checked_words(words, names):
    if words is None:
        return {}
    if not isinstance(words, Mapping) or not all(word in WORDS for word in words.values()):
        raise ValueError(f"kinds is a dict from names of columns to one of {list(WORDS)}. Received: kinds={words!r}")
    unknown = [name for name in words if name not in names]
    if unknown:
        raise ValueError(f"kinds are of columns of X. Received: kinds for {unknown}, which it does not have")
    return dict(words)


def _codec(name, series, asked):
    word = word_of(name, series, asked)
    return (Numbers if word in ("count", "real", "semicontinuous", "skewed") else States)(name, series, word)


def _with(series, gaps, codec, part):
    """The series with values in its gaps, of its own type; of that of `fit` for categories, or if it takes no others.

    Args:
      series: (n,).
      gaps: (n,), where it is missing.
      codec: of the column.
      part: (n, entries), what is observed and what fills the gaps.
    """
    import pandas

    if _may_take(series, codec):
        with contextlib.suppress(*_NOT_HELD):
            return _of_its_type(series, gaps, codec.decode(part[gaps]), codec)
    whole = codec.series(codec.decode(part))
    if isinstance(codec, Numbers) and is_numeric(series):
        try:
            whole[~gaps] = held(series[~gaps], codec.dtype)
        except _NOT_HELD:  # neither type holds all: what was observed stays as it is
            return _put(series, gaps, of_type(whole[gaps].to_numpy(np.float64), series.dtype))
    return pandas.Series(whole, series.index, name=series.name)


def _may_take(series, codec):
    """Whether a type may take all that a column can be filled with; what it holds besides is not looked at."""
    if isinstance(codec, Numbers):
        return is_numeric(series)
    if hasattr(codec.dtype, "categories"):
        return False  # they are those of `fit`
    return set(codec.labels) <= set(getattr(series.dtype, "categories", codec.labels))


def _of_its_type(series, gaps, values, codec):
    if is_numeric(series):
        values = held(codec.series(values), series.dtype)  # a column of integers with gaps comes as floats
        if isinstance(codec, States) and len(set(held(codec.series(codec.labels), series.dtype))) < len(codec.labels):
            raise ValueError(f"A type must tell states apart. Received: dtype={series.dtype}")
    return _put(series, gaps, values)


def _put(series, gaps, values):
    filled = series.copy()
    filled.iloc[np.flatnonzero(gaps)] = values
    return filled
