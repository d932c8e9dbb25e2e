"""What fills a column is a value that the column can have, in a type that holds it; what has no numbers is refused."""

import datetime

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.test_other_frames import filled
from tfdsmcmc.imputer import frames, opening
from tfdsmcmc.imputer.codecs import held
from tfdsmcmc.imputer.table import Table

pandas = pytest.importorskip("pandas")

LARGE = 2**60 + 1  # float64 has 2⁶⁰ and 2⁶⁰ + 256 beside it
TINY = {"updates": 2, "posterior_samples": 0, "jit_compile": False, "random_state": 0}


def column(values, dtype):
    return pandas.Series(pandas.array(values, dtype=dtype))


@pytest.mark.parametrize("other", [LARGE, LARGE + 2])
def test_codes_beyond_float64_fill_as_they_are(other):
    """One value or two states."""
    ids = column([LARGE, other, None, LARGE], "Int64")
    for word in ("categorical",) if other > LARGE else ("categorical", None):
        found = filled(ids, ids, word)
        assert (
            found.dtype == "Int64" and found[2] in (LARGE, other) and found[[0, 1, 3]].tolist() == [LARGE, other, LARGE]
        )


@pytest.mark.parametrize(
    ("word", "fitted", "later", "holds"),
    [
        ("binary", column([-1, -1, 1, 1], "Int8"), column([1, 1, None, 1], "UInt8"), False),
        ("binary", column([-1, -1, 1, 1], "Int8"), column([1, 1, None, 1], "Int16"), True),
        ("categorical", column([1.5, 1.5, 2.0, 3.0], "Float64"), column([2, 2, None, 3], "Int64"), False),
        ("categorical", column([0.1, 0.1, 2.0, 3.0], "Float64"), column([2, 2, None, 3], "Float32"), True),
        ("count", column([500, 2, 400, 300], "Int64"), column([100, 2, None, 3], "UInt8"), True),
        ("count", column([500, 2, 400, 300], "Int64"), column([100, 2, None, 3], "Int16"), True),
        ("real", column([0.5, 2.25, 0.1, 3.7], "Float64"), column([100, 2, None, 3], "Int64"), False),
        ("categorical", column([7e4, 8e4, 9e4, 8e4], "float64"), column([None] * 4, "float16"), False),
        ("categorical", column([2.0**24, 2.0**24 + 1, 3.0, 3.0], "Float64"), column([3, 3, None, 3], "Float32"), False),
    ],
)
def test_a_type_that_does_not_hold_what_fills_it_is_that_of_fit(word, fitted, later, holds):
    wide = filled(fitted, later.astype("float64").astype("Float64"), word)
    found = filled(fitted, later, word)
    assert found.dtype == (later.dtype if holds else fitted.dtype)
    seen = later.notna()
    assert found[seen].tolist() == later[seen].tolist()  # observed entries stay as they are
    np.testing.assert_allclose(float(found[2]), float(wide[2]), rtol=1e-7)
    if word != "real" and word != "count":
        assert np.float32(found[2]) in np.float32(fitted)


@pytest.mark.parametrize(
    ("fitted", "later"),
    [
        (column([-3, 5, 7, -2], "Int8"), column([200, 250, None, 3], "UInt8")),
        (column([0.5, 2.25, 0.1, 3.7], "Float64"), column([LARGE, 123456789, None, 3], "Int64")),
    ],
)
def test_what_was_observed_is_never_rebuilt(fitted, later):
    """Neither type holds what was observed and what fills: it stays, and what fills is rounded."""
    found = filled(fitted, later, "real")
    assert found.dtype == later.dtype and found[[0, 1, 3]].tolist() == later[[0, 1, 3]].tolist() and found[2] >= 0


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames_have_the_type_of_fit_too(library):
    pytest.importorskip("narwhals")
    table = getattr(pytest.importorskip(library), {"polars": "DataFrame", "pyarrow": "table"}[library])
    x = [0.1, 0.7, -0.3, -1.0]
    fitted = frames.to_pandas(table({"a": [0.5, 2.25, 0.1, 3.7], "x": x}))
    later = table({"a": [100, 2, None, 3], "x": x})
    frame, known = frames.to_pandas(later), Table(fitted, {"a": "real"})
    rows = known.standardised(frame)
    means = np.where(rows.observed, rows.values, 0.3).astype(np.float32)
    found = frames.like(later, known.filled(frame, known.support.mode(means), False))["a"]
    found = found.to_list() if library == "polars" else found.to_pylist()
    assert found[:2] == [100, 2] and found[3] == 3 and found[2] % 1 > 0


def test_states_of_fit_where_none_fits():
    found = filled(column([1000, 1000, 2000, 3000], "Int64"), column([None] * 4, "Int8"), "categorical")
    assert found.dtype == "Int64" and set(found) <= {1000, 2000, 3000}


@pytest.mark.parametrize(
    ("values", "dtype", "holds"),
    [
        (column([125, 128], "Int64"), "Int8", False),
        (column([125, 127], "Int64"), "Int8", True),
        (column([-1], "Int64"), "UInt8", False),
        (column([1.5], "Float64"), "Int64", False),
        (column([2.0], "float64"), "int8", True),
        (column([LARGE], "Int64"), "float64", False),
        (column([LARGE - 1], "int64"), "Float64", True),
        (column([0.1], "float64"), "float32", True),
        (column([7e4], "float64"), "float16", False),
    ],
)
def test_what_a_type_holds(values, dtype, holds):
    if not holds:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            held(values, dtype)
    else:
        found = held(values, dtype)
        assert found.dtype == dtype and found.tolist() == pytest.approx(values.tolist(), rel=1e-7)


@pytest.mark.parametrize("kind", ["M8[D]", "m8[D]"])
def test_arrays_of_dates_and_spans_are_refused(kind):
    x = np.array([[1, "NaT"], [2, 3]], kind if kind[0] == "m" else "m8[D]").astype(kind)
    with pytest.raises(ValueError, match=r"X must be numbers.* Received: dtype=(datetime|timedelta)64\[D\]"):
        ds.Imputer(**TINY).fit(x)


def test_records_are_refused():
    with pytest.raises(ValueError, match="X must be numbers.* Received: dtype=.*'b', '<i4'"):
        ds.Imputer(**TINY).fit(np.zeros(3, [("a", "<f4"), ("b", "<i4")]))


def test_names_of_two_kinds_are_refused():
    with pytest.raises(ValueError, match=r"Either all columns .*Received: \['a', 1\]"):
        ds.Imputer(**TINY).fit(pandas.DataFrame({"a": [0.0, 1.5, 3.0], 1: [1.0, 2.0, 0.5]}))


def test_an_imputer_of_arrays_takes_no_frames_of_dates():
    imputer = ds.Imputer()
    _, imputer.columns_ = opening.columns_in_fit(imputer, np.random.default_rng(0).normal(size=(20, 2)))
    days = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]
    for frame in (pandas.DataFrame({0: pandas.to_datetime(days), 1: [0.0, 1.0]}), pandas.DataFrame({0: days, 1: days})):
        with pytest.raises(ValueError, match="X must be an array of numbers .*Received: DataFrame"):
            opening.opened(imputer, frame)


@pytest.mark.parametrize("code", ["int8", "int32"])
def test_dictionaries_of_arrow_have_dates_too(code):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("narwhals")
    days = [datetime.date(2020, 1, 1), datetime.datetime(2021, 1, 1), datetime.time(3)]
    for later in (*days, "b", 3):
        values = pyarrow.array([None, later, later])
        kind = pyarrow.dictionary(getattr(pyarrow, code)(), values.type)
        table = pyarrow.table({"d": values.dictionary_encode().cast(kind)})
        filled = frames.to_pandas(table).bfill()
        found = frames.like(table, filled)["d"]
        assert found.type == kind and found.to_pylist() == [later] * 3


@pytest.mark.parametrize(("dtype", "first"), [("Int64", 2**60), ("UInt64", 2**64 - 50)])
def test_integers_that_float64_does_not_tell_apart_are_refused(dtype, first):
    """They would be a column of one value. Codes all over the range are told apart well enough."""
    series = column([first + value for value in range(50)] + [None], dtype)
    with pytest.raises(ValueError, match="integers that are too alike.*Received: a standard deviation of 14.4 "):
        Table(pandas.DataFrame({"a": series}), {"a": "real"})
    with pytest.raises(ValueError, match="integers that are too alike"):
        Table(pandas.DataFrame({"a": pandas.concat([0 * series, series])}), {"a": "semicontinuous"})
    wide = column([2**62 + value * 2**40 for value in range(50)] + [None], dtype)
    Table(pandas.DataFrame({"a": wide}), {"a": "real"})


def test_lists_of_masked_rows_keep_what_they_hide():
    masked = np.ma.array([[1, 2], [3, 99], [4, 5]], mask=[[0, 0], [0, 1], [0, 0]])
    for x in (masked, list(masked)):
        found = opening.columns_in_fit(ds.Imputer("SBN 2", **TINY), x)[0]
        np.testing.assert_array_equal(found, [[1, 2], [3, np.nan], [4, 5]])
