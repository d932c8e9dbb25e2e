"""What comes in other types than in `fit`, or in types that cannot be filled; without a model."""

import numpy as np
import pytest

from tfdsmcmc.imputer.codecs import of_type
from tfdsmcmc.imputer.columns import columns_of
from tfdsmcmc.imputer.table import Table

pandas = pytest.importorskip("pandas")

X = [0.1, 0.7, np.nan, -1.0]
TEXT = ["u", "v", "w", "v"]


def categories(values, states=None):
    return pandas.Series(pandas.Categorical(values, states))


def filled(in_fit, later, word=None, keep_empty=False):
    """A later column, filled with the mode of a law where each entry has the mean 0.3, by the table of one in `fit`."""
    table = Table(pandas.DataFrame({"a": in_fit, "x": X}), None if word is None else {"a": word})
    frame = pandas.DataFrame({"a": later, "x": X})
    rows = table.standardised(frame)
    means = np.where(rows.observed, rows.values, 0.3).astype(np.float32)
    return table.filled(frame, table.support.mode(means), keep_empty)["a"]


BOOLEANS = pandas.Series([True, False, None, True], dtype="boolean")
ZEROS_AND_ONES = pandas.Series([1, 0, None, 1], dtype="Int64")
OF_BINARY = {
    "boolean": BOOLEANS,
    "objects": BOOLEANS.astype(object),
    "Int64": ZEROS_AND_ONES,
    "float64": ZEROS_AND_ONES.astype("float64"),
    "categories of numbers": categories([1, 0, None, 1]),
    "categories of booleans": categories([True, False, None, True]),
}


@pytest.mark.parametrize("later", OF_BINARY)
@pytest.mark.parametrize("in_fit", OF_BINARY)
def test_true_is_1_in_all_types(in_fit, later):
    """What is observed stays, in the type that it has or in that of `fit`; pandas makes True missing among categories
    0 and 1, and takes no 0 among booleans."""
    found = filled(OF_BINARY[in_fit], OF_BINARY[later])
    assert found.tolist() == [1, 0, 0, 1]
    assert found.dtype in (OF_BINARY[later].dtype, OF_BINARY[in_fit].dtype)


@pytest.mark.parametrize(
    ("later", "want"),
    [
        (categories(["v", None, "v", "u"], ["w", "v", "u"]), "category"),
        (categories(["v", None, "v", "u"], ["v", "u"]), "str"),
        (pandas.Series(["v", None, "v", "u"], dtype="string"), "string"),
        (pandas.Series(["v", None, "v", "u"], dtype=object), "object"),
    ],
)
def test_text_that_comes_as_another_type(later, want):
    """Categories without a state of `fit` cannot be filled, whatever is drawn."""
    in_fit = pandas.Series(TEXT)
    found = filled(in_fit, later, "categorical")
    assert found.tolist() == ["v", "u", "v", "u"]
    assert found.dtype == (in_fit.dtype if want == "str" else later.dtype)


def test_a_column_of_which_nothing_is_there_later():
    """It has some type, such as objects, and is filled with values that it had in `fit`, whole numbers among them."""
    years = pandas.Series([1990, 1994, 1999, 2001], dtype="Int32")
    for nothing in (
        pandas.Series([None] * 4, dtype=object),
        pandas.to_datetime(pandas.Series([None] * 4)),
        pandas.Series([None] * 4, dtype="boolean"),
        pandas.Series([np.nan] * 4),
    ):
        found = filled(years, nothing)
        assert found.tolist() == [1997] * 4 and found.dtype in ("Int32", "float64")
        assert set(filled(pandas.Series(TEXT), nothing, "categorical")) <= set(TEXT)


@pytest.mark.parametrize(
    "nothing",
    [
        categories([None] * 4, ["u"]),
        pandas.Series([None] * 4, dtype="string"),
        pandas.Series(pandas.arrays.SparseArray([np.nan] * 4)),
        pandas.to_datetime(pandas.Series([None] * 4)).dt.tz_localize("UTC"),
        pandas.to_timedelta(pandas.Series([None] * 4)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_empty_columns_that_are_no_numbers_stay_empty(nothing):
    found = filled(nothing, nothing, keep_empty=True)
    assert found.isna().all() and found.dtype == nothing.dtype


def test_values_that_are_no_states():
    """Lists are not the same or another: they are refused, in `fit` and afterwards."""
    lists = pandas.Series([[1], [2], None, [1]], dtype=object)
    for in_fit in (lists, pandas.Series(TEXT)):
        with pytest.raises(ValueError, match=r"Column 'a' must have values that can be states. Received: \[1\]"):
            filled(in_fit, lists, "categorical")


@pytest.mark.parametrize("dtype", ["float16", "float32", "Float32", "float64"])
def test_what_is_filled_in_is_finite(dtype):
    """Numbers beyond the largest of a type would be infinite."""
    largest = float(np.finfo(dtype.lower()).max)
    assert list(of_type(np.array([-np.inf, 1.0, np.inf]), pandas.Series(dtype=dtype).dtype)) == [-largest, 1.0, largest]


def test_arrays_too_are_filled_with_finite_numbers():
    x = np.array([[3e38], [-3e38], [np.nan]], np.float32)
    columns = columns_of(x)
    assert columns.filled(x, np.float32([[0], [0], [9]]), False).tolist()[2] == [np.finfo(np.float32).max]


def test_codes_that_were_not_there_in_fit_are_named_as_they_are_written():
    with pytest.raises(ValueError, match=r"had the values \[1, 2, 4\] in fit. Received: 3$"):
        filled(pandas.Series([1, 2, 2, 4]), pandas.Series([1, 3, 3, 1]), "categorical")


@pytest.mark.parametrize("narrow", ["float32", "Float32", "float16"])
def test_states_of_short_and_long_floats_are_the_same(narrow):
    """0.1 is 0.1 in both, as it is written and as it is cast; the states are what they are in `fit`."""
    wide = pandas.Series([0.1, 0.2, np.nan, 0.3])
    short = wide.astype(narrow)
    assert Table(pandas.DataFrame({"a": short}), {"a": "ordinal"}).codecs[0].labels == sorted(short.dropna())
    cast = short.astype("float64"), short.astype("float32")
    for in_fit, later in ((short, wide), (wide, short), (short, cast[0]), (cast[0], short), (cast[1], short)):
        found = filled(in_fit, later, "ordinal")
        assert found.dtype == later.dtype
        np.testing.assert_array_equal(found[[0, 1, 3]].astype(float), later[[0, 1, 3]].astype(float))
        assert not found.isna().any()


def test_states_that_a_short_float_does_not_tell_apart():
    """They are refused where the shorter type is that of a later column, and large whole numbers stay exact."""
    close = pandas.Series([0.1, 0.1 + 1e-12, np.nan, 0.3])
    with pytest.raises(ValueError, match="Column 'a' had the values .* in fit. Received: 0.10000000149"):
        filled(close, close.astype("float32"), "ordinal")
    large = pandas.Series([16777219, 123456789, None, 5], dtype="float32")
    for later in (large.astype("float64"), large.astype("Int64")):
        assert filled(large, later, "ordinal")[1] == 123456792
    with pytest.raises(ValueError, match="Received: 0.4"):
        filled(large, pandas.Series([0.4, 5, 5, 5]), "ordinal")
    with pytest.raises(ValueError, match="Received: 16777217"):
        filled(pandas.Series([16777216, 5, 7, 5], dtype="float32"), pandas.Series([16777217, 5, 7, 5]), "ordinal")
    with pytest.raises(ValueError, match="Received: inf"):
        filled(pandas.Series([1e5, 5, 7, 5]), pandas.Series([np.inf, 5, 7, 5], dtype="float16"), "ordinal")


def test_states_of_a_sparse_column():
    sparse = pandas.Series([0.0, 1.0, 2.0, 0.0]).astype("Sparse[float32]")
    assert filled(sparse, sparse, "categorical").tolist() == [0, 1, 2, 0]


def test_text_does_not_go_into_an_array():
    table = Table(pandas.DataFrame({"a": categories(TEXT), "x": X}))
    with pytest.raises(ValueError, match=r"X must be a DataFrame.*\['a'\] hold no numbers. Received: an array"):
        table.check_for_array()
    numbers = Table(pandas.DataFrame({"a": BOOLEANS, "x": X}))
    numbers.check_for_array()
    assert numbers.frame_of_array(np.array([[1.0, 1.0]])).shape == (1, 2)


@pytest.mark.parametrize("unit", [1e-40, 1e-21, 1e21, 1e300])
def test_amounts_that_32_bits_do_not_hold(unit):
    """Their logarithms or draws would not be finite; real numbers are standardised in 64 bits."""
    amounts = pandas.Series([0.0, 2 * unit, 3 * unit, 5 * unit])
    with pytest.raises(ValueError, match="'a' has amounts that are too .*Received: amounts of about 3"):
        filled(amounts, amounts, "semicontinuous")
    assert filled(amounts, amounts, "real").equals(amounts)


def test_counts_that_32_bits_do_not_hold():
    counts = pandas.Series([0, 7, 1, 30], dtype="Int64")
    with pytest.raises(ValueError, match="'a' had counts in fit.*Received: 33554432"):
        filled(counts, counts.replace(30, 2**25))
