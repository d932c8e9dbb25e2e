"""Samples of the weights: when they are taken, and of which run."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.arrays import BINARY, SHORT, tiny
from tfdsmcmc.imputer import learning
from tfdsmcmc.posterior.last_part import last_epochs


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
