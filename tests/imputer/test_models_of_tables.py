"""What learns from a table: the data layer, the estimator, several imputations and new rows."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import tfdsmcmc as ds
from tests.imputer.tables import FRAME, pandas, tiny


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
