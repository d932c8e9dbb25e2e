"""Checks of what a user passes: each returns the value in a plain form, or raises a ValueError.

Keras and TensorFlow, which take seconds to import, are imported by the checks of what comes from them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from tfdsmcmc._common.known_values import known_value

if TYPE_CHECKING:
    import keras
    import tensorflow as tf
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Verbose

_T = TypeVar("_T")


def positive_integer(name: str, value: object) -> int:
    """Returns `value` as an integer of at least 1."""
    return _integer(name, value, 1, "positive")


def positive_int32(name: str, value: object) -> int:
    """The same of at most 32 bits, as counters of programs have them."""
    if (number := positive_integer(name, value)) >= 2**31:
        raise ValueError(f"{name} must be below 2^31. Received: {name}={_shown(value)}")
    return number


def nonnegative_integer(name: str, value: object) -> int:
    """Returns `value` as an integer of at least 0."""
    return _integer(name, value, 0, "non-negative")


def nonnegative_number(name: str, value: _T) -> _T:
    """Returns `value`, finite and at least 0; a tensor whose value is not known, or a variable, is taken as it is."""
    if not np.all(np.isfinite(found := numbers_known(value)) & (found >= 0)):
        raise ValueError(f"{name} must be a finite number, at least 0. Received: {name}={_shown(value)}")
    return value


def numbers_known(value: object) -> np.ndarray:
    """An array: of the number, of those of a tensor as far as these are known, and of NaN for what are no numbers."""
    import tensorflow as tf

    if not tf.is_tensor(value):
        return np.asarray(_number(value))
    dtype = tf.as_dtype(value.dtype)
    if not (dtype.is_floating or dtype.is_integer):
        return np.asarray(math.nan)
    known = known_value(value)
    return np.ones(0) if known is None else known


def boolean(name: str, value: object) -> bool:
    """True or False, of Python or NumPy."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False. Received: {name}={_shown(value)}")
    return bool(value)


def one_of(name: str, value: _T, allowed: Iterable[str]) -> _T:
    """Returns `value`, one of some strings."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is one of {list(allowed)}. Received: {name}={value!r}")
    return value


def positive_number(name: str, value: _T) -> _T:
    """Returns `value`, finite and above 0; a tensor whose value is not known, or a variable, is taken as it is."""
    nonnegative_number(name, value)
    if not np.all(numbers_known(value)):
        raise ValueError(f"{name} must be above 0. Received: {name}={_shown(value)}")
    return value


def positive_in_float32(name: str, value: object) -> float:
    """Returns a plain number that is finite and above 0 in float32 too."""
    number = float(positive_number(name, value))
    with np.errstate(over="ignore", under="ignore"):
        if not 0 < np.float32(number) < np.inf:
            raise ValueError(f"{name} must be above 0 and finite in float32. Received: {name}={_shown(value)}")
    return number


def fraction(name: str, value: object) -> float:
    """Returns a plain number between 0 and 1, without either."""
    if not 0 < _number(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, without either. Received: {name}={_shown(value)}")
    return _number(value)


def learning_rate(value: object) -> float | tf.Tensor | keras.optimizers.schedules.LearningRateSchedule:
    """Returns a positive number, whole ones as a float, and a Keras schedule or its configuration as a schedule."""
    import keras

    if isinstance(value, dict):
        value = keras.saving.deserialize_keras_object(value)
    if not isinstance(value, keras.optimizers.schedules.LearningRateSchedule):
        positive_number("learning_rate", value)
    return float(value) if isinstance(value, (int, np.integer)) else value


def optimizer(value: object) -> keras.optimizers.Optimizer:
    """Returns the Keras optimizer of a name or a configuration, or the optimizer itself."""
    import keras

    try:
        found = keras.optimizers.get(value)
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"optimizer must be a Keras optimizer or its name. Received: optimizer={value!r}") from error
    if not isinstance(found, keras.optimizers.Optimizer):
        raise ValueError(f"optimizer must be a Keras optimizer or its name. Received: optimizer={value!r}")
    if getattr(getattr(found, "inner_optimizer", found), "use_ema", False):
        raise ValueError(
            "optimizer must leave the weights where its steps end: average posterior samples, by posterior.Collector, "
            f"in place of its iterates. Received: {found.name!r} with use_ema=True"
        )
    return found


def numbers(x: object) -> np.ndarray:
    """Returns array-like data as an array, with NaN for what pandas or a masked array takes for missing.

    Raises:
      TypeError, ValueError: for what is no array, or columns of dates, texts or complex numbers.
    """
    x = with_masks(x)
    if isinstance(x, np.ma.MaskedArray):
        return x.astype(np.result_type(x.dtype, np.float64)).filled(np.nan) if np.ma.is_masked(x) else x.data
    if not (hasattr(x, "to_numpy") and hasattr(x, "isna")):
        for name, kind in _foreign_columns(x):
            if not _is_number(kind):
                raise TypeError(f"column {name!r} is of {kind}")
        array = np.asarray(x)
        if array.dtype == object and _has_no_numbers(array.flat):
            raise TypeError("it has texts or dates")
        return array
    several = hasattr(x, "columns")
    columns = [(name, x.iloc[:, i]) for i, name in enumerate(x.columns)] if several else [(getattr(x, "name", None), x)]
    for name, column in columns:
        if _no_numbers(column):
            raise TypeError(f"column {name!r} is of {column.dtype}")
    try:
        return x.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):  # columns of objects: their NA is no number
        return np.where(x.isna(), np.nan, x.to_numpy(object)).astype(np.float64)


def with_masks(x: Any) -> Any:
    """A list of masked rows as a masked array, as NumPy's own array of them has what is hidden; all else as it is."""
    return np.ma.array(x) if isinstance(x, (list, tuple)) and any(map(np.ma.is_masked, x)) else x


def _no_numbers(column):
    """Whether a column of pandas has dates, spans of time, texts or complex numbers, which a cast would take."""
    kind = column.dtype
    if hasattr(kind, "categories"):
        return _no_numbers(kind.categories)
    if isinstance(kind, np.dtype) and kind.kind == "O":
        return _has_no_numbers(column)
    if hasattr(kind, "pyarrow_dtype"):
        return not _is_number(kind.pyarrow_dtype)
    return kind.kind in "Mmc" or kind.type is str


def _has_no_numbers(entries):
    return any(isinstance(entry, (str, bytes, np.datetime64, np.timedelta64)) for entry in entries)


def _foreign_columns(x):
    """(name, type) of each column of a frame or a column of Polars or Arrow; nothing of anything else."""
    if type(x).__module__.partition(".")[0] not in ("polars", "pyarrow"):
        return []
    schema = getattr(x, "schema", None)
    if schema is None:
        return [(getattr(x, "name", None), getattr(x, "dtype", None) or getattr(x, "type", None))]
    return list(schema.items()) if hasattr(schema, "items") else list(zip(schema.names, schema.types, strict=True))


def _is_number(kind):
    """Whether a type of Arrow or Polars has numbers, truth values or nothing at all; of a dictionary its values."""
    kind = str(getattr(kind, "value_type", getattr(kind, "inner", kind))).lower()  # of what a list or an array holds
    return kind.startswith(("int", "uint", "float", "halffloat", "double", "decimal", "bool", "null", "object"))


def observed(name: str, mask: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Returns a mask of observed entries as a boolean array.

    Args:
      name: what to call the mask in an error.
      mask: array-like of the given shape, or one row for all, of booleans or of 0 and 1; True is observed.
      shape: (n, units).

    Raises:
      ValueError: for another shape, or other entries.
    """
    try:
        array = np.asarray(mask)
    except ValueError:
        raise ValueError(f"{name} must be an array. Received: a {type(mask).__name__} of unequal rows") from None
    if array.dtype == object and all(isinstance(entry, (bool, np.bool_)) for entry in array.flat):
        array = array.astype(bool)  # pandas' own booleans arrive as objects
    if np.ma.is_masked(mask):
        raise ValueError(f"{name} hides none of its own entries. Received: a masked array")
    if array.shape not in (tuple(shape), tuple(shape[1:])):
        raise ValueError(f"{name} must have the shape {tuple(shape)} of the data. Received: shape={array.shape}")
    if array.dtype != bool and not (np.issubdtype(array.dtype, np.number) and np.isin(array, (0, 1)).all()):
        raise ValueError(f"{name} has True where an entry is observed, else False. Received: {array.dtype} entries")
    return np.broadcast_to(array.astype(bool), shape)


def no_targets(name: str, y: object) -> None:
    """Refuses targets: a generative model learns from data alone."""
    if y is not None:
        raise ValueError(f"{name} takes data x alone: there are no targets. Received: y={type(y).__name__}")


def _number(value):
    """A float; NaN of what is no number."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _integer(name, value, least, kind):
    try:
        number = operator.index(value)
    except (TypeError, AttributeError):  # the latter of a tensor of floats
        number = None
    if isinstance(value, (bool, np.bool_)) or number is None or number < least:
        raise ValueError(f"{name} must be a {kind} integer. Received: {name}={_shown(value)}")
    return number


def _shown(value):
    """What an error says of it; Python writes out no integer of more than 4,300 digits."""
    return f"an integer of {value.bit_length()} bits" if isinstance(value, int) and abs(value) >> 1024 else repr(value)


def verbose(value: object) -> Verbose:
    """Returns what Keras takes for how much to print: an integer of at least 0, a boolean or "auto"."""
    if isinstance(value, str) and value == "auto":
        return value
    if isinstance(value, (int, np.integer, np.bool_)) and value >= 0:
        return int(value)
    raise ValueError(f'verbose is an integer of at least 0 or "auto". Received: verbose={value!r}')


def jit_compile(value: object) -> bool:
    """Whether to compile with XLA: True or False, also as 1 or 0, or as in Keras "auto", which is True."""
    if isinstance(value, str) and value == "auto":
        return True
    return boolean("jit_compile", bool(value) if isinstance(value, int) and value in (0, 1) else value)


def as_many(name: str, these: Sized, other: str, those: Sized) -> None:
    """Refuses lists of different lengths, of which a loop over both would drop the rest."""
    if len(these) != len(those):
        raise ValueError(f"There are as many {name} as {other}. Received: {len(these)} {name}, {len(those)} {other}")


def positive_or_auto(name: str, value: object) -> int | Literal["auto"]:
    """A positive integer, or "auto"."""
    return value if isinstance(value, str) and value == "auto" else positive_integer(name, value)


def part_of(name: str, value: object, named: Mapping[str, Callable[[], _T]], contract: type[_T]) -> _T:
    """A part of a method: the value itself, or what a name stands for, with its defaults.

    Args:
      name: of the argument.
      value: what a user gave.
      named: dictionary from names to classes.
      contract: the class of which it must be.

    Raises:
      ValueError: for another name, or a value of another class.
    """
    if isinstance(value, str) and value in named:
        return named[value]()
    if not isinstance(value, contract):
        raise ValueError(
            f"{name} must be an instance of {contract.__name__}, or one of {sorted(named)}. Received: {name}={value!r}"
        )
    return value
