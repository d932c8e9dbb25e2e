"""Integers that are amounts, such as incomes of which many are 0, and those that are counts."""

import warnings

import numpy as np
import pandas
import pytest

import tfdsmcmc as ds
from tfdsmcmc.imputer.kinds_of_columns import _has_zeros_beyond_counts, word_of

RNG = np.random.default_rng(0)
N = 400


def with_zeros(values, share):
    return np.where(np.random.default_rng(1).random(len(values)) < share, 0, values).round()


AMOUNTS = {
    "incomes": with_zeros(RNG.lognormal(10, 0.6, N), 0.3),
    "beyond a million": with_zeros(RNG.lognormal(16, 0.4, N), 0.2),
    "capital gains": with_zeros(RNG.lognormal(8, 1.2, N), 0.9),
    "cigarettes a day": with_zeros(RNG.integers(1, 30, N), 0.7),
}
COUNTS = {
    "Poisson": RNG.poisson(2.0, N),
    "geometric": RNG.geometric(0.1, N) - 1,
    "overdispersed": RNG.negative_binomial(0.4, 0.02, N),
    "far overdispersed": RNG.negative_binomial(0.15, 0.001, N),
    "no zeros": RNG.lognormal(10, 0.6, N).round(),
}


def test_what_is_beyond_counts_and_no_amount():
    """Of integers real, as ever, and of floats with gaps semicontinuous."""
    values = np.random.default_rng(3).negative_binomial(0.3, 1e-6, N)
    assert values.max() > 10**6 and (values == 0).mean() < 0.1
    values[: N // 10] = 0
    assert [word_of("a", series) for series in as_types(values)] == ["real", "real", "semicontinuous"]


def as_types(values):
    """As integers, as integers with gaps, and as floats with gaps."""
    series = pandas.Series(values).astype("Int64")
    gaps = series.mask(np.arange(N) % 7 == 0)
    return pandas.Series(values).astype("int64"), gaps, gaps.astype("float64")


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts(name):
    assert {word_of("a", series) for series in as_types(AMOUNTS[name])} == {"semicontinuous"}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    assert {word_of("a", series) for series in as_types(COUNTS[name])} == {"count"}


def test_the_bound_is_ten_times_the_zeros_of_a_negative_binomial_law():
    """μ = 20, σ² = 100 of the values above 0: r = 5, p₀ = (5/25)⁵ = 0.00032; and e^−μ for one value alone."""
    some = np.repeat([10.0, 30.0], 5000)
    for zeros, beyond in ((31, False), (33, True)):
        assert _has_zeros_beyond_counts(np.concatenate([np.zeros(zeros), some])) == beyond
    assert _has_zeros_beyond_counts(np.array([0.0] * 75 + [5.0] * 1000))  # 10 e^−5 = 0.0674
    assert not _has_zeros_beyond_counts(np.array([0.0] * 70 + [5.0] * 1000))


@pytest.mark.parametrize("dtype", ["Int64", "float64"])
def test_what_is_filled_in_is_whole(dtype):
    income = pandas.Series(AMOUNTS["incomes"]).astype("Int64").mask(np.arange(N) % 5 == 0).astype(dtype)
    frame = pandas.DataFrame({"a": RNG.normal(size=N), "income": income})
    options = {"updates": 40, "posterior_samples": 1, "imputation_options": {"num_samples": 2}, "random_state": 0}
    filled = ds.Imputer(**options).fit_transform(frame)["income"]
    assert filled.dtype == income.dtype and (filled % 1 == 0).all() and (filled[::5] > 0).any()
    broken = frame.assign(income=frame["income"].astype("float64") + 0.5 * (frame["income"] > 0).fillna(False))
    filled = ds.Imputer(**options).fit_transform(broken)["income"]
    assert (filled % 1 != 0)[::5].any()


@pytest.mark.slow
@pytest.mark.compiled
def test_draws_are_amounts():
    """A law of counts put half of the draws between 0 and the least of the amounts."""
    gaps = np.random.default_rng(2).random(N) < 0.3
    income = pandas.Series(AMOUNTS["incomes"]).astype("Int64")
    frame = pandas.DataFrame({"a": RNG.normal(size=N), "income": income.mask(gaps)})
    imputer = ds.Imputer(updates=1500, posterior_samples=5, random_state=0).fit(frame)
    assert imputer.columns_.kinds[1].word == "semicontinuous"
    drawn = [imputed["income"] for imputed in imputer.impute(frame, 10)]
    assert {str(column.dtype) for column in drawn} == {"Int64"}
    drawn, hidden = (np.concatenate(columns) for columns in (
        [column.to_numpy(float)[gaps] for column in drawn], [income.to_numpy(float)[gaps]]))  # fmt: skip
    assert abs((drawn == 0).mean() - (hidden == 0).mean()) < 0.1
    assert ((drawn > 0) & (drawn < 4000)).mean() < 0.05
    assert drawn.std() < 2.5 * hidden.std()


def test_categories_of_text_and_numbers():
    """The order of categories means nothing, so that any will do; of ordinal states it does."""
    codes = pandas.Series([1, "a", 2, "NA?"] * 10, dtype=object)
    frame = pandas.DataFrame({"x": np.arange(40.0), "code": codes.mask(np.arange(40) == 3)})
    options = {"updates": 40, "posterior_samples": 1, "random_state": 0, "imputation_options": {"num_samples": 2}}
    imputer = ds.Imputer(kinds={"code": "categorical"}, **options).fit(frame)
    filled = imputer.transform(frame)["code"]
    assert filled[3] in (1, "a", 2, "NA?") and filled.drop(3).tolist() == codes.drop(3).tolist()
    with pytest.raises(ValueError, match="does not tell its order.* Received: "):
        ds.Imputer(kinds={"code": "ordinal"}, **options).fit(frame)


def test_what_is_no_column_of_numbers():
    frame = pandas.DataFrame({"x": np.arange(40.0), "y": np.arange(40.0)})
    with warnings.catch_warnings(), pytest.raises(ValueError, match="'y' must be finite. Received: an infinite entry"):
        warnings.simplefilter("error")
        ds.Imputer().fit(frame.assign(y=np.inf))
    with pytest.raises(ValueError, match=r"must be dense: series.sparse.to_dense\(\). Received: Sparse"):
        ds.Imputer().fit(frame.assign(y=frame.y.astype(pandas.SparseDtype("float64", np.nan))))
    with pytest.raises(ValueError, match="Received: object entries of int, str$"):
        ds.Imputer().fit(frame.assign(y=pandas.Series([1, "a"] * 20, dtype=object)))


def test_a_table_without_rows_is_named():
    frame = pandas.DataFrame({"x": np.arange(40.0), "y": np.arange(40) % 2 > 0})
    imputer = ds.Imputer(updates=2, posterior_samples=0, jit_compile=False, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="^X must have at least one row. Received: a DataFrame without rows$"):
        imputer.transform(frame.iloc[:0])
