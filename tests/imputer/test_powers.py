"""The power that makes a column symmetric, against SciPy's likelihood, and a table with such a column."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import tfdsmcmc as ds
from tfdsmcmc.imputer.codecs import Numbers
from tfdsmcmc.imputer.kinds_of_columns import word_of
from tfdsmcmc.imputer.learning import data_layer_of
from tfdsmcmc.imputer.powers import transform_of
from tfdsmcmc.imputer.table import Table

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
AMOUNTS, GAMMA = RNG.lognormal(7, 1, 300), RNG.gamma(2.0, 3.0, 300)


def likelihood(values, transform):
    """Nats a value by SciPy, in the units of the column."""
    y = (values - transform.centre) / transform.unit
    return scipy.stats.yeojohnson_llf(transform.power, y) / len(y) - np.log(transform.unit)


@pytest.mark.parametrize(("values", "power"), [(AMOUNTS, 0.0), (-AMOUNTS, 2.0), (GAMMA, 0.5), (9 - GAMMA, 1.5)])
def test_the_power_is_that_of_the_largest_likelihood(values, power):
    found = transform_of(values)
    assert found.power == power and found.centre == np.median(values)
    best = likelihood(values, found)
    np.testing.assert_allclose(found.gain, best + np.log(values.std()), atol=1e-4)
    for other in (0.0, 0.5, 1.0, 1.5, 2.0):
        assert likelihood(values, found._replace(power=other)) <= best + 1e-5
    for factor in (0.25, 0.5, 2.0, 4.0):
        other = found._replace(unit=factor * found.unit)
        size = scipy.stats.yeojohnson((values - other.centre) / other.unit, power).std()
        assert likelihood(values, other) <= best + 1e-5 or not 0.3 < size < 3
    moved = transform_of(40 * values - 3)
    np.testing.assert_allclose(moved, [power, 40 * found.centre - 3, 40 * found.unit, found.gain], atol=1e-3)
    for size in (1e-200, 1e200):  # whose squares float64 does not have
        want = [power, size * found.centre, size * found.unit, found.gain]
        np.testing.assert_allclose(transform_of(size * values), want, rtol=1e-5)


HALF = RNG.normal(0, 1, 500)
SPIKED = np.append(RNG.normal(0, 1e-9, 800), AMOUNTS[:200])


@pytest.mark.parametrize("values", [np.r_[HALF, -HALF], np.tan(np.linspace(-1.57, 1.57, 999)), SPIKED, [0.0, 3.0]])
def test_columns_that_no_power_makes_better_stay_as_they_are(values):
    """Symmetric ones, ones of heavy tails on both sides, ones whose quartiles tell nothing: they are real columns."""
    values = np.array(values)
    np.testing.assert_allclose(transform_of(values)[::3], [1.0, 0.0])
    codec = Numbers("x", pandas.Series(values), "skewed")
    assert codec.kind == ds.columns.Real()
    np.testing.assert_allclose([codec.mean, codec.scale], [values.mean(), values.std()], atol=1e-9)


def test_long_columns_are_looked_at_by_quantiles():
    values = np.sort(RNG.lognormal(7, 1, 50_000))
    few, many = transform_of(values[12::25]), transform_of(RNG.permutation(values))
    assert few.power == many.power == 0.0
    np.testing.assert_allclose(few[1:], many[1:], rtol=0.01)
    assert np.isfinite(transform_of(np.append(np.zeros(9999), 5.0))).all()


def test_a_table_with_a_skewed_column():
    """What is encoded comes back; no draw is far beyond the range; densities are in the column's units."""
    frame = pandas.DataFrame({"income": AMOUNTS, "age": RNG.normal(40, 9, 300), "one": 3.5}).astype({"one": float})
    frame.loc[::7, "income"] = np.nan
    table = Table(frame, {"income": "skewed", "one": "skewed"})
    assert [kind.word for kind in table.kinds] == ["skewed", "real", "real"] and table.mixed
    layer = data_layer_of(table.kinds, table.standardised(frame), [], dependent=True)
    assert layer.columns == [kind.of_same_scale() for kind in table.kinds] != table.kinds
    assert all(kind.get_config()["same_scale"] for kind in layer.columns)
    codec = table.codecs[0]
    entries = codec.encode(frame["income"])
    np.testing.assert_allclose(codec.decode(entries)[1:7], AMOUNTS[1:7], rtol=1e-6)
    seen = frame["income"].dropna()
    far = codec.decode(np.array([[-1e9], [1e9]]))
    np.testing.assert_allclose(far, [2 * seen.min() - seen.max(), 2 * seen.max() - seen.min()])
    kind, (own, common) = table.kinds[0], table.kinds[0].fitted(entries[1:7])
    log_p = kind.log_prob(np.float32(entries[1:7, None]), own[None], common[None])[:, 0]
    log_p -= codec.log_scale(np.ones(6, bool))
    t = scipy.stats.yeojohnson(entries[1:7, 0], kind.power)
    deviation = 0.01 + 5 * scipy.special.expit(own[1] - np.log(5))
    jacobian = (kind.power - 1) * np.sign(entries[1:7, 0]) * np.log1p(abs(entries[1:7, 0])) - np.log(codec.scale)
    np.testing.assert_allclose(log_p, scipy.stats.norm.logpdf(t, own[0], deviation) + jacobian, rtol=1e-4)


@pytest.mark.slow
def test_an_imputer_fills_a_skewed_column():
    frame = pandas.DataFrame({"income": AMOUNTS[:60], "age": np.log(AMOUNTS[:60]) + RNG.normal(0, 0.3, 60)})
    gaps = frame.copy()
    gaps.loc[::5, "income"] = np.nan
    options = {"updates": 2, "posterior_samples": 1, "jit_compile": False, "random_state": 0}
    few = {"burn_in": 1, "num_samples": 2}
    imputer = ds.Imputer(kinds={"income": "skewed"}, imputation_options=few, **options).fit(gaps)
    assert imputer.columns_.kinds[0].power == 0.0
    assert not imputer.transform(gaps).isna().any(axis=None)
    frames = imputer.impute(gaps, num_imputations=2)
    assert (frames[0]["income"] != frames[1]["income"])[::5].all()


def test_infinite_entries_are_refused():
    with pytest.raises(ValueError, match="Column 'x' must be finite.*Received: "):
        Table(pandas.DataFrame({"x": [1.0, 2.0, np.inf]}), {"x": "skewed"}).standardised(
            pandas.DataFrame({"x": [1.0, 2.0, np.inf]})
        )


def test_what_is_not_of_numbers_is_not_skewed():
    with pytest.raises(ValueError, match="is to be of numbers.*Received: kind 'skewed'"):
        word_of("name", pandas.Series(["a", "b"]), "skewed")
