"""Fits of one shape share their programs, and nothing else."""

import pickle
import threading

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc import programs
from tfdsmcmc.imputer import sharing


@pytest.fixture(autouse=True)
def _programs_are_traced():
    """The other tests of this folder run eagerly, where nothing is traced that could be shared."""
    tf.config.run_functions_eagerly(False)


def table(seed, rows=6):
    rng = np.random.default_rng(seed)
    x = (rng.random((rows, 3)) < 0.4).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[0] = 1, 0, np.nan
    return x


def imputer(**arguments):
    options = {"burn_in": 2, "num_samples": 3, "num_chains": 1}
    arguments = {"updates": 2, "posterior_samples": 1, "imputation_options": options, "random_state": 0, **arguments}
    return ds.Imputer("SBN 2", jit_compile=False, **arguments)


def twins():
    return [twin for twin, _ in sharing._twins.values()]


def test_a_second_fit_and_its_imputations_trace_nothing_and_are_what_they_are_alone():
    sharing.clear()
    first = imputer().fit(table(0))
    before = first.model_.get_weights()
    first.transform(table(0))
    second = imputer(random_state=5).fit(table(1))
    shared = second.transform(table(1))
    (twin,) = twins()
    assert twin.run._advance.experimental_get_tracing_count() == 1
    for one, other in zip(before, first.model_.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    sharing.clear()
    alone = imputer(random_state=5).fit(table(1))
    assert twins() != [twin]
    np.testing.assert_array_equal(alone.transform(table(1)), shared)
    for one, other in zip(alone.model_.get_weights(), second.model_.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert int(alone.model_.run.steps) == int(second.model_.run.steps) == 2
    np.testing.assert_array_equal(alone.model_.run.seed, second.model_.run.seed)
    assert (alone.model_.run.seed.numpy() != first.model_.run.seed.numpy()).any()


def test_completions_of_few_rows_have_the_program_of_transform():
    sharing.clear()
    lengths = {"burn_in": 2, "num_samples": 3}
    fitted = imputer(posterior_samples=2, updates=4, imputation_options=lengths).fit(table(0))
    fitted.transform(table(0))
    (twin,) = twins()
    before = set(programs._programs[twin])
    completions = fitted.impute(table(0), num_imputations=2)
    assert before and set(programs._programs[twin]) == before
    known = ~np.isnan(table(0))
    assert all((part[known] == table(0)[known]).all() and np.isin(part, [0, 1]).all() for part in completions)


@pytest.mark.slow
def test_other_methods_and_sizes_have_programs_of_their_own():
    sharing.clear()
    for arguments in ({}, {"method_options": {"learning_rate": 0.2, "num_chains": 1}}, {"method": "wake_sleep"}):
        imputer(**arguments).fit(table(0))
    assert len(twins()) == 3


@pytest.mark.slow
def test_an_imputer_from_a_file_imputes_the_same():
    fitted = imputer().fit(table(0))
    expected = fitted.transform(table(2))
    loaded = pickle.loads(pickle.dumps(fitted))
    sharing.clear()
    np.testing.assert_array_equal(loaded.transform(table(2)), expected)


@pytest.mark.slow
def test_two_threads_wait_for_each_other():
    sharing.clear()
    expected = [imputer(random_state=i).fit_transform(table(i)) for i in (0, 1)]
    found = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: imputer(random_state=i).fit_transform(table(i))}))
        for i in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    for i in (0, 1):
        np.testing.assert_array_equal(found[i], expected[i])


@pytest.mark.slow
def test_few_are_kept_and_what_cannot_be_told_apart_is_not_shared(monkeypatch):
    sharing.clear()
    monkeypatch.setattr(sharing, "_MOST", 1)
    imputer().fit(table(0))
    (first,) = twins()
    imputer(method="wake_sleep").fit(table(0))
    (second,) = twins()
    assert second is not first
    schedule = Unregistered(0.1)
    model = imputer(method="dsgld_nais", method_options={"learning_rate": schedule}).fit(table(0)).model_
    with sharing.in_place_of(model) as found:
        assert found is model
    assert twins() == [second]


class Unregistered(keras.optimizers.schedules.LearningRateSchedule):
    """A rate that is no part of a configuration."""

    def __init__(self, rate):
        self.rate = rate

    def __call__(self, step):
        return self.rate


@pytest.fixture(autouse=True, scope="module")
def _let_go():
    yield
    sharing.clear()
