"""The imputer and DataFrames: kinds of columns, types that stay, several imputations, against exact answers."""

import pickle

import numpy as np
import pytest
import tensorflow as tf
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means, assert_near
from tests.oracles import log_sum, randomize
from tfdsmcmc.imputer.kinds_of_columns import word_of
from tfdsmcmc.imputer.table import Table

pandas = pytest.importorskip("pandas")

SHORT = {"method": "resampling", "num_samples": 4}
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


@pytest.fixture(scope="module")
def fitted():
    """An imputer of all columns; tests leave it as it is."""
    return tiny().fit(FRAME)


# ---- kinds of columns


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


# ---- types, categories, index


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


@pytest.mark.slow
def test_frames_of_one_kind_are_learnt_from_as_arrays():
    """All binary: the data layer of arrays of zeros and ones. All real: the same model and imputations as of the array,
    whether a frame or an array is filled."""
    binary = tiny(architecture="SBN 2").fit(FRAME[["smokes", "sex", "told"]])
    assert type(binary.model_.generative.layers[-1]) is ds.layers.SBN
    x = FRAME[["weight", "height"]].astype("float64")
    frame, array = tiny().fit(x), tiny().fit(x.to_numpy())
    of_frame, of_array = (one.model_.generative.layers[-1] for one in (frame, array))
    assert type(of_frame) is type(of_array) and of_frame.support == of_array.support
    want = array.transform(x.to_numpy())
    np.testing.assert_allclose(frame.transform(x), want, rtol=1e-6)
    found = frame.transform(x.to_numpy())
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, want, rtol=1e-6)
    assert type(array.transform(x)) is np.ndarray


def test_the_data_layer_starts_at_the_laws_of_the_columns(fitted):
    model = ds.imputer.learning.build(fitted.columns_.standardised(FRAME), False, "VAE 2", 2, 0, fitted.columns_.kinds)
    layer = model.generative.layers[-1]
    assert layer.hidden_units == [2] and type(layer) is ds.layers.Mixed
    law = ds.columns.IndependentColumns(layer.layout, layer._output[1].value, layer.shared())
    mean = fitted.columns_.probabilities(FRAME[:1], law.mean().numpy()[None])
    np.testing.assert_allclose(mean["grade"].iloc[0], [1.5 / 5.5, 2.5 / 5.5, 1.5 / 5.5], rtol=1e-4)
    np.testing.assert_allclose(mean["smokes"].iloc[0], [0.5, 0.5], rtol=1e-4)
    linear = ds.imputer.learning.build(fitted.columns_.standardised(FRAME), False, "SBN 2", 2, 0, fitted.columns_.kinds)
    assert linear.generative.layers[-1].hidden_units == []


# ---- scikit-learn


def test_it_is_an_estimator(fitted):
    """Kept by pickle, cloned, in pipelines, with `set_output`."""
    want = fitted.transform(FRAME[:2])
    pandas.testing.assert_frame_equal(pickle.loads(pickle.dumps(fitted)).transform(FRAME[:2]), want)
    copy = clone(tiny(kinds={"visits": "real"}))
    assert copy.get_params()["kinds"] == {"visits": "real"}
    numbers = FRAME[["weight", "height", "flag"]]
    pipeline = make_pipeline(tiny(), LinearRegression()).fit(numbers, np.arange(5))
    assert pipeline.predict(numbers).shape == (5,)
    again = clone(pipeline[0]).set_output(transform="pandas").fit_transform(numbers)
    pandas.testing.assert_frame_equal(again, pipeline[0].transform(numbers))
    assert list(fitted.get_feature_names_out()) == list(FRAME)


# ---- several imputations, probabilities, new rows


def test_several_imputations(fitted):
    fitted = pickle.loads(pickle.dumps(fitted)).set_params(
        imputation_options={"burn_in": 0, "num_samples": 1, "thinning": 1}
    )
    frames = fitted.impute(FRAME, num_imputations=4)
    assert len(frames) == 4 and all(frame.dtypes.equals(FRAME.dtypes) for frame in frames)
    assert len({frame["weight"].iloc[1] for frame in frames}) == 4
    for one, other in zip(frames, fitted.impute(FRAME, 4)):
        pandas.testing.assert_frame_equal(one, other)
    whole = frames[0]
    pandas.testing.assert_frame_equal(fitted.impute(whole, 2)[1], whole)
    with pytest.raises(ValueError, match="num_imputations.*Received: "):
        fitted.impute(FRAME, 0)


@pytest.mark.slow
def test_each_imputation_has_weights_of_its_own(monkeypatch):
    """m imputations of M samples: from a random sample on each is M/m further, for all rows; a sample serves as few as
    can be, and every one is the first under some seed (of 40, false failures 1e-4)."""
    imputer = tiny(updates=8, posterior_samples=4).fit(FRAME[["weight", "height", "flag"]])
    asked, impute = [], ds.imputation.impute

    def told(model, x, mask, count, seed, posterior, **options):
        asked.append((count, [next(i for i, s in enumerate(imputer.posterior_.samples) if s is posterior.samples[0])]))
        return impute(model, x, mask, count, seed, posterior=posterior, **options)

    monkeypatch.setattr(ds.imputation, "impute", told)
    every = {4: [(1, [i]) for i in range(4)], 6: [(2, [i]) for i in range(4)]}
    for count, want in every.items():
        asked.clear()
        assert len(imputer.impute(FRAME[["weight", "height", "flag"]], count)) == count
        assert asked == want
    asked.clear()
    assert len(imputer.impute(FRAME[["weight", "height", "flag"]], 2)) == 2
    assert asked in ([(1, [0]), (1, [2])], [(1, [1]), (1, [3])])
    asked.clear()
    for seed in range(40):
        imputer.set_params(random_state=seed).impute(FRAME[["weight", "height", "flag"]], 1)
    assert {places[0] for _, places in asked} == {0, 1, 2, 3}


def test_arrays_too():
    x = np.array([[1.5, 100.0, np.nan], [0.1, np.nan, 7.0], [-2.0, 140.0, 7.5]])
    options = {"burn_in": 1, "num_samples": 1, "thinning": 1}
    imputer = tiny(architecture="SBN 2", imputation_options=options).fit(x)
    first, second = imputer.impute(x, 2)
    assert (np.isnan(x) == (first != second)).all()
    assert imputer.sample(5).shape == (5, 3)
    with pytest.raises(ValueError, match="Received: an imputer fitted to an array"):
        imputer.probabilities(x)
    scale = imputer.columns_.scale
    found = imputer.log_likelihood(x, num_samples=5).value
    rows = imputer.columns_.standardised(x)
    want = imputer.posterior_.log_likelihood(imputer.model_, rows, 5, 0).value
    np.testing.assert_allclose(found, want - (~np.isnan(x) * np.log(scale)).sum(1), rtol=1e-5)


def test_new_rows(fitted):
    rows = fitted.sample(50)
    assert rows.dtypes.equals(FRAME.dtypes) and not rows.isna().any(axis=None)
    assert set(rows["colour"]) <= set("bgr") and (rows["visits"] >= 0).all()
    pandas.testing.assert_frame_equal(rows, fitted.sample(50))
    assert not rows.equals(fitted.sample(50, seed=1))


FINITE = pandas.DataFrame(
    {
        "grade": pandas.Categorical(["low", "mid", "high", "mid"], LEVELS.categories, ordered=True),
        "colour": pandas.Categorical(list("rgbr")),
        "smokes": [True, False, True, True],
    }
)


def test_against_enumeration():
    """At given weights, of a column of each finite kind: the probabilities by z-test, draws and several imputations by
    chi-square, log-likelihoods in the units of the columns; false failures at most 1e-6 each."""
    options = {"burn_in": 15, "thinning": 1, "num_samples": 1, "num_chains": 1, "batch_size": 2**11}
    imputer = tiny(architecture="SBN 2", posterior_samples=0, imputation_options=options).fit(FINITE)
    randomize(imputer.model_, seed=3)
    prior, data = imputer.model_.generative.layers
    places = np.indices((3, 3, 2)).reshape(3, -1).T
    states = np.c_[np.eye(3)[places[:, 0]], np.eye(3)[places[:, 1]], places[:, 2]].astype(np.float32)
    z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    joint = prior.log_prob(z, tf.zeros([0])).numpy() + data.log_prob(states[:, None], z).numpy()
    log_p = log_sum(joint.astype(np.float64), 1)
    row = FINITE[:1].assign(grade=pandas.Categorical([None], LEVELS.categories, ordered=True))
    table = pandas.concat([row] * 2**11, ignore_index=True)
    kept = (places[:, 1] == 2) & (places[:, 2] == 1)
    want = np.exp(log_p[kept] - log_sum(log_p[kept]))
    found = imputer.probabilities(table)
    assert list(found["grade"].columns) == ["low", "mid", "high"]
    assert_means(found["grade"].to_numpy(), want)
    np.testing.assert_array_equal(found["smokes"], np.tile([0.0, 1.0], (2**11, 1)))
    drawn = [imputer.set_params(strategy="draw").transform(table), *imputer.impute(table, 2)]
    for frame in drawn:
        assert_frequencies(np.bincount(frame["grade"].cat.codes, minlength=3), want)
        assert (frame["colour"] == "r").all()
    assert (drawn[1]["grade"] != drawn[2]["grade"]).any()
    likelihood = imputer.log_likelihood(row, num_samples=20000)
    np.testing.assert_allclose(likelihood.value, log_sum(log_p[kept]), atol=6 * likelihood.standard_error[0] + 1e-4)


@pytest.mark.slow
def test_log_likelihoods_of_gaps_among_columns_that_depend_on_each_other():
    """Against sums over all rows, by z-tests with the stated errors, false failures at most 1e-6 each; of two posterior
    samples the average."""
    table = FINITE.assign(grade=pandas.Categorical(["low", None, "high", "mid"], LEVELS.categories, ordered=True))
    imputer = tiny(architecture="DARN/SBN 2", updates=4, posterior_samples=2).fit(table)
    imputer.posterior_.samples[1] = imputer.posterior_.samples[1]._replace(
        theta=[weight + 0.5 for weight in imputer.posterior_.samples[1].theta]
    )
    places = np.indices((3, 3, 2)).reshape(3, -1).T
    states = np.c_[np.eye(3)[places[:, 0]], np.eye(3)[places[:, 1]], places[:, 2]].astype(np.float32)
    rows, z = imputer.columns_.standardised(table), [np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)[:, None]]
    terms = []
    for sample in imputer.posterior_.samples:
        for variable, value in zip(imputer.model_.generative.trainable_variables, sample.theta, strict=True):
            variable.assign(value)
        joint = log_sum(imputer.model_.generative.log_joint(states, z).numpy().astype(np.float64))
        agrees = ((states == rows.values[:, None]) | ~rows.observed[:, None]).all(-1)
        terms.append(log_sum(np.where(agrees, joint, -np.inf), 1))
    found = imputer.log_likelihood(table, num_samples=3000)
    assert_near(found.value, log_sum(np.array(terms)) - np.log(2), found.standard_error + 1e-5)
    assert (found.standard_error < 0.1).all() and (found.effective_sample_size > 100).all()


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


def test_large_integers_are_no_counts():
    rng = np.random.default_rng(0)
    assert word_of("price", pandas.Series(rng.integers(6_000_000, 16_000_000, 50))) == "real"
    with pytest.raises(ValueError, match="counts from 0 to 1,000,000. Received: "):
        word_of("price", pandas.Series([1, 5_000_000]), "count")


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


def test_a_fit_that_fails_leaves_what_was_learnt():
    frame = FRAME[["weight", "smokes"]]
    imputer = tiny().fit(frame)
    before = imputer.transform(frame)
    imputer.set_params(architecture="BOGUS 3")
    with pytest.raises(ValueError):
        imputer.fit(frame.assign(weight=frame["weight"] * 1000))
    imputer.set_params(architecture=None)
    with pytest.raises(ValueError):
        imputer.fit(pandas.DataFrame({"other": [1.0, np.inf]}))
    pandas.testing.assert_frame_equal(imputer.transform(frame), before)
    assert list(imputer.get_feature_names_out()) == ["weight", "smokes"] and imputer.n_features_in_ == 2
