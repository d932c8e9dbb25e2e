"""What every model must honour, `contract.Model`: `run_model_test` checks it in one call."""

from __future__ import annotations

import os
import tempfile

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import binary_states, log_sum, state_numbers
from tfdsmcmc import contract
from tfdsmcmc.posterior.store import Sample

_DRAWS = 4000


def run_model_test(make, exact, directed=False):
    """Checks a model against enumeration, at its own weights, at others, and averaged over a posterior.

    Args:
      make: function of a seed; returns a model of at most four binary units whose weights are random.
      exact: function of such a model; returns log p(x) of all 2^D rows, in the order of `binary_states`.
      directed: whether it has a generative and a recognition network.

    The checks of draws fail by chance with probability 10⁻⁶ each.
    """
    model, other = make(0), make(1)
    assert isinstance(model, contract.Model) and isinstance(model.density(), contract.Density)
    contract.check_model(model)
    _check_values(model, exact)
    _check_other_weights(model, other, exact)
    _check_draws(model, exact)
    _check_imputations(model, exact)
    _check_averages(model, other, exact)
    _check_frozen(model, exact)
    _check_other_weights_than_the_live(model, other, exact)
    _check_trace(model, other, exact)
    _check_seeds(model)
    _check_refusals(model, directed)


def _weights(model):
    return [v.numpy() for v in model.theta_variables], [v.numpy() for v in model.phi_variables]


def _posterior(*models):
    samples = [Sample(*_weights(model), step) for step, model in enumerate(models)]
    return ds.posterior.Posterior(None, samples)


def _assert_near(found, exact):
    """Within five standard errors, and rounding; never above by more where estimates are biased downwards."""
    np.testing.assert_array_less(np.abs(found.value - exact), 5.0 * found.standard_error + 2e-4)


def _check_values(model, exact):
    x, log_p = binary_states(model.units), exact(model)
    assert log_sum(log_p) == pytest.approx(0.0, abs=1e-9)
    density = model.density()
    _assert_near(density.log_likelihood(x, _DRAWS, 0, 100, warn=False), log_p)
    _assert_near(density.annealed_log_likelihood(x, 1, num_steps=200, num_runs=64), log_p)


def _check_other_weights(model, other, exact):
    x, before = binary_states(model.units), _weights(model)
    found = model.density(_weights(other)).log_likelihood(x, _DRAWS, 0, 100, warn=False)
    _assert_near(found, exact(other))
    assert np.abs(exact(other) - exact(model)).max() > 0.1
    for one, two in zip(sum(before, []), sum(_weights(model), [])):
        np.testing.assert_array_equal(one, two)
    theta, phi = _weights(other)
    for wrong in ([*theta[:-1], np.zeros((9, 9), np.float32)], [np.full_like(w, np.nan) for w in theta]):
        with pytest.raises(ValueError, match="Received: "):
            model.density((wrong, phi))


def _check_draws(model, exact):
    drawn = model.density().sample(_DRAWS, seed=3)
    assert drawn.shape == (_DRAWS, model.units) and drawn.dtype == np.float32
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=2**model.units), np.exp(exact(model)))
    means = model.density().sample(5, seed=3, probabilities=True)
    assert means.shape == (5, model.units) and np.all((means >= 0) & (means <= 1))


def _given(log_p, row, units):
    """(the states that agree with a row, NaN missing; their conditional probabilities)."""
    states = binary_states(units)
    agree = np.flatnonzero((np.isnan(row) | (states == row)).all(1))
    return agree, np.exp(log_p[agree] - log_sum(log_p[agree]))


def _check_imputations(model, exact):
    row = np.full(model.units, np.nan, np.float32)
    row[0] = 1.0
    agree, p = _given(exact(model), row, model.units)
    count = 10_000
    lengths = {"burn_in": 30, "thinning": 1, "num_samples": 1, "num_chains": count}  # independent chains
    found = ds.imputation.impute(model, row[np.newaxis], None, count, 2, **lengths)
    places = state_numbers(found.x[:, 0])
    assert set(places) <= set(agree)
    assert_frequencies(np.bincount(places, minlength=2**model.units)[agree], p)
    expected = p @ binary_states(model.units)[agree]
    long = ds.imputation.impute(model, row[np.newaxis], None, 1, 2, num_samples=4000, num_chains=8)
    error = 0.5 / np.sqrt(np.maximum(long.effective_sample_size[0], 1))
    np.testing.assert_array_less(np.abs(long.probabilities[0] - expected), 6 * error + 1e-6)


def _check_averages(model, other, exact):
    """The average over draws, and over the mean of weights, against the mixture of exact densities."""
    x, posterior = binary_states(model.units), _posterior(model, other)
    mixture = np.logaddexp(exact(model), exact(other)) - np.log(2)
    _assert_near(posterior.log_likelihood(model, x, _DRAWS, average="draws"), mixture)
    annealed = posterior.annealed_log_likelihood(model, x, average="draws", num_steps=200, num_runs=64)
    _assert_near(annealed, mixture)
    theta = posterior.mean()[0]
    before = _weights(model)
    for variable, value in zip(model.theta_variables, theta):
        variable.assign(value)
    at_mean = exact(model)
    for variable, value in zip(model.theta_variables, before[0]):
        variable.assign(value)
    _assert_near(posterior.log_likelihood(model, x, _DRAWS, average="weights"), at_mean)
    curve = posterior.curve(model, x, _DRAWS, average="draws")
    assert curve.counts == (1, 2)
    _assert_near(curve.predictive[-1], mixture)
    _assert_near(curve.mean_of_weights[-1], at_mean)
    drawn = posterior.sample(model, _DRAWS, seed=4, average="draws")
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=len(x)), np.exp(mixture))
    row = np.full((1, model.units), np.nan, np.float32)
    row[0, 0] = 1.0
    equal = {"posterior": posterior, "average": "draws", "posterior_weights": "equal"}
    found = ds.imputation.impute(model, row, None, 1, 5, num_samples=4000, num_chains=8, **equal)
    parts = [_given(exact(each), row[0], model.units) for each in (model, other)]
    expected = np.mean([p @ x[agree] for agree, p in parts], 0)
    error = 0.5 / np.sqrt(np.maximum(found.effective_sample_size[0], 1))
    np.testing.assert_array_less(np.abs(found.probabilities[0] - expected), 6 * error + 1e-6)


def _check_frozen(model, exact):
    """A frozen model is the same density; weights are not given to it."""
    x = binary_states(model.units)
    model.trainable = False
    try:
        _assert_near(model.density().log_likelihood(x, _DRAWS, 0, 100, warn=False), exact(model))
        assert model.sample(3).shape == (3, model.units)
    finally:
        model.trainable = True


def _check_other_weights_than_the_live(model, other, exact):
    """Averages look at the posterior's weights alone: those of a run that has diverged since do not matter."""
    x, posterior, before = binary_states(model.units), _posterior(other), _weights(model)
    for variable in model.theta_variables:
        variable.assign(np.full(variable.shape, np.nan, np.float32))
    row = np.full((1, model.units), np.nan, np.float32)
    row[0, 0] = 1.0
    found = posterior.log_likelihood(model, x, _DRAWS, average="draws")
    drawn = ds.imputation.impute(model, row, posterior=posterior, average="draws", posterior_weights="equal")
    for variable, value in zip(model.theta_variables, before[0]):
        variable.assign(value)
    _assert_near(found, exact(other))
    assert drawn.x[0, 0, 0] == 1.0


def _check_trace(model, other, exact):
    x, posterior = binary_states(model.units), _posterior(model, other)
    found = ds.diagnostics.trace(posterior, model, x, num_samples=_DRAWS)
    values = [exact(each).mean() for each in (model, other)]
    np.testing.assert_allclose(found["log_likelihood"], [values], atol=0.05)
    assert ("log_prior" in found) == _has_density(model)


def _has_density(model):
    """Whether some weight has a prior that is not flat."""
    return hasattr(model, "prior") and any(model.prior.for_weight(name) is not None for name, _ in model.named_weights)


def _check_seeds(model):
    """Draws without a seed differ from call to call, go on where a saved model left off, and repeat with a seed."""
    first, second = model.sample(64), model.sample(64)
    assert np.any(first != second)
    np.testing.assert_array_equal(model.sample(64, seed=5), model.sample(64, seed=5))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        third = model.sample(64)
        loaded = keras.saving.load_model(path)
        np.testing.assert_array_equal(loaded.sample(64), third)
    posterior = _posterior(model)
    assert np.any(posterior.sample(model, 64) != posterior.sample(model, 64))


def _check_refusals(model, directed):
    posterior, x = _posterior(model), np.zeros((1, model.units))
    wide = np.zeros((1, model.units + 1))
    for call in (
        lambda: posterior.log_likelihood(model, wide),
        lambda: ds.diagnostics.trace(posterior, model, wide),
        lambda: ds.imputation.impute(model, wide),
        lambda: ds.imputation.impute(model, x, method="none"),
        lambda: posterior.log_likelihood("model", x),
        lambda: ds.imputation.impute("model", x),
        lambda: _posterior(model, model).log_likelihood(model, x, log_partition=1.0, average="draws"),
        lambda: _posterior(model, model).curve(model, x, log_partition=1.0, average="draws"),
        lambda: ds.diagnostics.trace(_posterior(model, model), model, x, log_partition=1.0),
    ):
        with pytest.raises(ValueError, match="Received: "):
            call()
    if directed:
        with pytest.raises(ValueError, match="Received: "):
            model.density(log_partition=1.0)
        return
    for call in (
        lambda: posterior.log_likelihood(model, x, average="units"),
        lambda: ds.likelihood.importance_sampling(model, x),
        lambda: ds.likelihood.annealed_importance_sampling(model, x),
        lambda: ds.likelihood.exact(model, x),
        lambda: ds.likelihood.evidence_lower_bound(model, x),
        lambda: ds.likelihood.harmonic_mean(model, x, ds.latents.Gibbs(2)),
        lambda: ds.likelihood.sandwich(model),
        lambda: ds.likelihood.annealing_schedule(model, x),
        lambda: ds.pretrain(model, x, 1),
        lambda: ds.diagnostics.configurational_temperature(posterior, model, x),
    ):
        with pytest.raises(ValueError, match=r"of a DeepGenerativeModel|directed") as caught:
            call()
        assert "Received: " in str(caught.value)
