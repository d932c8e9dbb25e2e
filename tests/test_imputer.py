"""The imputer: scikit-learn's conventions, and what happens to the columns."""

import contextlib
import pickle

import joblib
import keras
import numpy as np
import pytest
import tensorflow as tf
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import tfdsmcmc as ds
from tfdsmcmc.imputer import learning, sharing
from tfdsmcmc.imputer.columns import columns_of
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.posterior.last_part import last_epochs
from tfdsmcmc.rows import rows_of
from tfdsmcmc.supports import Binary

NAN = np.nan
SHORT = {"method": "resampling", "num_samples": 4}
TINY = {"hidden_units": 2, "updates": 1, "batch_size": 10, "posterior_samples": 0, "jit_compile": False}
TINY = {**TINY, "random_state": 0, "imputation_options": SHORT}
BINARY = np.array([[1, 0, NAN], [0, 1, 1], [1, NAN, 0], [0, 1, 1], [NAN, NAN, NAN]])
REAL = np.array([[1.5, 100.0, NAN], [0.1, NAN, 7.0], [-2.0, 140.0, 7.0], [NAN, 120.0, 7.0], [NAN, NAN, NAN]])
# the conventions that depend on what is learnt; the others are about the handling of arguments and arrays
OF_LEARNING = ("check_fit_idempotent", "check_estimators_pickle", "check_estimators_fit_returns_self")


@pytest.fixture(scope="module")
def models_by_kind():
    return {}


@pytest.fixture
def unlearnt(monkeypatch, models_by_kind):
    """Imputers keep their first weights, of one model for each width, kind of data and architecture: for tests of what
    is around the model."""
    made, build = models_by_kind, learning.build

    def once(rows, binary, architecture, *arguments):
        key = rows.values.shape[1], binary, architecture
        if key not in made:
            made[key] = build(rows, binary, architecture, *arguments)
            made[key].compile("sgnht", jit_compile=False)
            made[key].compile = lambda **_: None
        return made[key]

    monkeypatch.setattr(learning, "build", once)
    monkeypatch.setattr(learning, "learn", lambda *_: None)
    monkeypatch.setattr(sharing, "in_place_of", lambda model, **_: contextlib.nullcontext(model))


def tiny(architecture="SBN 2", **arguments):
    return ds.Imputer(architecture, **{**TINY, **arguments})


# ---- the conventions of scikit-learn


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


# ---- columns


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


def test_the_kind_of_the_data(unlearnt):
    """Zeros and ones give a binary data layer, anything else a normal one; the method suits the latent layers."""
    binary, real, mixed = (tiny().fit(x) for x in (BINARY, REAL, np.c_[BINARY[:, 0], REAL[:, 0]]))
    kinds = [type(i.model_.generative.layers[-1]).__name__ for i in (binary, real, mixed, tiny("DARN 2").fit(REAL))]
    assert kinds == ["SBN", "MLPGaussian", "MLPGaussian", "Mixed"]
    with pytest.raises(ValueError, match="must be binary.*Received"):
        binary.transform([[1, 0, 0.5]])
    default, chosen = ds.Imputer(), ds.Imputer("VAE 3", method_options={"num_samples": 2})
    found = [default._choices(binary, 256, gaps)[:2] for binary in (True, False) for gaps in (False, True)]
    assert found[:2] == [("DARN/DARN 50", "dsgnht_nais"), ("DARN/DARN 50", "dsgnht_gibbs")]
    assert found[2:] == [("DARN/SBN 50", "dsgnht_nais"), ("DARN/SBN 50", "dsgnht_gibbs")]
    by_size = [
        default._choices(False, columns, True, n)[:2] for n, columns in ((150, 5), (1000, 5), (1000, 2), (1000, 257))
    ]
    drawn = [(name, "dsgnht_gibbs") for name in ("DARN", "DARN/SBN 10", "DARN/SBN 8")]
    assert by_size == [*drawn, ("VAE 10", "iwae")]
    assert ds.Imputer(method="iwae")._choices(False, 3, True)[:2] == ("VAE 10", "iwae")
    assert default._choices(True, 257, True)[:2] == ("SBN/SBN 50", "dsgnht_nais")
    assert chosen._choices(True, 3, True) == ("VAE 3", "iwae", {"num_samples": 2})
    assert ds.Imputer(method="rws")._choices(True, 3, True) == ("SBN/SBN 50", "rws", {})
    assert ds.Imputer(method="rws")._choices(True, 3, False) == ("DARN/DARN 50", "rws", {})
    own = {"num_chains": 2}
    assert ds.Imputer(method_options=own)._choices(True, 3, True) == ("SBN/SBN 50", "dsgnht_nais", own)
    assert ds.Imputer(method_options={})._choices(True, 3, False) == ("DARN/DARN 50", "dsgnht_nais", {})
    one = {"num_chains": 1, "draw_missing": True}
    assert default._choices(True, 3, True) == ("DARN/DARN 50", "dsgnht_gibbs", one)
    given = ds.Imputer("DARN/DARN 3", method_options=own)._choices(True, 3, True)
    assert given == ("DARN/DARN 3", "dsgnht_gibbs", {"num_chains": 2, "draw_missing": True})


@pytest.mark.parametrize(("columns", "gap", "kind"), [(5, False, "DARN"), (5, True, "DARN"), (257, False, "SBN")])
def test_columns_depend_on_each_other_where_that_can_be_learnt(unlearnt, columns, gap, kind):
    x = (np.arange(4)[:, None] >> (np.arange(columns) % 2) & 1).astype(np.float32)
    x[0, 0] = NAN if gap else 0
    model = tiny(None).fit(x).model_
    assert [type(layer).__name__ for layer in model.generative.layers] == [kind, kind]


def test_samples_have_equal_weights_where_no_recognition_network_learns(unlearnt, monkeypatch):
    asked = []
    monkeypatch.setattr(ds.imputation, "impute", lambda *_, **options: asked.append(options) or 1 / 0)
    for options in ({"method": "dsgnht_nais"}, {"method": "dsgnht_gibbs"}, {}):
        with pytest.raises(ZeroDivisionError):
            tiny("DARN 2", **options, imputation_options=None).fit(BINARY).transform(BINARY)
    assert [options["posterior_weights"] for options in asked] == ["likelihood", "equal", "equal"]
    with pytest.raises(ZeroDivisionError):
        tiny("DARN 2", imputation_options={"posterior_weights": "likelihood"}).fit(BINARY).transform(BINARY)
    assert asked[-1]["posterior_weights"] == "likelihood"


@pytest.mark.parametrize("architecture", ["DARN", "NADE"])
def test_columns_that_depend_on_each_other_alone_learn_from_gaps(architecture):
    assert ds.Imputer(architecture)._choices(True, 3, True)[1:] == (
        "dsgnht_gibbs",
        {"num_chains": 1, "draw_missing": True},
    )
    filled = tiny(architecture, imputation_options={"burn_in": 1, "num_samples": 1}).fit_transform(BINARY)
    assert not np.isnan(filled).any() and (filled[~np.isnan(BINARY)] == BINARY[~np.isnan(BINARY)]).all()


@pytest.mark.compiled
@pytest.mark.slow
def test_a_darn_learns_from_gaps_and_fills_them():
    """Two columns that are the same: what is missing of one is what the other shows."""
    tf.config.run_functions_eagerly(False)
    x = np.repeat([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]], 20, axis=0)
    x[::4, 0] = NAN
    imputer = ds.Imputer("DARN/DARN 2", updates=300, posterior_samples=4, random_state=0)
    filled = imputer.fit_transform(x)
    assert imputer.model_.run.step.fills_gaps and imputer.model_.run.step.estimator.latents.draw_missing
    assert (filled[::4, 0] > 0.5).tolist() == (x[::4, 1] > 0.5).tolist()
    with pytest.raises(ValueError, match="Received: DARN"):
        ds.Imputer("DARN/DARN 2", method="rws", updates=4, posterior_samples=1).fit(x)


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


@pytest.mark.parametrize(
    "arguments",
    [
        {"strategy": "median"},
        {"keep_empty_features": "no"},
        {"method": "em"},
        {"method": "__doc__"},
        {"method_options": {"no_such": 1}},
        {"method_options": 3},
        {"imputation_options": {"seed": 1}},
        {"imputation_options": [1]},
        {"updates": 0},
        {"updates": 5, "posterior_samples": 3},
        {"posterior_samples": -1},
        {"batch_size": 0},
        {"architecture": "PCA 3"},
        {"hidden_units": 0},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_in_fit(arguments):
    name = "name" if "architecture" in arguments else next(iter(arguments))
    with pytest.raises(ValueError, match=f"({name}).*Received: |Received: ({name})"):
        tiny(**{"posterior_samples": 0, **arguments}).fit(BINARY)


@pytest.mark.parametrize(
    "option",
    [
        {"burn_in": -1},
        {"thinning": 0},
        {"num_chains": 0},
        {"num_samples": "many"},
        {"evidence_samples": 0},
        {"batch_size": 0},
        {"method": "exact"},
        {"posterior_weights": "none"},
        {"average": "median"},
    ],
    ids=str,
)
def test_what_transform_cannot_use_is_refused_before_anything_is_learnt(option, monkeypatch):
    monkeypatch.setattr(learning, "learn", lambda *_: pytest.fail("a model is learnt"))
    with pytest.raises(ValueError, match=f"{next(iter(option))} .*Received: "):
        tiny(imputation_options=option).fit(BINARY)


def test_verbose_is_as_in_keras(monkeypatch):
    shown, fit = [], DeepGenerativeModel.fit
    monkeypatch.setattr(DeepGenerativeModel, "fit", lambda *a, **k: shown.append(k.pop("verbose")) or fit(*a, **k))
    for verbose in ("auto", 0, True):
        tiny(verbose=verbose).fit(BINARY)
    assert shown == ["auto", 0, 1]
    with pytest.raises(ValueError, match="verbose.*Received: verbose='loud'"):
        tiny(verbose="loud").fit(BINARY)


def test_likelihoods_of_rows_with_gaps_in_columns_that_depend_on_each_other(unlearnt):
    x = np.array([[0.1, NAN], [1.0, 2.0], [NAN, 0.3], [0.4, 0.2]])
    found = tiny("DARN/SBN 2").fit(x).log_likelihood(x, num_samples=3)
    assert np.isfinite(found.value).all() and found.value.shape == (4,)


@pytest.mark.parametrize("options", [{"average": "start"}, {"average": ["units"]}])
def test_averages_that_no_imputation_has_are_refused_in_fit(options):
    for samples in (0, 2):
        with pytest.raises(ValueError, match="An average is one of .*Received: "):
            tiny(imputation_options=options, posterior_samples=samples).fit(BINARY)


def test_what_is_changed_after_the_fit_is_checked_again(unlearnt):
    imputer = tiny().fit(BINARY)
    for name in ("strategy", "imputation_options"):
        with pytest.raises(ValueError, match=f"{name}.*Received: "):
            imputer.set_params(**{"strategy": "mode", name: "nothing"}).transform(BINARY)
    with pytest.raises(ValueError, match="random_state is .*Received: random_state='nothing'"):
        imputer.set_params(imputation_options=None, random_state="nothing").transform(BINARY)


# ---- samples of the weights


@pytest.mark.parametrize(
    ("updates", "count"), [(6, 3), (7, 3), (1000, 3), (1000, 1), (2001, 10), (20000, 10), (50, 25)]
)
def test_samples_lie_in_the_second_half(updates, count):
    length = learning.epoch_length(updates, count)
    epochs = updates // length
    ends = np.sort([(epoch + 1) * length for epoch in last_epochs(epochs, count)])
    assert len(set(ends)) == count and ends[0] > epochs * length / 2 and ends[-1] == epochs * length <= updates
    assert updates - ends[-1] < epochs and length <= 100
    assert ends[0] - updates / 2 <= updates / (2 * count) + 2 * length, "crowded at the end"
    if count > 1:
        assert np.ptp(np.diff(ends)) <= length


def test_the_samples_are_those_of_the_run():
    """The last sample has the model's weights, and the imputations are the mixture over the samples."""
    imputer = tiny(updates=4, posterior_samples=2).fit(BINARY)
    samples = imputer.posterior_.samples
    assert [sample.step for sample in samples] == sorted({sample.step for sample in samples}) and len(samples) == 2
    model = imputer.model_
    groups = model.generative.trainable_variables, model.recognition.trainable_variables
    for variables, last, earlier in zip(groups, samples[-1][:2], samples[0][:2]):
        for variable, w, before in zip(variables, last, earlier):
            np.testing.assert_array_equal(variable, w)
            assert variable.numpy().size == 0 or (w != before).any()
    mixture = ds.imputation.impute(model, BINARY, posterior=imputer.posterior_, seed=0, **SHORT).probabilities
    np.testing.assert_array_equal(imputer.transform(BINARY), mixture)


@pytest.mark.parametrize(("updates", "count"), [(1, 0), (99, 0), (101, 0), (150, 0), (199, 1), (250, 2), (5, 1)])
def test_no_more_updates_than_are_asked_for(updates, count):
    """And fewer by less than one an epoch."""
    length = learning.epoch_length(updates, count)
    assert 0 <= updates - updates // length * length < updates // length and length <= 100
    assert updates // length >= 2 * count


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
