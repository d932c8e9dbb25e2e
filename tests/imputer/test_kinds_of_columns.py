"""Kinds of columns: they follow from types and values, or are said."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.tables import COLUMNS, FRAME, WORDS, pandas, tiny
from tfdsmcmc.imputer.kinds_of_columns import word_of
from tfdsmcmc.imputer.table import Table


def test_kinds_follow_from_types():
    assert {name: word_of(name, series) for name, series in COLUMNS.items()} == WORDS
    kinds = Table(FRAME).kinds
    assert [kind.word for kind in kinds] == list(WORDS.values())
    assert kinds[2] == ds.columns.Categorical(3) and kinds[3] == ds.columns.Ordinal(3)
    largest = np.nanmax(FRAME.iloc[:, 5].to_numpy(float, na_value=np.nan))
    limit = 2.0 ** round(np.log2(2 * largest))  # beyond which means grow slowly
    assert kinds[5] == ds.columns.Count(typical=2.0, offset=2.0, limit=limit)


@pytest.mark.parametrize(
    "series",
    [
        pandas.Series(["a", "b", None]),
        pandas.Series(["a", 1, None], dtype=object),
        pandas.to_datetime(pandas.Series(["2020-01-01", None])),
        pandas.to_timedelta(pandas.Series([1, 2])),
        pandas.Series([1 + 2j, 3]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_columns_of_no_kind_are_named(series):
    frame = pandas.DataFrame({"fine": np.arange(len(series)), "strange": series})
    with pytest.raises(ValueError, match="Column 'strange' is of no kind.*Received: "):
        tiny().fit(frame)


def test_kinds_may_be_said():
    """Likert items, text, codes, numbers that are few."""
    frame = pandas.DataFrame(
        {"item": [1, 3, 2, 5], "text": ["b", "a", None, "c"], "code": [1.0, 2.0, np.nan, 1.0], "n": [3, 4, 5, 4]}
    )
    words = {"item": "ordinal", "text": "categorical", "code": "binary", "n": "count"}
    table = Table(frame, words)
    assert [codec.labels for codec in table.codecs[:3]] == [[1, 2, 3, 5], ["a", "b", "c"], [1.0, 2.0]]
    assert [kind.word for kind in table.kinds] == list(words.values())
    rows = table.standardised(frame)
    filled = table.filled(frame, np.eye(rows.values.shape[1])[[0, 1, 2, 3]], False)
    assert filled.dtypes.equals(frame.dtypes) and not filled.isna().any(axis=None)
    assert Table(frame[["item"]], {"item": "real"}).kinds == [ds.columns.Real()]


def test_integers_that_pandas_has_read_with_gaps():
    """They are floats: counts where integers would be, and completed by whole numbers."""
    visits = [0, 7, None, 1, 4, 0, 12, 3]
    frame = pandas.DataFrame({"visits": visits, "whole": [3.0, 7.0, 1.0, 0.0, 9.0, 2.0, 3.0, 4.0], "half": visits})
    frame["half"] += 0.5
    assert {name: word_of(name, frame[name]) for name in frame} == {"visits": "count", "whole": "real", "half": "real"}
    table = Table(frame[["visits"]])
    filled = table.filled(frame[["visits"]], np.arange(8.0)[:, None], True)
    assert filled["visits"].dtype == np.float64 and filled["visits"].tolist() == [0, 7, 2, 1, 4, 0, 12, 3]


def test_text_has_no_order_of_its_own():
    frame = pandas.DataFrame({"health": ["poor", "good", None, "fair"]})
    with pytest.raises(ValueError, match="'health' is of text.*ordered=True.*Received: kind 'ordinal'"):
        Table(frame, {"health": "ordinal"})
    order = pandas.Categorical(frame["health"], ["poor", "fair", "good"], ordered=True)
    assert Table(frame.assign(health=order)).codecs[0].labels == ["poor", "fair", "good"]
    by_the_alphabet = frame.astype({"health": "category"})
    with pytest.raises(ValueError, match="'health' is of text.*Enum of Polars. Received: kind 'ordinal' for category"):
        Table(by_the_alphabet, {"health": "ordinal"})
    assert Table(by_the_alphabet).codecs[0].kind.word == "categorical"
    told = pandas.Categorical(frame["health"], ["poor", "fair", "good"])
    assert Table(frame.assign(health=told), {"health": "ordinal"}).codecs[0].labels == ["poor", "fair", "good"]
    codes = pandas.DataFrame({"code": [3, 1, 2]}).astype("category")
    assert Table(codes, {"code": "ordinal"}).codecs[0].labels == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"nobody": "real"}, "kinds are of columns of X"),
        ({"weight": "normal"}, "one of"),
        ("count", "dict"),
        ({"colour": "real"}, "'colour' is to be of numbers"),
        ({"smokes": "count"}, "'smokes' is to be of numbers"),
        ({"weight": "count"}, "'weight' is to be of counts"),
        ({"grade": "binary"}, "'grade' is to have two values"),
        ({"visits": "binary"}, "'visits' is to have two values"),
    ],
)
def test_kinds_that_do_not_fit(words, match):
    with pytest.raises(ValueError, match=f"{match}.*Received: "):
        tiny(kinds=words).fit(FRAME)


def test_kinds_are_of_frames():
    with pytest.raises(ValueError, match="kinds are of the columns of a DataFrame.*Received: "):
        tiny(kinds={"x": "real"}).fit(np.eye(3))


def test_amounts_and_where_many_are_zero():
    """Their kind follows from the values; what is filled in is an amount; log-likelihoods are in the column's units."""
    rng = np.random.default_rng(0)
    amounts = (rng.random(60) < 0.7) * rng.lognormal(6, 1, 60)
    assert word_of("spent", pandas.Series(amounts)) == "semicontinuous"
    assert word_of("spent", pandas.Series(amounts + 1)) == word_of("spent", pandas.Series(-amounts)) == "real"
    assert word_of("few", pandas.Series(np.tile([0.0, 1.5, 2.5], 20))) == "real"
    frame = pandas.DataFrame({"spent": np.where(rng.random(60) < 0.2, np.nan, amounts), "age": rng.normal(40, 9, 60)})
    table = Table(frame)
    assert [kind.word for kind in table.kinds] == ["semicontinuous", "real"] and 256 <= table.kinds[0].typical <= 512
    filled = tiny(strategy="draw").fit_transform(frame)
    assert (filled["spent"] >= 0).all() and not filled["spent"].isna().any()
    with pytest.raises(ValueError, match="Column 'spent' had amounts in fit, none of them below 0.*Received: -3"):
        table.standardised(frame.assign(spent=-3.0))
    for values, match in (([-1.0, 2], "of amounts of 0 or more"), ([0.0, 0], "amounts above 0")):
        with pytest.raises(ValueError, match=f"{match}.*Received: "):
            word_of("spent", pandas.Series(values), "semicontinuous")


def test_large_integers_are_no_counts():
    rng = np.random.default_rng(0)
    assert word_of("price", pandas.Series(rng.integers(6_000_000, 16_000_000, 50))) == "real"
    with pytest.raises(ValueError, match="counts from 0 to 1,000,000. Received: "):
        word_of("price", pandas.Series([1, 5_000_000]), "count")
