"""The imputer by the conventions of scikit-learn."""

import pickle

import joblib
import keras
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tfdsmcmc as ds
from tests.imputer.arrays import BINARY, REAL, TINY, tiny
from tfdsmcmc.model import DeepGenerativeModel

# the conventions that depend on what is learnt; the others are about the handling of arguments and arrays
OF_LEARNING = ("check_fit_idempotent", "check_estimators_pickle", "check_estimators_fit_returns_self")


@parametrize_with_checks([ds.Imputer("VAE 2", **TINY)])
def test_conventions(estimator, check, request):
    """All checks of scikit-learn, none excepted; where they are not about learning, at the first weights."""
    if getattr(check, "func", check).__name__ not in OF_LEARNING:
        request.getfixturevalue("unlearnt")
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([ds.Imputer("VAE 2", **{**TINY, "updates": 4, "posterior_samples": 2})])
def test_conventions_with_learning(estimator, check):
    check(estimator)


@pytest.mark.parametrize("x", [BINARY, REAL], ids=["binary", "real"])
def test_a_fitted_imputer_is_kept(x, tmp_path):
    """Pickled, stored by joblib: the same imputations, from the weights, the samples and the columns. A clone is
    unfitted."""
    imputer = tiny(updates=2, posterior_samples=1, strategy="draw").fit(x)
    expected = imputer.transform(x)
    joblib.dump(imputer, tmp_path / "imputer")
    for kept in (pickle.loads(pickle.dumps(imputer)), joblib.load(tmp_path / "imputer")):
        np.testing.assert_array_equal(kept.transform(x), expected)
        np.testing.assert_array_equal(kept.model_.get_weights()[0], imputer.model_.get_weights()[0])
    with pytest.raises(NotFittedError):
        clone(imputer).transform(x)


def test_the_seed_decides():
    """The same seed gives the same weights and imputations, whatever else was drawn; the next one gives others."""
    state = np.random.RandomState(3)
    first, again, other = (tiny(random_state=seed).fit(REAL) for seed in (3, state, state))
    for pair in zip(first.model_.get_weights(), again.model_.get_weights()):
        np.testing.assert_array_equal(*pair)
    assert first.seed_ == again.seed_ != other.seed_
    filled = [i.set_params(random_state=None).transform(REAL) for i in (first, again, other)]
    np.testing.assert_array_equal(filled[0], filled[1])
    assert (filled[0] != filled[2])[np.isnan(REAL)].tolist() == [
        False,
        True,
        True,
        True,
        True,
        False,
    ]  # 7 alone is there
    kernels = [[w for w in i.model_.get_weights() if w.ndim == 2 and w.size] for i in (first, other)]
    assert kernels[0] and all((a != b).all() for a, b in zip(*kernels))


def test_an_optimizer_serves_every_fit():
    """An optimizer in the parameters is copied: it would be refused the second time, or go on with its moments."""
    optimizer = keras.optimizers.Adam(0.1)
    imputer = tiny(method="rws", method_options={"optimizer": optimizer})
    first = imputer.fit(BINARY).model_.get_weights()
    for pair in zip(first, imputer.fit(BINARY).model_.get_weights()):
        np.testing.assert_array_equal(*pair)
    assert not optimizer.built


def test_pipelines_grids_and_frames(unlearnt):
    """As a step, searched over by its parameters, and with names of columns."""
    pandas = pytest.importorskip("pandas")
    x, y = np.tile(BINARY, (4, 1)), np.tile([0, 1, 0, 1, 0], 4)
    pipeline = make_pipeline(tiny(), LogisticRegression())
    grid = {"imputer__strategy": ["mode", "probabilities"]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(x, y)
    assert search.predict(x).shape == (20,)
    frame = pandas.DataFrame(BINARY, columns=["a", "b", "c"], index=list("vwxyz")).convert_dtypes()
    imputer = tiny(strategy="mode").set_output(transform="pandas").fit(frame)
    filled = imputer.transform(frame)
    assert list(filled.columns) == list(imputer.feature_names_in_) == ["a", "b", "c"]
    assert list(filled.index) == list("vwxyz") and not filled.isna().any(axis=None)
    with pytest.raises(ValueError, match="feature names"):
        imputer.transform(frame[["b", "a", "c"]])
    columns = ColumnTransformer([("some", tiny(), ["a", "b"])], verbose_feature_names_out=False)
    assert list(columns.fit(frame).get_feature_names_out()) == ["a", "b"]


def test_verbose_is_as_in_keras(monkeypatch):
    shown, fit = [], DeepGenerativeModel.fit
    monkeypatch.setattr(DeepGenerativeModel, "fit", lambda *a, **k: shown.append(k.pop("verbose")) or fit(*a, **k))
    for verbose in ("auto", 0, True):
        tiny(verbose=verbose).fit(BINARY)
    assert shown == ["auto", 0, 1]
    with pytest.raises(ValueError, match="verbose.*Received: verbose='loud'"):
        tiny(verbose="loud").fit(BINARY)
