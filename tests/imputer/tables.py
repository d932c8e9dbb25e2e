"""A table with a column of each kind, and imputers that learn in two updates."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.arrays import SHORT

pandas = pytest.importorskip("pandas")

TINY = {"hidden_units": 2, "updates": 2, "batch_size": 10, "posterior_samples": 1, "jit_compile": False}
TINY = {**TINY, "random_state": 0, "imputation_options": SHORT}


def column(values, dtype):
    return pandas.Series(values, dtype=dtype, index=list("stuvw"))


LEVELS = pandas.CategoricalDtype(["low", "mid", "high"], ordered=True)
COLUMNS = {
    "smokes": column([True, None, False, True, False], "boolean"),
    "told": column([True, False, None, None, True], object),
    "colour": column(["r", "g", None, "b", "r"], pandas.CategoricalDtype(list("bgr"))),
    "grade": column(["low", None, "high", "mid", "mid"], LEVELS),
    "sex": column(["f", "m", "f", None, "m"], pandas.CategoricalDtype(["f", "m"])),
    "visits": column([0, 7, 2, None, 1], "Int64"),
    "year": column([1990, 1994, 1999, None, 2001], "Int32"),
    "flag": column([0, 1, 1, 0, 1], "int8"),
    "yes": column([0, 1, np.nan, 0, 1], "float64"),
    "weight": column([70.5, np.nan, 81.25, 64.0, 93.0], "float32"),
    "height": column([1.7, 1.8, None, None, 1.9], "Float64"),
}
WORDS = dict(zip(COLUMNS, "binary binary categorical ordinal binary count real binary binary real real".split()))
FRAME = pandas.DataFrame(COLUMNS)


def tiny(**arguments):
    return ds.Imputer(**{**TINY, **arguments})
