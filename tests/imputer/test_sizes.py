"""Chains over what is missing are shorter where rows are many, unless lengths are asked for."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import tfdsmcmc as ds
from tfdsmcmc.imputer import choices, multiple

X = np.tile([[1.0, np.nan, 0.0], [0.0, 1.0, np.nan], [1.0, 1.0, 0.0], [np.nan, 0.0, 1.0]], (2, 1))  # 6 with gaps
LESS = {"burn_in": 25, "num_samples": 6, "continued_burn_in": 2, "thinning": 1, "num_chains": 4, "batch_size": 500}
SHORT = {"burn_in": 20, "num_samples": 4, "continued_burn_in": 1, "thinning": 1, "num_chains": 1, "batch_size": 1000}
SHORTEST = {**SHORT, "burn_in": 15, "num_samples": 3}


@pytest.fixture(scope="module")
def fitted():
    return ds.Imputer("SBN 2", updates=6, posterior_samples=3, strategy="mode", jit_compile=False).fit(X)


@pytest.fixture
def asked(fitted, monkeypatch):
    """Function of (call, what is many): what `imputation.impute` is asked for, the samples of the posterior."""

    def of(call, many, very_many=100_000, samples=2, some=0):
        monkeypatch.setattr(choices, "_SOME", some)
        monkeypatch.setattr(choices, "_MANY", many)
        monkeypatch.setattr(choices, "_VERY_MANY", very_many)
        monkeypatch.setattr(choices, "_SAMPLES_OF_MANY", samples)
        found = []

        def impute(model, x, mask=None, num_imputations=1, seed=0, posterior=None, **told):
            all_samples, own = fitted.posterior_.samples, list(map(id, posterior.samples))
            places = [i for i, sample in enumerate(all_samples) if id(sample) in own]
            found.append(({name: value for name, value in told.items() if name in (*SHORT, "average")}, places))
            raise InterruptedError

        monkeypatch.setattr(ds.imputation, "impute", impute)
        with pytest.raises(InterruptedError):
            call(fitted)
        return found[0]

    return of


def test_many_rows_have_short_chains_at_some_of_the_samples(asked):
    assert asked(lambda imputer: imputer.transform(X), many=5) == (SHORT, [0, 2])


def test_means_of_very_many_rows_have_the_shortest_chains(asked):
    assert asked(lambda imputer: imputer.transform(X), many=4, very_many=5) == (SHORTEST, [0, 2])
    assert asked(lambda imputer: imputer.transform(X), many=4, very_many=6) == (SHORT, [0, 2])


def test_draws_of_very_many_rows_have_chains_that_mix(asked, fitted, monkeypatch):
    monkeypatch.setattr(multiple, "_FEW", 5)
    assert asked(lambda imputer: imputer.impute(X, 3), many=4, very_many=5) == (SHORT, [0])
    fitted.set_params(strategy="draw")
    try:
        assert asked(lambda imputer: imputer.transform(X), many=4, very_many=5) == (SHORT, [0, 2])
    finally:
        fitted.set_params(strategy="mode")


def test_a_draw_is_at_one_sample_where_all_weigh_alike(asked, fitted):
    """Which one is random: each of three in 60 seeds, false failures 1e-10; means are over all of them."""
    fitted.set_params(strategy="draw", imputation_options={"posterior_weights": "equal"})
    try:
        found = []
        for seed in range(60):
            fitted.set_params(random_state=seed)
            found.append(asked(lambda imputer: imputer.transform(X), many=5))
        assert all(told == SHORT and len(places) == 1 for told, places in found)
        assert {places[0] for _, places in found} == {0, 1, 2}
        assert asked(lambda imputer: imputer.transform(X), many=5) == found[-1]
        assert asked(lambda imputer: imputer._imputation(imputer._opened(X)[1]), many=5) == (SHORT, [0, 2])
        fitted.set_params(imputation_options={"posterior_weights": "equal", "average": "weights"})
        assert asked(lambda imputer: imputer.transform(X), many=5)[1] == [0, 1, 2]
    finally:
        fitted.set_params(strategy="mode", imputation_options=None, random_state=None)


def test_other_numbers_of_rows_have_the_defaults(asked):
    """Rows without gaps do not count."""
    assert asked(lambda imputer: imputer.transform(X), many=6, some=6) == ({}, [0, 1, 2])


def test_a_few_thousand_rows_have_shorter_chains_at_all_samples(asked):
    """Of three samples in place of twenty each has more sweeps."""
    told = {**LESS, "num_samples": 40}
    assert asked(lambda imputer: imputer.transform(X), many=6, some=5) == (told, [0, 1, 2])


def test_completions_that_share_a_sample_have_a_chain_each(asked):
    assert asked(lambda imputer: imputer.impute(X, 9), many=5) == ({**SHORT, "num_chains": 3}, [0])


def test_completions_of_few_rows_have_the_chains_of_transform(asked, monkeypatch):
    assert asked(lambda imputer: imputer.impute(X, 3), many=10, some=8) == ({"num_chains": 2}, [0])
    monkeypatch.setattr(multiple, "_FEW", 7)
    assert asked(lambda imputer: imputer.impute(X, 3), many=10, some=8) == ({"num_chains": 1}, [0])
    told = {**LESS, "burn_in": 50, "num_chains": 1}
    assert asked(lambda imputer: imputer.impute(X, 3), many=10, some=5) == (told, [0])


def test_fewer_samples_have_longer_chains(asked):
    """A mean of three states, or of five, would have no other values than thirds or fifths."""

    def found(num_rows, samples, average="draws"):
        told = choices.lengths_of({"average": average}, num_rows, False, samples)[0]
        return told["num_samples"]

    assert [found(10**4, count) for count in (0, 1, 2, 5, 10, 20, 1000)] == [50, 50, 50, 24, 12, 6, 6]
    assert [found(10**5, count) for count in (0, 1, 2, 5, 8, 10, 20, 1000)] == [40, 40, 20, 8, 5, 4, 4, 4]
    assert found(10**5, 11) == 7  # every second one
    assert [found(10**6, count) for count in (0, 1, 2, 5, 10)] == [30, 30, 15, 6, 3]
    assert found(10**4, 20, "units") == 50 and found(10**5, 20, "weights") == 40
    assert choices.lengths_of({}, 10**6, True, 0)[0] == SHORT
    assert asked(lambda imputer: imputer.transform(X), 5, samples=4)[0] == {**SHORT, "num_samples": 6}


def test_an_average_within_the_model_is_of_all_samples_and_not_of_completions(asked, fitted):
    fitted.set_params(imputation_options={"average": "weights"})
    try:
        told = {**SHORT, "num_samples": 8, "average": "weights"}  # one component in place of two
        assert asked(lambda imputer: imputer.transform(X), many=5) == (told, [0, 1, 2])
        assert asked(lambda imputer: imputer.impute(X, 9), many=5) == ({**SHORT, "num_chains": 3}, [0])
    finally:
        fitted.set_params(imputation_options=None)


@pytest.mark.parametrize(
    "option", [{"burn_in": 3}, {"num_samples": 4}, {"num_chains": 3}, {"thinning": 2}]
)
def test_lengths_that_are_asked_for_stay(option):
    assert choices.lengths_of(option, 10**6) == (option, None)


def test_other_options_stay_and_draws_of_importance_sampling_are_not_sweeps():
    assert choices.lengths_of({"batch_size": 7}, 10**6) == ({**SHORTEST, "batch_size": 7}, 10)
    assert choices.lengths_of({"batch_size": 7}, 100_000) == ({**SHORT, "batch_size": 7}, 10)
    told = {**SHORT, "continued_burn_in": None}
    assert choices.lengths_of({"continued_burn_in": None}, 100_000) == (told, 10)
    assert choices.lengths_of({"method": "resampling"}, 10**6) == ({"method": "resampling"}, None)
    assert choices.lengths_of({}, 10_000) == (LESS, None) and choices.lengths_of({}, 1_000) == ({}, None)


def test_results_are_where_the_gaps_are(fitted, monkeypatch):
    monkeypatch.setattr(choices, "_SOME", 4)
    monkeypatch.setattr(choices, "_MANY", 5)
    monkeypatch.setattr(
        choices, "_LENGTHS_OF_MANY", {"burn_in": 1, "continued_burn_in": 0, "num_samples": 1, "num_chains": 1}
    )
    filled = fitted.transform(X)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert np.isin(filled, [0.0, 1.0]).all()


@pytest.mark.parametrize("rows, size", [(1, 1), (2, 1), (5, 3), (150, 75), (199, 100), (200, 100), (10**6, 100)])
def test_minibatches_are_half_of_few_rows(rows, size):
    assert choices.batch_size_of(None, rows) == size and choices.batch_size_of(7, rows) == 7


@pytest.mark.slow
@pytest.mark.compiled
def test_columns_that_nearly_say_each_other_keep_their_scales():
    """Steps are no longer than the noise of gradients permits: of all rows, with few gaps, gradients have none."""
    x, generator = load_iris().data, np.random.default_rng(2)
    chance = 0.2 / (1.0 + np.exp(-2.0 * (x - x.mean(0)) / x.std(0)))
    imputer = ds.Imputer(random_state=0).fit(np.where(generator.random(x.shape) < chance, np.nan, x))
    names = [variable.path for variable in imputer.model_.theta_variables]
    place = next(i for i, name in enumerate(names) if "real_0_bias" in name)
    # the columns have standard deviation 1, and their regressions on each other a log scale below 0
    assert max(np.max(sample.theta[place]) for sample in imputer.posterior_.samples) < 1.0
