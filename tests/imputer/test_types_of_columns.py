"""Frames that are filled: types, categories and index stay, and values are of their columns."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from tests.imputer.tables import FRAME, pandas, tiny
from tfdsmcmc.imputer.table import Table


@pytest.mark.parametrize("strategy", ["probabilities", "mode", "draw"])
def test_a_frame_gives_a_frame(fitted, strategy):
    """Of the same types, categories and index; what is observed stays, what is filled in is of the column's kind."""
    if strategy == "draw":
        filled = clone(fitted).set_params(strategy=strategy).fit_transform(FRAME)
    else:
        filled = pickle.loads(pickle.dumps(fitted)).set_params(strategy=strategy).transform(FRAME)
    assert filled.dtypes.equals(FRAME.dtypes) and filled.index.equals(FRAME.index)
    assert list(filled.columns) == list(FRAME.columns) and not filled.isna().any(axis=None)
    for name in FRAME:
        known = FRAME[name].notna()
        assert (filled[name][known] == FRAME[name][known]).all()
    assert set(filled["told"]) <= {True, False} and (filled["visits"] >= 0).all()
    assert set(filled["yes"]) <= {0.0, 1.0}
    assert FRAME["colour"].isna().sum() == 1, "the frame itself is as it was"


def test_all_that_pandas_takes_for_missing(fitted):
    frame = FRAME.astype(object)
    for nothing in (None, np.nan, pandas.NA):
        other = frame.where(FRAME.notna(), nothing)
        for name in ("colour", "sex", "grade", "told"):
            rows = fitted.columns_.standardised(FRAME.assign(**{name: other[name]}))
            np.testing.assert_array_equal(rows.observed, fitted.columns_.standardised(FRAME).observed)


def test_names_that_are_not_unique_are_refused_after_fit_too(fitted):
    with pytest.raises(ValueError, match="have different names. Received: .*'colour'.*'colour'"):
        fitted.transform(pandas.concat([FRAME, FRAME[["colour"]]], axis=1))


@pytest.mark.parametrize("given", [FRAME.to_numpy(), FRAME.iloc[3], np.zeros(FRAME.shape)])
def test_an_array_is_refused_where_columns_of_fit_hold_text(fitted, given):
    with pytest.raises(ValueError, match="X must be a DataFrame, as in fit: .*hold no numbers. Received: an array"):
        fitted.transform(given)


def test_values_that_were_not_there_in_fit(fitted):
    more = FRAME.assign(colour=FRAME["colour"].cat.add_categories(["violet"]))
    assert fitted.transform(more)["colour"].dtype == FRAME["colour"].dtype
    more.loc["t", "colour"] = "violet"
    with pytest.raises(ValueError, match="Column 'colour' had the values .*Received: 'violet'"):
        fitted.transform(more)
    with pytest.raises(ValueError, match="Column 'flag' had the values .*Received: "):
        fitted.transform(FRAME.assign(flag=3))
    with pytest.raises(ValueError, match="Column 'visits' had counts.*Received: -1"):
        fitted.transform(FRAME.assign(visits=[-1, 2, 3, 4, 5]))
    with pytest.raises(ValueError, match="Column 'weight' must be finite.*Received: "):
        fitted.transform(FRAME.assign(weight=np.inf))
    with pytest.raises(ValueError, match="Column 'weight' had numbers.*Received: "):
        fitted.transform(FRAME.assign(weight="heavy"))
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(FRAME[list(FRAME)[::-1]])
    assert fitted.transform(FRAME.assign(visits=FRAME["visits"].astype(float)))["visits"].dtype == float


def test_empty_and_constant_columns():
    """Nothing observed: left out with a warning, or kept. One category: filled with it. No model of either."""
    frame = FRAME[["sex", "weight"]].assign(
        none=pandas.Series([None] * 5, dtype="boolean", index=FRAME.index),
        nought=np.nan,
        one=pandas.Categorical(["a", None, "a", "a", None]),
        same=pandas.Series([7, 7, None, 7, 7], dtype="Int64", index=FRAME.index),
    )
    with pytest.warns(UserWarning, match=r"left out of the result: \['none', 'nought'\]"):
        imputer = tiny().fit(frame)
    filled = imputer.transform(frame)
    assert list(filled) == list(imputer.get_feature_names_out()) == ["sex", "weight", "one", "same"]
    assert set(filled["one"]) == {"a"} and filled["one"].dtype == frame["one"].dtype
    assert imputer.model_.units == 3 and not filled.isna().any(axis=None)
    kept = tiny(keep_empty_features=True).fit(frame).transform(frame)
    assert list(kept) == list(frame) and (kept["nought"] == 0).all() and kept["none"].isna().all()
    for empty in (frame[["none", "nought"]], frame[["one"]], FRAME[:0]):
        with pytest.raises(ValueError, match="(At least one|at least one row).*Received: "):
            tiny().fit(empty)
    with pytest.raises(ValueError, match="different names.*Received: "):
        tiny().fit(pandas.concat([FRAME, FRAME], axis=1))


def test_whole_numbers_are_rounded_and_kept_in_range():
    frame = pandas.DataFrame({"y": pandas.array([250, 251, 255, None], dtype="UInt8"), "b": [True, False, True, True]})
    table = Table(frame)
    assert [kind.word for kind in table.kinds] == ["real", "binary"]
    filled = table.filled(frame, np.array([[0, 1], [0, 1], [0, 1], [50.0, 1]]), False)
    assert filled["y"].tolist() == [250, 251, 255, 255] and filled["y"].dtype == "UInt8"
    filled = table.filled(frame, np.array([[0, 1], [0, 1], [0, 1], [0.2, 1]]), False)
    assert filled["y"].tolist()[3] == round(252 + 0.2 * np.std([250, 251, 255]))


def test_integers_that_come_with_gaps_are_rounded():
    """pandas has such columns as floats, and their types are those of `fit` no more."""
    table = Table(pandas.DataFrame({"i": [1, 2, 3, 2, 1], "q": [0.5, 1.5, 2.5, 1.0, 0.0]}))
    gaps = pandas.DataFrame({"i": [1, np.nan, 3, 2, 1], "q": [0.5, 1.5, 2.5, 1.0, 0.0]})
    rows = table.standardised(gaps)
    filled = table.filled(gaps, np.full_like(rows.values, 0.3), False)
    assert filled["i"].tolist() == [1, 2, 3, 2, 1] and filled["i"].dtype == np.float64


@pytest.mark.parametrize(
    "values",
    [
        pandas.date_range("2020-01-01", periods=3),
        ["1", "2", "3"],
        [True, False, True],
        pandas.Categorical([1, 2, 3]),
        pandas.arrays.SparseArray([1.0, 2.0, 3.0]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_numbers_in_fit_are_numbers_afterwards(values):
    table = Table(pandas.DataFrame({"a": [0.1, 0.7, -1.0], "b": [2.0, 1.0, 4.0]}))
    with pytest.raises(ValueError, match="Column 'a' had numbers in fit. Received: "):
        table.standardised(pandas.DataFrame({"a": values, "b": [1.0, 2.0, 3.0]}))


def test_a_constant_column_is_filled_with_its_value():
    table = Table(pandas.DataFrame({"a": [1e-6, 1e-6, np.nan], "b": [2.0, 1.0, 4.0]}))
    gaps = pandas.DataFrame({"a": [np.nan, 1e-6, 1e-6], "b": [2.0, 1.0, 4.0]})
    assert table.filled(gaps, np.ones((3, 2), np.float32), False)["a"].tolist() == [1e-6] * 3


@pytest.mark.parametrize("word", ["real", "skewed", "semicontinuous", "count"])
def test_whatever_the_kind_of_a_constant_column(word):
    frame = pandas.DataFrame({"a": [7.0, 7.0, np.nan], "b": [2.0, 1.0, 4.0]})
    table = Table(frame, {"a": word})
    drawn = np.full((3, 2), 2.5, np.float32)
    assert table.filled(frame, drawn, False)["a"].tolist() == [7.0] * 3
