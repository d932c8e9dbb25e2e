"""Arguments that the imputer refuses, before anything is learnt."""

import pytest

from tests.imputer.arrays import BINARY, tiny
from tfdsmcmc.imputer import learning


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
