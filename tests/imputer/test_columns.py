"""What happens to the columns of arrays: units, gaps, masks, and columns without an entry."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.arrays import BINARY, NAN, REAL, TINY, tiny
from tfdsmcmc.imputer import learning
from tfdsmcmc.imputer.columns import columns_of
from tfdsmcmc.rows import rows_of
from tfdsmcmc.supports import Binary


@pytest.mark.parametrize("x", [BINARY, REAL], ids=["binary", "real"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_observed_entries_stay_and_gaps_are_filled(x, dtype, unlearnt):
    given, known = x.astype(dtype), ~np.isnan(x)
    imputer = tiny().fit(given)
    for strategy in ("probabilities", "mode", "draw"):
        filled = imputer.set_params(strategy=strategy).transform(given)
        np.testing.assert_array_equal(filled[known], given[known])
        assert np.isfinite(filled).all() and filled.dtype == dtype
        if x is BINARY:
            assert (filled >= 0).all() and (filled <= 1).all()
            assert np.isin(filled, (0, 1)).all() == (strategy != "probabilities")
    if x is REAL:
        others = imputer.set_params(random_state=1).transform(given)
        assert (others != filled)[:, :2][~known[:, :2]].all(), "the same draws under another random_state"
        assert (filled[:, 2] == 7).all() and (others[:, 2] == 7).all()  # as is all that is observed there
    np.testing.assert_array_equal(given, x.astype(dtype))


def test_columns_are_standardised_and_restored():
    """Means and standard deviations of what is observed, against NumPy's of each column by itself; a constant column
    keeps its unit."""
    columns = columns_of(REAL)
    for j in range(3):
        values = REAL[~np.isnan(REAL[:, j]), j]
        np.testing.assert_allclose([columns.mean[j], columns.scale[j]], [values.mean(), values.std() or 1.0])
    rows = columns.standardised(REAL)
    np.testing.assert_array_equal(rows.observed, ~np.isnan(REAL))
    np.testing.assert_allclose(columns.restored(rows.with_nan()), REAL, rtol=1e-6)
    complete = np.nan_to_num(REAL)
    np.testing.assert_allclose(columns.restored(columns.standardised(complete).with_nan()), complete, atol=1e-4)
    with pytest.raises(ValueError, match="^X must be finite in float32. Received: 1 entries"):
        columns.standardised(np.array([[1e300, NAN, 0.0]]))
    constant = columns_of(np.array([[0.1, 1e9], [0.1, 1e9], [0.1, NAN]]))
    assert constant.scale.tolist() == [1, 1] and not constant.binary
    gaps = np.full((2, 2), NAN)
    np.testing.assert_array_equal(constant.filled(gaps, np.array([[1.0, -3.0], [2.0, 5.0]]), False), [[0.1, 1e9]] * 2)
    for unit in (1e-320, 1e-200, 1e200, 1e307):  # squares that are 0 or overflow
        x = unit * np.array([[1.0], [3.0], [8.0]])
        columns = columns_of(x)
        np.testing.assert_allclose([columns.mean[0] / unit, columns.scale[0] / unit], [4, np.std([1, 3, 8])], rtol=1e-3)
        np.testing.assert_allclose(columns.standardised(x).values.ravel().std(), 1, rtol=1e-3)
    largest = np.array([[1.7e308], [-1.7e308], [1.7e308]])
    with pytest.raises(ValueError, match="^X must be finite in float32. Received: "):
        columns_of(largest).standardised(largest)


def test_rows_far_from_those_of_the_fit_are_not_filled_with_nan():
    """Observed entries of 1e30 standard deviations, whose squares overflow in the networks."""
    imputer = tiny("VAE 2").fit(REAL)
    far = [[1e30, NAN, 7.0], [1.0, NAN, 7.0]]
    with pytest.raises(ValueError, match="not finite.*Received: 1 of 2 rows with gaps"):
        imputer.transform(far)
    assert np.isfinite(imputer.transform(far[1:])).all()


def test_first_weights():
    """The binary data layer starts at the log-odds of the columns, with half a one and half a zero added."""
    model = learning.build(rows_of("x", BINARY, 3, Binary()), True, "SBN 2", 2, 0)
    np.testing.assert_allclose(model.generative.layers[-1].bias, np.log([2.5 / 2.5, 2.5 / 1.5, 2.5 / 1.5]), atol=1e-6)


def test_empty_columns(unlearnt):
    """Left out with a warning, or kept and filled with 0; a model of the others alone."""
    x = np.insert(REAL, 1, NAN, axis=1)
    with pytest.warns(UserWarning, match=r"left out.*\[1\]"):
        imputer = tiny().fit(x)
    new = np.array([[NAN, 5.0, 120.0, 7.0]])
    assert imputer.transform(new).shape == (1, 3)
    assert list(imputer.get_feature_names_out()) == ["x0", "x2", "x3"]
    keeping = tiny(keep_empty_features=True).fit(x)
    np.testing.assert_array_equal(keeping.transform(new)[:, [0, 2, 3]], imputer.transform(new))
    np.testing.assert_array_equal(keeping.transform(x)[:, 1], np.zeros(5))
    assert keeping.transform(new)[0, 1] == 5.0 and len(keeping.get_feature_names_out()) == 4
    with pytest.raises(ValueError, match="Received: X with 4 missing entries of 4"):
        tiny().fit(np.full((2, 2), NAN))


def test_a_mask_counts_as_gaps():
    """Of whole numbers too, in fit and in transform: what stands under the mask is never seen."""
    x = np.random.default_rng(0).integers(0, 2, (40, 3))
    hidden = np.random.default_rng(1).random(x.shape) < 0.2
    options = {"architecture": "SBN 2", **TINY, "updates": 2}
    expected = ds.Imputer(**options).fit_transform(np.where(hidden, np.nan, x).astype(np.float64))
    for under in (0, 1, 7):
        masked = np.ma.masked_array(np.where(hidden, under, x), mask=hidden)
        found = ds.Imputer(**options).fit_transform(masked)
        assert not isinstance(found, np.ma.MaskedArray)
        np.testing.assert_array_equal(found, expected)
