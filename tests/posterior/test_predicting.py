"""Averaging and predicting with posterior samples."""

import keras
import numpy as np
import pytest
import scipy.stats

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tests.posterior.support import X, folder_of


@pytest.mark.parametrize("estimator", ["importance sampling", "annealing"])
def test_predictive_log_likelihood_meets_enumeration(tmp_path, estimator):
    """log (1/M) Σ p(x given θ_m), each term by enumeration; 6 standard errors of 16 rows: 3e-8 in all.

    The mean of the logarithms, the usual error, is lower by up to half a nat, more than 10 standard errors."""
    model = folder_of(tmp_path)
    posterior, states = ds.posterior.load(tmp_path), binary_states(4)
    exact = []
    for sample in posterior.samples:
        other = tiny_model((2,), units=4)
        for variable, value in zip(other.trainable_variables, (*sample.theta, *sample.phi), strict=True):
            variable.assign(value)
        exact.append(Oracle(other).log_likelihood(states))
    before = model.get_weights()
    if estimator == "annealing":
        estimate = posterior.annealed_log_likelihood(model, states, average="draws", num_steps=20, num_runs=400)
        again = posterior.annealed_log_likelihood(model, states, 1, "draws", num_steps=20, num_runs=400)
        assert np.all(again.value != estimate.value)
    else:
        estimate = posterior.log_likelihood(model, states, num_samples=3000, average="draws")
    expected = np.logaddexp.reduce(exact, 0) - np.log(3)
    assert np.all(np.abs(estimate.value - expected) < 6 * estimate.standard_error)
    assert np.max(expected - np.mean(exact, 0)) > 10 * np.max(estimate.standard_error)
    assert np.all(estimate.effective_sample_size < 9000)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_predictive_standard_error_covers():
    """The errors of 40 seeds on 16 rows, divided by the stated errors, have mean square 1. Were the rows of a seed the
    same number, 40 times the mean square would be a chi-square variable of 40 degrees: the bounds fail once in 10⁶."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model = folder_of(folder)
        posterior, states = ds.posterior.load(folder), binary_states(4)
        precise = posterior.log_likelihood(model, states, num_samples=200_000, seed=999, average="draws").value
        ratios = []
        for seed in range(40):
            estimate = posterior.log_likelihood(model, states, num_samples=300, seed=seed, average="draws")
            ratios.append((estimate.value - precise) / estimate.standard_error)
    lower, upper = scipy.stats.chi2.ppf([5e-7, 1 - 5e-7], 40) / 40
    assert lower < np.mean(np.square(ratios)) < upper


def test_apply_mean_sets_theta_and_a_refit_improves_the_proposal(tmp_path):
    model = folder_of(tmp_path)
    model.compile(kernel=ds.mcmc.SGNHT(), proposal=ds.proposals.Wake(keras.optimizers.Adam(0.05)), jit_compile=False)
    posterior, states = ds.posterior.load(tmp_path), binary_states(4)
    theta, phi = posterior.mean()
    assert posterior.apply_mean(model) is model
    for variable, mean in zip(model.trainable_variables, (*theta, *phi), strict=True):
        np.testing.assert_array_equal(variable.numpy(), mean)
    before = model.log_likelihood(states, 500).mean().effective_sample_size
    posterior.apply_mean(model, states, refit_epochs=40, batch_size=8)
    for variable, mean in zip(model.generative.trainable_variables, theta, strict=True):
        np.testing.assert_array_equal(variable.numpy(), mean)
    assert model.log_likelihood(states, 500).mean().effective_sample_size > before


def test_another_architecture_is_refused(tmp_path):
    folder_of(tmp_path)
    posterior, other = ds.posterior.load(tmp_path), tiny_model((3,), units=4)
    before = other.get_weights()
    shapes = "weights of the shapes.*Received: a model with"
    for reason, call in (
        (shapes, lambda: posterior.apply_mean(other)),
        (shapes, lambda: posterior.log_likelihood(other, X)),
        (shapes, lambda: posterior.annealed_log_likelihood(other, X)),
        ("Received: weights=1", lambda: posterior.annealed_log_likelihood(tiny_model((2,), units=4), X, weights=1)),
        ("Received: direction='reverse'", lambda: posterior.annealed_log_likelihood(other, X, direction="reverse")),
        ("Received: direction='forward', z=", lambda: posterior.annealed_log_likelihood(other, X, z=[X])),
        ("num_runs.*Received: ", lambda: posterior.annealed_log_likelihood(tiny_model((2,), units=4), X, num_runs=0)),
        ("training data. Received: x=None", lambda: posterior.apply_mean(tiny_model((2,), units=4), refit_epochs=1)),
        ("^refit_epochs.*Received: ", lambda: posterior.apply_mean(tiny_model((2,), units=4), X, refit_epochs=-1)),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    for one, two in zip(before, other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
