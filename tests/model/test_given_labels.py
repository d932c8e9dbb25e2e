"""Estimates and imputations given labels, by the model itself, against enumeration."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, log_bernoulli, log_sum, tiny_model

ROWS = binary_states(3)[[1, 6, 2, 7, 4]].astype(np.float32)
LABELS = np.array([2, 0, 2, 1, 0])
BIASES = np.random.default_rng(5).normal(0, 2, (3, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def model():
    """Of asymmetric weights, compiled with labels and given biases for three of them."""
    model = tiny_model((2,), seed=1)
    model.compile(**ds.methods.polya_gamma_gibbs(labels=LABELS))
    model.run.saved["label_biases_0"].assign(BIASES)
    return model


def exact(model):
    """log p(x given y) of all eight x, (8, Y), by the sum over all z."""
    (_, (kernel, bias)), z = Oracle(model).theta, binary_states(2)
    given_z = log_bernoulli(binary_states(3)[:, None], z @ kernel.astype(np.float64) + bias)
    return np.stack([log_sum(given_z + log_bernoulli(z, own), 1) for own in BIASES], 1)


def others(table):
    """Of a table (5, Y) what stands at the labels that a row has not, (5, Y - 1)."""
    return np.array([np.delete(row, label) for row, label in zip(table, LABELS)])


@pytest.mark.parametrize("options", [{"num_samples": 20000}, {"num_samples": 2000, "standard_error": 0.02}])
def test_log_likelihoods_are_those_given_the_label(model, options):
    """Within six standard errors, and at any other label farther off: wrong in 10^-8 of all seeds, by the delta
    method."""
    table = exact(model)[[1, 6, 2, 7, 4]]
    found = model.log_likelihood(ROWS, labels=LABELS, **options)
    assert found.standard_error.max() < 0.03
    assert (np.abs(found.value - table[np.arange(5), LABELS]) < 6 * found.standard_error).all()
    assert (np.abs(others(table) - found.value[:, None]) > 6 * found.standard_error[:, None]).all()
    posterior = ds.posterior.present(model)
    if "standard_error" not in options:  # the same draws, a fold of the sample's number apart
        again = posterior.log_likelihood(model, ROWS, labels=LABELS, **options)
        np.testing.assert_allclose(found.value, again.value, atol=6 * 2**0.5 * found.standard_error.max())


def test_imputations_are_given_the_label(model):
    """p(x_d = 1 given the others and y), d missing, to six standard errors of 5,000 effective draws; at another label
    some are farther off."""
    joint, missing = np.exp(exact(model)), np.array([0, 1, 2, 0, 1])
    gaps = ROWS.copy()
    gaps[np.arange(5), missing] = np.nan
    wanted = np.zeros((5, 3))
    for row, (x, place) in enumerate(zip(ROWS.astype(int), missing)):
        ones, zeros = x.copy(), x.copy()
        ones[place], zeros[place] = 1, 0
        both = joint[[ones @ [4, 2, 1], zeros @ [4, 2, 1]]]
        wanted[row] = both[0] / both.sum(0)
    options = {"method": "resampling", "num_samples": 20000, "num_imputations": 2}
    found = model.impute(gaps, labels=LABELS, probabilities=True, **options)
    own, tolerance = wanted[np.arange(5), LABELS], 6 * 0.5 / np.sqrt(5000)
    result = ds.imputation.impute(model, gaps[:1], posterior=ds.posterior.present(model).given_label(2), **options)
    assert result.effective_sample_size.min() > 5000
    assert (np.abs(found[np.arange(5), missing] - own) < tolerance).all()
    assert np.abs(others(wanted) - own[:, None]).max() > 3 * tolerance
    np.testing.assert_array_equal(np.where(np.isnan(gaps), np.nan, found), gaps)
    posterior = ds.posterior.present(model)
    np.testing.assert_array_equal(
        found, model.impute(gaps, labels=LABELS, probabilities=True, posterior=posterior, **options)
    )
    drawn = model.impute(ROWS, mask=~np.isnan(gaps), labels=LABELS, **options)
    assert drawn.shape == (2, 5, 3)
    np.testing.assert_array_equal(np.where(np.isnan(gaps), np.nan, drawn[1]), gaps)


def test_what_does_not_fit(model):
    plain = tiny_model((2,))
    for call in (plain.log_likelihood, plain.impute):
        with pytest.raises(ValueError, match="Received: labels, for a model that is not compiled"):
            call(ROWS, labels=LABELS)
    plain.compile(**ds.methods.polya_gamma_gibbs())
    with pytest.raises(ValueError, match="Received: labels, for a model without labels"):
        plain.log_likelihood(ROWS, labels=LABELS)
    for call in (model.log_likelihood, model.impute):
        with pytest.raises(ValueError, match="a label for each of 5 rows. Received: 4 labels"):
            call(ROWS, labels=LABELS[1:])
        with pytest.raises(ValueError, match="labels must be in 0, …, 2. Received: labels from 0 to 3"):
            call(ROWS, labels=LABELS + (LABELS == 2))
    with pytest.raises(ValueError, match="biases for each. Received: posterior="):
        model.impute(ROWS, labels=LABELS, posterior=[1])
    with pytest.raises(ValueError, match="label must be in 0, …, 2. Received: label=3"):
        model.impute(ROWS, labels=LABELS + (LABELS == 2), posterior=ds.posterior.present(model))


def test_a_top_layer_that_is_frozen_later_is_refused():
    """The labels' biases belong to it, and to no other layer."""
    model = tiny_model((2,), seed=1)
    model.compile(**ds.methods.polya_gamma_gibbs(labels=LABELS))
    model.generative.layers[0].trainable = False
    with pytest.raises(ValueError, match="Received: .*, frozen"):
        model.log_likelihood(ROWS, labels=LABELS, num_samples=2)
