"""The imputer and frames of Polars and tables of Arrow."""

import datetime
import decimal
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tfdsmcmc as ds
from tfdsmcmc.imputer import frames, opening
from tfdsmcmc.imputer.table import Table

pl = pytest.importorskip("polars")
pytest.importorskip("narwhals")
pyarrow = pytest.importorskip("pyarrow")

TINY = {"updates": 2, "posterior_samples": 1, "batch_size": 10, "jit_compile": False, "random_state": 0}
SHORT = {"burn_in": 0, "num_samples": 1, "thinning": 1, "num_chains": 1}
FRAME = pl.DataFrame(
    {
        "b": [True, None, False, True],
        "i": pl.Series([1, 2, None, 7], dtype=pl.Int32),
        "x": pl.Series([1.5, float("nan"), None, 2.0], dtype=pl.Float32),
        "c": pl.Series(["r", None, "g", "r"], dtype=pl.Categorical),
        "e": pl.Series(["lo", "hi", None, "lo"], dtype=pl.Enum(["lo", "hi", "mid"])),
        "u": pl.Series([1, 2, 3, 200], dtype=pl.UInt8),
    }
)
ARROW = FRAME.to_arrow()


def types_of(frame):
    return frame.schema if isinstance(frame, pl.DataFrame) else frame.schema.types


@pytest.mark.parametrize("native", [FRAME, ARROW], ids=["polars", "arrow"])
def test_values_and_types_there_and_back(native):
    """Gaps are null and NaN; what is filled has the types of the frame, what is observed is as it was."""
    frame = frames.to_pandas(native)
    assert frame.isna().sum().tolist() == [1, 1, 2, 1, 1, 0]
    assert [str(dtype) for dtype in frame.dtypes] == ["boolean", "Int32", "float32", "category", "category", "UInt8"]
    table = Table(frame, {"e": "ordinal"})
    assert [kind.word for kind in table.kinds] == ["binary", "count", "real", "binary", "ordinal", "count"]
    rows = table.standardised(frame)
    values = np.where(rows.observed, rows.values, table.support.mode(rows.values))
    filled = frames.like(native, table.filled(frame, values, False))
    assert type(filled) is type(native) and types_of(filled) == types_of(native)
    again = pl.DataFrame(filled)
    assert sum(again.null_count().row(0)) == 0 and not again["x"].is_nan().any()
    for name in FRAME.columns:
        known = FRAME[name].is_not_null() & (FRAME[name].is_not_nan() if name == "x" else True)
        assert again[name].filter(known).to_list() == FRAME[name].filter(known).to_list()


def test_nan_is_missing_in_columns_of_arrow_and_of_masked_floats():
    """Pandas' own `isna` does not know it there."""
    whole = [1.5, np.nan, 2.0, 0.5]
    arrow = pd.Series(pd.arrays.ArrowExtensionArray(pyarrow.array(whole)))
    frame = pd.DataFrame({"x": arrow, "y": pd.Series([0.0, 1.0, np.nan, 2.5])})
    assert frame["x"].isna().sum() == 0
    imputer = ds.Imputer("SBN 2", **TINY)
    marked, columns = opening.columns_in_fit(imputer, frame)
    assert marked.isna().sum().tolist() == [1, 1] and str(marked["x"].dtype) == "double[pyarrow]"
    assert columns.standardised(marked).observed.tolist() == [[True, True], [False, True], [True, False], [True, True]]
    imputer.columns_ = columns
    frame.columns.name, frame.attrs = "cols", {"k": 1}
    masked = pd.DataFrame({"x": pd.Series(pd.arrays.FloatingArray(np.array(whole), np.zeros(4, bool)))})
    assert opening.columns_in_fit(ds.Imputer("SBN 2", **TINY), masked)[0].isna().sum().tolist() == [1]
    later, rows, finish = opening.opened(imputer, frame.iloc[1:])
    assert later.columns.name == "cols" and later.attrs == {"k": 1} and frame["x"].isna().sum() == 0
    assert rows.observed.tolist() == [[False, True], [True, False], [True, True]]
    filled = finish(later, np.zeros((3, 2)))
    assert not any(np.isnan(filled[name].to_numpy(float)).any() for name in filled)
    assert filled["x"].tolist()[1:] == [2.0, 0.5]


@pytest.mark.parametrize("x", [FRAME.lazy(), ARROW.to_batches()[0]], ids=["lazy", "batch"])
def test_what_is_no_frame_yet_is_refused_by_what_makes_it_one(x):
    imputer = ds.Imputer("SBN 2", **TINY)
    for call in (opening.columns_in_fit, opening.opened):
        with pytest.raises(ValueError, match="X must be a frame or a table, as .*Received: X of type"):
            call(imputer, x)


def test_an_array_of_objects_may_have_the_missing_value_of_pandas():
    imputer = ds.Imputer("SBN 2", **TINY)
    x, columns = opening.columns_in_fit(imputer, np.array([[1.5, pd.NA], [2.0, 1.0], [None, 3.0]], object))
    np.testing.assert_array_equal(x, [[1.5, np.nan], [2.0, 1.0], [np.nan, 3.0]])
    assert columns.standardised(x).observed.tolist() == [[True, False], [True, True], [False, True]]


@pytest.mark.parametrize("library", [pl.DataFrame, pyarrow.table], ids=["polars", "arrow"])
def test_a_column_that_is_all_null_takes_the_type_of_what_fills_it(library):
    """A few rows to fill may have nothing of a column that `fit` knows; libraries then have no type for it."""
    native = library({"x": [None, None], "c": [None, None], "b": [True, None]})
    filled = pd.DataFrame({"x": [1.5, -2.0], "c": ["r", "g"], "b": [True, False]})
    made = pl.DataFrame(frames.like(native, filled))
    assert made.to_dict(as_series=False) == filled.to_dict("list")
    assert made.dtypes == [pl.Float64, pl.String, pl.Boolean]


def test_probabilities_are_not_taken_for_columns_of_the_frame():
    """A state may have the name of another column."""
    native = pl.DataFrame({"bus": [35.5, 20.25], "mode": pl.Series(["bus", "car"], dtype=pl.Categorical)})
    found = Table(frames.to_pandas(native)).probabilities(frames.to_pandas(native), np.array([[0.0, 0.0], [0.0, 1.0]]))
    for frame in (native, native.to_arrow()):
        made = frames.made(frame, found["mode"])
        assert type(made) is type(frame) and pl.DataFrame(made).rows() == [(1.0, 0.0), (0.0, 1.0)]
        assert list(pl.DataFrame(made).columns) == ["bus", "car"]


def test_columns_that_are_drawn_have_the_types_of_fit():
    """Whatever type pandas gives them in between: that of text and of times is not the one that they came with."""
    day = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    values = {"large": "a", "text": "b", "time": day}
    types = pyarrow.large_string(), pyarrow.string(), pyarrow.timestamp("us", "UTC")
    native = pyarrow.table({n: pyarrow.array([v], t) for (n, v), t in zip(values.items(), types)})
    drawn = pd.DataFrame({name: [value, value] for name, value in values.items()})
    for filled in (drawn, drawn.astype(object)):
        assert frames.like(frames.emptied(native), filled).equals(pyarrow.concat_tables([native, native]))


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_decimals_stay_to_the_last_digit(library):
    """Also those that float64 cannot tell apart; what fills a gap is one, of what the type can hold."""
    numbers = [decimal.Decimal("12345678901234567.89"), None, decimal.Decimal("-0.01"), None]
    polars = pl.DataFrame({"d": pl.Series(numbers, dtype=pl.Decimal(22, 2))})
    native = polars if library == "polars" else polars.to_arrow()
    filled = frames.like(native, frames.to_pandas(native).fillna(1e30).replace(1e30, 1.256))
    assert types_of(filled) == types_of(native)
    assert pl.DataFrame(filled)["d"].to_list() == [
        numbers[0],
        decimal.Decimal("1.26"),
        numbers[2],
        decimal.Decimal("1.26"),
    ]
    huge = pl.DataFrame(frames.like(native, frames.to_pandas(native).fillna(1e300)))["d"].to_list()
    assert huge[1] == decimal.Decimal(10**22 - 1) / 100 and huge[0] == numbers[0]
    drawn = frames.like(frames.emptied(native), pd.DataFrame({"d": [0.5]}))
    assert types_of(drawn) == types_of(native) and pl.DataFrame(drawn)["d"].to_list() == [decimal.Decimal("0.50")]


def test_an_enumeration_that_lacks_what_fills_it_gets_that_of_fit():
    narrow = pl.DataFrame({"e": pl.Series(["lo", None], dtype=pl.Enum(["lo", "hi"]))})
    states = ["lo", "hi", "mid"]
    for value, want in (("mid", states), ("hi", ["lo", "hi"])):
        filled = frames.like(narrow, pd.DataFrame({"e": pd.Categorical(["lo", value], states)}))
        assert filled["e"].to_list() == ["lo", value] and filled["e"].dtype == pl.Enum(want)


def test_an_ordered_dictionary_of_arrow_keeps_its_order():
    states = ["poor", "fair", "good"]
    chunks = [pyarrow.DictionaryArray.from_arrays(codes, states, ordered=True) for codes in ([0, 2, None], [1])]
    frame = frames.to_pandas(pyarrow.table({"q": pyarrow.chunked_array(chunks)}))
    assert frame["q"].tolist()[:2] == ["poor", "good"] and frame["q"].isna().tolist() == [False, False, True, False]
    assert frame["q"].dtype == pd.CategoricalDtype(states, ordered=True)
    assert [kind.word for kind in Table(frame).kinds] == ["ordinal"]
    filled = frame.assign(q=frame["q"].fillna("fair").to_numpy()[::-1])  # fair comes first
    again = frames.like(pyarrow.table({"q": pyarrow.chunked_array(chunks)}), filled.astype(frame.dtypes))
    assert again["q"].to_pylist() == ["fair", "fair", "good", "poor"] and again.schema.types == [chunks[0].type]
    assert again["q"].chunk(0).dictionary.to_pylist() == states
    other = pyarrow.DictionaryArray.from_arrays([0], ["good"], ordered=True)
    assert frames.to_pandas(pyarrow.table({"q": pyarrow.chunked_array([*chunks, other])}))["q"].dtype.ordered
    for states_of in (["good", "fair"], ["fair", None], ["new"], ["fair", "fair"]):
        wrong = pyarrow.DictionaryArray.from_arrays([0], states_of, ordered=True)
        dtype = frames.to_pandas(pyarrow.table({"q": pyarrow.chunked_array([*chunks, wrong])}))["q"].dtype
        assert not dtype.ordered and list(dtype.categories) == sorted(dtype.categories), states_of
    twice = pyarrow.DictionaryArray.from_arrays([0, 1], ["fair", "fair"], ordered=True)
    assert not frames.to_pandas(pyarrow.table({"q": twice}))["q"].dtype.ordered
    nothing = pyarrow.table({"q": pyarrow.chunked_array([], chunks[0].type)})
    assert len(frames.to_pandas(nothing)) == 0


def test_an_enumeration_tells_its_order():
    """In the order of the alphabet too, which is not told from none in other columns of text."""
    grades = pl.DataFrame({"g": pl.Series(["A", "C", None], dtype=pl.Enum(["A", "B", "C"]))})
    for in_fit in (frames.to_pandas(grades), opening.columns_in_fit(ds.Imputer(kinds={"g": "ordinal"}), grades)[0]):
        table = Table(in_fit, {"g": "ordinal"})
        assert table.codecs[0].labels == ["A", "B", "C"] and table.kinds[0].word == "ordinal"
    assert Table(frames.to_pandas(grades)).kinds[0].word == "categorical"
    with pytest.raises(ValueError, match="'g' is of text"):
        Table(frames.to_pandas(grades.cast(pl.Categorical)).assign(g=pd.Categorical(list("ABC"))), {"g": "ordinal"})
    two = pd.DataFrame({"g": pd.Categorical(["no", "yes"])})
    assert Table(two, {"g": "ordinal"}).kinds[0].word == "binary"


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_a_column_that_shows_nothing_may_be_of_any_type(library):
    """It becomes one of what fills it."""
    fills = {
        "of states": pd.Series(pd.Categorical(["hi", "lo"])), "of numbers": pd.Series([1, 2], dtype="Int64"),
        "of booleans": pd.Series([True, False], dtype="boolean"), "of decimals": pd.Series([0.5, 1.5]),
    }  # fmt: skip
    types = [pl.Enum(["x"]), pl.Decimal(5, 1), pl.Float64, pl.Int64, pl.Boolean, pl.String, pl.Date, pl.Categorical]
    for name, series in fills.items():
        for dtype in types:
            nothing = pl.DataFrame({"a": pl.Series([None, None], dtype=dtype)})
            made = frames.like(nothing if library == "polars" else nothing.to_arrow(), series.to_frame("a"))
            found = [float(one) if not isinstance(one, str) else one for one in pl.DataFrame(made)["a"].to_list()]
            assert found == [float(one) if not isinstance(one, str) else one for one in series], (name, dtype)


def test_an_imputer_of_arrays_gives_an_array_for_a_frame():
    imputer = ds.Imputer("SBN 2", **TINY)
    x = np.array([[1.5, np.nan], [2.0, 1.0], [0.5, 3.0]])
    imputer.columns_ = opening.columns_in_fit(imputer, x)[1]
    _, rows, finish = opening.opened(imputer, pl.DataFrame(x, schema=["a", "b"]))
    assert isinstance(finish(x, np.zeros_like(rows.values)), np.ndarray)


def test_probabilities_of_an_imputer_of_a_frame(monkeypatch):
    native = pl.DataFrame({"bus": [35.5, 20.25], "mode": pl.Series(["bus", "car"], dtype=pl.Categorical)})
    imputer = ds.Imputer("SBN 2", **TINY)
    imputer.columns_ = opening.columns_in_fit(imputer, native)[1]
    monkeypatch.setattr("sklearn.utils.validation._is_fitted", lambda *_, **__: True)
    assert imputer.probabilities(native)["mode"].rows() == [(1.0, 0.0), (0.0, 1.0)]


def test_integers_that_pandas_has_not_are_refused():
    wide = pl.DataFrame({"i": pl.Series([1, None], dtype=pl.Int128)})
    with pytest.raises(ValueError, match="Column 'i' must be of numbers of up to 64 bits. Received: Int128 entries"):
        frames.to_pandas(wide)


@pytest.mark.slow
@pytest.mark.parametrize("native", [FRAME[["i", "c"]], ARROW.select(["i", "c"])], ids=["polars", "arrow"])
def test_an_imputer_gives_what_it_was_given(native):
    imputer = ds.Imputer("SBN 2", **TINY, imputation_options=SHORT)
    filled = imputer.fit_transform(native)
    assert type(filled) is type(native) and types_of(filled) == types_of(native)
    assert list(imputer.feature_names_in_) == ["i", "c"]
    found = [*imputer.impute(native, 2), imputer.sample(3), *imputer.probabilities(native).values()]
    assert all(type(part) is type(native) for part in found)
    assert pickle.loads(pickle.dumps(imputer)).transform(native).equals(filled)
    if isinstance(native, pl.DataFrame):  # of Arrow scikit-learn knows nothing
        assert hasattr(clone(imputer).set_output(transform="pandas").fit_transform(native), "iloc")
    assert np.isfinite(imputer.log_likelihood(native, num_samples=5).value).all()


@pytest.mark.parametrize("values", [[datetime.date(2020, 1, 1), None], ["some", "text"]])
def test_dates_and_free_text_are_refused(values):
    with pytest.raises(ValueError, match="Column 'strange' is of no kind.*Received: object"):
        ds.Imputer(**TINY).fit(pl.DataFrame({"strange": values, "x": [1.0, 2.0]}))


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_a_column_that_shows_nothing_has_the_type_of_fit(library):
    """As of a chunk of a file whose column is empty."""
    types = {"i": pl.Int32, "e": pl.Enum(["lo", "mid", "hi"]), "f": pl.Float32}
    learnt = pl.DataFrame({"i": [7, 8], "e": ["hi", "lo"], "f": [0.5, 1.5]}, schema=types)
    nothing = pl.DataFrame({name: pl.Series([None, None]) for name in types})
    learnt, nothing = (frame if library == "polars" else frame.to_arrow() for frame in (learnt, nothing))
    found = frames.like(nothing, frames.to_pandas(learnt), frames.emptied(learnt))
    assert found.equals(learnt) and found.schema == learnt.schema
