"""Which model and method the imputer takes, by the data and by what is said."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.imputer.arrays import BINARY, NAN, REAL, tiny


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


def test_likelihoods_of_rows_with_gaps_in_columns_that_depend_on_each_other(unlearnt):
    x = np.array([[0.1, NAN], [1.0, 2.0], [NAN, 0.3], [0.4, 0.2]])
    found = tiny("DARN/SBN 2").fit(x).log_likelihood(x, num_samples=3)
    assert np.isfinite(found.value).all() and found.value.shape == (4,)


def test_columns_that_are_not_learnt_choose_nothing(monkeypatch):
    """300 columns without an entry beside three."""
    seen = []

    def choices(self, binary, num_columns, gaps, num_rows):
        seen.append((num_columns, num_rows))
        raise InterruptedError

    monkeypatch.setattr(ds.Imputer, "_choices", choices)
    for x in (REAL, np.c_[REAL, np.full((len(REAL), 300), NAN)]):
        with pytest.raises(InterruptedError):
            ds.Imputer().fit(x)
    assert seen == [(REAL.shape[1], len(REAL))] * 2
