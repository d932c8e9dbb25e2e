"""What users pass: missing entries in every form, and what is refused."""

import datetime

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.rows import ArraySource, DatasetSource, rows_of, source_of
from tfdsmcmc.rows.from_users import rows_in_memory
from tfdsmcmc.supports import Binary, Real

NAN = np.nan
ROW = [[1, 0, NAN, 1], [NAN, 1, 1, 1]]
VALUES = [[1, 0, 0.5, 1], [0.5, 1, 1, 1]]
OBSERVED = [[True, True, False, True], [False, True, True, True]]


def assert_two_rows(rows):
    """The two rows of `ROW`, with what a network sees in place of what is missing."""
    assert rows.values.dtype == np.float32 and rows.observed.dtype == bool
    np.testing.assert_array_equal(rows.values, VALUES)
    np.testing.assert_array_equal(rows.observed, OBSERVED)


@pytest.mark.parametrize("form", [list, np.array, lambda x: np.array(x, object), lambda x: np.array(x, np.float16)])
def test_nan_is_missing(form):
    assert_two_rows(rows_of("x", form(ROW), 4, Binary()))


def test_none_is_missing():
    found = rows_of("x", [[1, None, 0], [NAN, 1, 1]], 3, Binary())
    assert found.values.dtype == np.float32
    np.testing.assert_array_equal(found.with_nan(), [[1, NAN, 0], [NAN, 1, 1]])


def test_complete_rows():
    """One byte an entry where they are binary; real ones in single precision, 0 in their gaps."""
    binary = rows_of("x", [[1.0, 0, 0]], 3, Binary())
    assert binary.complete and binary.values.dtype == np.uint8
    real = rows_of("x", np.array([[0.25, -3]]), 2, Real())
    assert real.complete and real.values.dtype == np.float32
    gappy = rows_of("x", np.array([[0.25, NAN]]), 2, Real())
    np.testing.assert_array_equal(gappy.values, [[0.25, 0.0]])
    np.testing.assert_array_equal(gappy.observed, [[True, False]])


@pytest.mark.parametrize("hidden", [-1.0, NAN, np.inf, 0.5, 1.0])
def test_what_stands_under_a_mask_is_gone(hidden):
    x = np.where(np.isnan(ROW), hidden, ROW)
    for mask in (OBSERVED, np.array(OBSERVED, np.int8), np.array(OBSERVED, object), np.array(OBSERVED, np.float32)):
        assert_two_rows(rows_of("x", x, 4, Binary(), mask=mask))
    real = rows_of("x", x, 4, Real(), mask=OBSERVED)
    np.testing.assert_array_equal(real.values, np.where(OBSERVED, ROW, 0))


def test_a_mask_of_one_row_is_that_of_all():
    found = rows_of("x", np.ones((3, 2)), 2, Binary(), mask=[1, 0])
    np.testing.assert_array_equal(found.observed, [[True, False]] * 3)
    np.testing.assert_array_equal(found.values, [[1, 0.5]] * 3)


def test_a_mask_that_hides_nothing():
    found = rows_of("x", [[1, 0], [0, 0]], 2, Binary(), mask=np.ones((2, 2), bool))
    assert found.complete and found.values.dtype == np.uint8


@pytest.mark.parametrize("kind", ["Int64", object])
def test_pandas_frames_with_their_own_missing_values(kind):
    """Nullable integers, and columns of objects with pandas' own NA, under masks of its nullable booleans too."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, pandas.NA], "b": [0, 1], "c": [None, 1], "d": [1, 1]}, dtype=object).astype(kind)
    assert_two_rows(rows_of("x", frame, 4, Binary()))
    assert_two_rows(rows_of("x", frame.fillna(0), 4, Binary(), mask=frame.notna()))
    mask = frame.notna().astype("boolean")
    assert_two_rows(rows_of("x", frame, 4, Binary(), mask=mask))
    mask.iloc[0, 0] = pandas.NA
    with pytest.raises(ValueError, match="Received: object entries"):
        rows_of("x", frame, 4, Binary(), mask=mask)


def test_pandas_columns_of_several_types():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None], "Int64"), "b": [0.0, NAN], "c": [True, False]})
    found = rows_of("x", frame, 3, Binary())
    np.testing.assert_array_equal(found.with_nan(), [[1, 0, 1], [NAN, NAN, 0]])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["2020-01-01", "2021-01-01"], "datetime64[ns]"),
        ([1, 2], "timedelta64[ns]"),
        ([1j, 0j], None),
        (["0", "1"], None),
        (["0", "1"], object),
        ([b"0", b"1"], object),
        (["0", "1"], "category"),
        ([np.datetime64("2020"), 1], object),
    ],
    ids=["dates", "spans", "complex", "texts", "texts as objects", "bytes", "categories", "dates among objects"],
)
def test_pandas_columns_that_are_no_numbers_are_refused_by_name(values, dtype):
    """They are cast without a word: a date to nanoseconds, "1" to 1, a complex number to its real part."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0, 1], "d": pandas.Series(values, dtype=dtype)})
    for x in (frame, frame["d"]):
        with pytest.raises(ValueError, match="^x must be an array of numbers.*column 'd' is of.*Received: "):
            rows_of("x", x, 2, Real())


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_columns_of_other_frames_that_are_no_numbers_are_refused_by_name(library):
    frames, day = pytest.importorskip(library), datetime.date(2020, 1, 1)
    table = {"polars": "DataFrame", "pyarrow": "table"}[library]
    for values in ([day, None], ["0", "1"], [datetime.datetime(2020, 1, 1), None], [datetime.timedelta(1), None]):
        with pytest.raises(ValueError, match="^x must be an array of numbers.*column 'd' is of.*Received: "):
            rows_of("x", getattr(frames, table)({"a": [0, 1], "d": values}), 2, Real())
    found = rows_of("x", getattr(frames, table)({"a": [0, 1], "b": [True, False], "d": [0.5, None]}), 3, Real())
    np.testing.assert_array_equal(found.values[:, :2], [[0, 1], [1, 0]])
    assert found.observed.tolist() == [[True] * 3, [True, True, False]]


def test_arrays_and_objects_of_polars_are_taken():
    polars = pytest.importorskip("polars")
    pairs = polars.Series([[1.0, 2.0], [3.0, 4.0]], dtype=polars.Array(polars.Float64, 2))
    objects = polars.DataFrame({"a": [0.0, 1.0], "b": polars.Series([1, 0], dtype=polars.Object)})
    for x, values in ((pairs, [[1, 2], [3, 4]]), (objects, [[0, 1], [1, 0]])):
        np.testing.assert_array_equal(rows_of("x", x, 2, Real()).values, values)


@pytest.mark.parametrize("entry", ["1", b"1", np.datetime64("2020")])
def test_objects_that_are_no_numbers_are_refused(entry):
    with pytest.raises(ValueError, match="^x must be an array of numbers .it has texts or dates.*Received: ndarray"):
        rows_of("x", np.array([[0, entry]], object), 2, Real())


def test_columns_of_arrow_and_of_categories_that_are_numbers_are_taken():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    texts = pandas.Series(["0", "1"], dtype=pandas.ArrowDtype(arrow.dictionary(arrow.int32(), arrow.string())))
    with pytest.raises(ValueError, match="^x must be an array of numbers.*column 'd' is of.*Received: "):
        rows_of("x", pandas.DataFrame({"a": [0, 1], "d": texts}), 2, Real())
    types = {"a": "int64[pyarrow]", "b": "category", "c": "bool[pyarrow]", "d": "double[pyarrow]"}
    frame = pandas.DataFrame({"a": [0, 1], "b": [1, 0], "c": [True, False], "d": [0.0, 1.0]}).astype(types)
    np.testing.assert_array_equal(rows_of("x", frame, 4, Binary()).values, [[0, 1, 1, 0], [1, 0, 0, 1]])


def test_an_array_of_pandas_is_an_array():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"^x must have the shape.*Received: .*\(2,\)"):
        rows_of("x", pandas.array([0, 1], "Int64"), 2, Binary())


def test_the_names_of_columns_are_no_attributes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"train": [0, 1], "valid": [1, 1], "context": [0, 0]})
    np.testing.assert_array_equal(source_of("x", frame, 3, Binary()).all().values, frame.to_numpy())


def test_masked_arrays_hide_their_entries():
    x = np.ma.array([[1, 0, 1, 1], [0, 1, 1, 1]], mask=[[0, 0, 1, 0], [1, 0, 0, 0]])
    assert_two_rows(rows_of("x", x, 4, Binary()))
    assert_two_rows(rows_of("x", x, 4, Binary(), mask=~x.mask))
    stricter = rows_of("x", x, 4, Binary(), mask=[[True, True, False, False], [False, True, True, True]])
    np.testing.assert_array_equal(stricter.observed, [[True, True, False, False], [False, True, True, True]])
    with pytest.raises(ValueError, match="^data must be known where mask is True. Received: 2 such entries"):
        rows_of("data", x, 4, Binary(), mask=np.ones(4))


@pytest.mark.parametrize(
    ("x", "arguments", "message"),
    [
        ([[2, NAN, 0]], {}, "be binary.* first 2.0"),
        ([[np.inf, NAN, 0]], {}, "1 entries that are NaN or infinite"),
        ([[np.inf, NAN, 0]], {"support": Real()}, "1 entries that are NaN or infinite"),
        ([[1, None, 0], [NAN, 1, 1]], {"missing": False}, "2 entries that are NaN"),
        ([[1, 0]], {}, r"shape \(rows, 3\)"),
        ([[1, 0]], {"mask": np.ones((1, 3))}, r"shape \(rows, 3\)"),
        ([1, 0, 1], {"mask": np.ones(3)}, r"shape \(rows, 3\)"),
        (np.zeros((0, 3)), {}, "at least one row"),
        ([["a", "b", "c"]], {"mask": np.ones(3)}, "numbers"),
        ([[1, 0], [1]], {"mask": np.ones(3)}, "numbers"),
        (None, {}, "numbers|shape"),
        ([[0, 1, NAN]], {"mask": [[True, True, True]]}, "known where mask is True. Received: 1 such"),
    ],
)
def test_bad_rows_are_refused_by_name(x, arguments, message):
    with pytest.raises(ValueError, match=f"^data must .*{message}") as error:
        rows_of("data", x, 3, **{"support": Binary(), **arguments})
    assert "Received: " in str(error.value)


@pytest.mark.parametrize(
    "mask",
    [
        [[True]],
        np.ones((1, 2)),
        np.ones((3, 2)),
        np.ones((2, 2, 1)),
        [[0.5, 1], [1, 1]],
        [["a", "b"], ["c", "d"]],
        [[1, 0], [1]],
        np.ma.array(np.ones((2, 2)), mask=np.eye(2)),
    ],
)
def test_bad_masks_are_refused_by_name(mask):
    with pytest.raises(ValueError, match=r"^mask (has|must|hides) .* Received: "):
        rows_of("x", np.ones((2, 2)), 2, Binary(), mask=mask)


def test_sources_by_what_is_passed():
    x = np.array(ROW)
    array = source_of("x", x, 4, Binary())
    assert isinstance(array, ArraySource)
    assert_two_rows(array.rows)
    assert_two_rows(source_of("x", np.nan_to_num(x), 4, Binary(), mask=OBSERVED).all())
    dataset = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(1), 4, Binary())
    assert isinstance(dataset, DatasetSource)
    assert_two_rows(dataset.all())
    for source in (array, dataset):
        assert source_of("other", source, 4, Binary()) is source


def test_sources_that_do_not_fit_are_refused_by_name():
    dataset = tf.data.Dataset.from_tensor_slices(np.ones((2, 4))).batch(1)
    for x in (dataset, source_of("x", np.ones((2, 4)), 4, Binary())):
        with pytest.raises(ValueError, match="mask is for arrays. Received: ndarray"):
            source_of("data", x, 4, Binary(), mask=np.ones(4))
    with pytest.raises(ValueError, match="^data must have the width 3. Received: rows of width 4"):
        source_of("data", source_of("x", np.ones((2, 4)), 4, Binary()), 3, Binary())
    with pytest.raises(ValueError, match="^data must .*Received: "):
        source_of("data", np.ones((2, 4)), 3, Binary())


def test_bytes_in_a_file_are_rows_of_whatever_the_model_has(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12, dtype=np.uint8).reshape(3, 4))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = rows_in_memory("x", mapped, 4, ds.supports.Real())
    np.testing.assert_array_equal(found.values, np.arange(12.0).reshape(3, 4))
    with pytest.raises(ValueError, match="zeros and ones"):
        rows_in_memory("x", mapped, 4, ds.supports.Binary())


def test_what_is_observed_must_be_known():
    rows = ds.rows.Rows(np.array([[1.0, np.nan]]), np.ones((1, 2), bool))
    with pytest.raises(ValueError, match=r"x must be known where observed is True\. Received: 1 such entries"):
        source_of("x", rows, 2, ds.supports.Binary())
