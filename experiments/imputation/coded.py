"""A table as an array of numbers and codes of states, which all imputers and scores share."""

from typing import NamedTuple

import numpy as np
import pandas


class Coded(NamedTuple):
    """A table of n rows and D columns.

    Attributes:
      values: (n, D) float64, NaN where an entry is missing; codes 0, …, S − 1 in a column of S states.
      states: (D,) integers, S; 0 for a column of numbers.
      whole: (D,), whether a column of numbers is of integers.
    """

    values: np.ndarray
    states: np.ndarray
    whole: np.ndarray


def coded(frame):
    """`Coded` of a DataFrame of numbers and categories."""
    values, states = np.empty(frame.shape), np.zeros(frame.shape[1], int)
    for j, name in enumerate(frame):
        column = frame[name]
        if hasattr(column.dtype, "categories"):
            states[j], codes = len(column.dtype.categories), column.cat.codes.to_numpy(float)
            values[:, j] = np.where(codes < 0, np.nan, codes)
        else:
            values[:, j] = column.to_numpy(float, na_value=np.nan)
    whole = np.array([pandas.api.types.is_integer_dtype(dtype) for dtype in frame.dtypes])
    return Coded(values, states, whole)


def with_gaps(frame, missing):
    """The DataFrame without the entries where (n, D) `missing` is True; types and categories stay."""
    columns = {name: frame[name].where(~missing[:, j]) for j, name in enumerate(frame)}
    return pandas.DataFrame(columns, index=frame.index).astype(frame.dtypes)


def standardised(table):
    """(n, D): numbers and codes, less the mean of what is observed, in its standard deviations."""
    mean, scale = locations(table)
    return (table.values - mean) / scale


def restored(matrix, table):
    """(n, D): a filled matrix as `standardised` has it in the units of the table; codes are rounded."""
    mean, scale = locations(table)
    values = mean + scale * matrix
    codes = np.clip(np.rint(values), 0, np.maximum(table.states - 1, 0))
    return np.where(np.isnan(table.values), np.where(table.states > 0, codes, values), table.values)


def locations(table):
    """(means, standard deviations), each (D,)."""
    return np.array([location(column) for column in table.values.T]).T


def one_hot(table):
    """(matrix (n, E), places): numbers standardised, states as zeros and ones, NaN where missing.

    `places` has for each column its entries of the matrix.
    """
    parts, places, end = [], [], 0
    numbers = standardised(table)
    for j, states in enumerate(table.states):
        column = table.values[:, j : j + 1]
        part = np.where(np.isnan(column), np.nan, column == np.arange(states)) if states else numbers[:, j : j + 1]
        parts.append(part)
        places.append(np.arange(end, end + part.shape[1]))
        end += part.shape[1]
    return np.concatenate(parts, 1), places


def location(column):
    """(mean, standard deviation) of what is observed; 1 for that of a constant."""
    scale = np.nanstd(column)
    return np.nanmean(column), scale if scale > 0 else 1.0
