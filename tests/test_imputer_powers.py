"""The power that makes a column symmetric, against SciPy's likelihood, and a table with such a column."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

import tfdsmcmc as ds
from tfdsmcmc.imputer.powers import transform_of

pandas = pytest.importorskip("pandas")
from tfdsmcmc.imputer.kinds_of_columns import word_of  # noqa: E402
from tfdsmcmc.imputer.table import Table  # noqa: E402

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
    moved = transform_of(40 * values - 3)
    np.testing.assert_allclose(moved, [power, 40 * found.centre - 3, 40 * found.unit, found.gain], atol=1e-3)


def test_symmetric_columns_gain_nothing():
    assert transform_of(RNG.normal(5, 2, 1000)).gain < 0.01
    many = transform_of(np.append(np.zeros(9000), RNG.normal(0, 1, 1000)))  # quartiles agree
    assert np.isfinite(many).all() and many.unit > 0


def test_a_table_with_a_skewed_column():
    """What is encoded comes back; no draw is far beyond the range; densities are in the column's units."""
    frame = pandas.DataFrame({"income": AMOUNTS, "age": RNG.normal(40, 9, 300), "one": 3.5}).astype({"one": float})
    frame.loc[::7, "income"] = np.nan
    table = Table(frame, {"income": "skewed", "one": "skewed"})
    assert [kind.word for kind in table.kinds] == ["skewed", "real", "real"] and table.mixed
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


def test_what_is_not_of_numbers_is_not_skewed():
    with pytest.raises(ValueError, match="is to be of numbers.*Received: kind 'skewed'"):
        word_of("name", pandas.Series(["a", "b"]), "skewed")
