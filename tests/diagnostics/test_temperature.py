"""The configurational temperature: against enumeration at given samples, and 1 for exact draws of a posterior."""

import numpy as np
import pytest
import scipy.stats
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, tiny_model
from tests.posterior.support import at, sample_of, unfitted, write_sample, written
from tfdsmcmc.posterior import store

tfd = tfp.distributions
X = binary_states(4)[[1, 2, 5, 7, 12]]


def test_it_is_the_derivative_along_the_weights(tmp_path):
    """−d/ds log p((1 + s) θ_w, X)/d_w at s = 0 by enumeration and SciPy, to the noise of 20,000 importance samples."""
    posterior = written(tmp_path, (0,))
    sample, model = posterior.samples[0], at(unfitted(), posterior.samples[0][:2])
    found = ds.diagnostics.configurational_temperature(posterior, model, X, num_samples=20_000)
    variables = dict(model.generative.named_weights)
    names = [name for name, variable in variables.items() if 0 not in variable.shape]
    assert list(found) == names and all(np.isnan(part.standard_error) for part in found.values())

    def log_joint():
        weights = [variable.numpy().astype(np.float64) for variable in variables.values()]
        prior = sum(scipy.stats.t.logpdf(w, 2.2, scale=0.09).sum() for w in weights)
        return Oracle(model).log_likelihood(X).sum() + prior

    for name, value in zip(variables, sample.theta, strict=True):
        if name not in names:
            continue
        step, ends = 1e-2, []
        for sign in (1, -1):
            variables[name].assign(value * (1 + sign * step))
            ends.append(log_joint())
        variables[name].assign(value)
        want = -(ends[0] - ends[1]) / (2 * step) / value.size
        assert found[name].value == pytest.approx(want, rel=0.03, abs=0.05), name


def exact_draws(count, seed):
    """Draws of the biases of independent pixels given rows, N(0, 2²) a priori, by inversion on a grid; and the rows."""
    rng = np.random.default_rng(seed)
    x = (rng.random((30, 3)) < [0.2, 0.5, 0.9]).astype(np.float32)
    grid = np.linspace(-12, 12, 20_001)
    draws = []
    for ones in x.sum(0):
        log_density = ones * grid - 30 * np.logaddexp(0, grid) - grid**2 / 8
        cdf = np.cumsum(np.exp(log_density - log_density.max()))
        draws.append(np.interp(rng.random(count), cdf / cdf[-1], grid))
    return np.stack(draws, 1).astype(np.float32), x


@pytest.mark.parametrize(("stretch", "right"), [(1.0, True), (1.5, False)])
def test_exact_draws_of_a_posterior_have_temperature_1(tmp_path, stretch, right):
    """400 draws, a z-test; draws that are too wide are far off."""
    draws, x = exact_draws(400, seed=1)
    centre = draws.mean(0)
    model = ds.models.from_name("SBN", 3, prior=tfd.Normal(0.0, 2.0))
    for i, bias in enumerate(centre + stretch * (draws - centre)):
        theta = [np.zeros(variable.shape, np.float32) for variable in model.generative.trainable_variables]
        theta[-1] = bias
        write_sample(tmp_path, store.Sample(theta, [], i))
    found = ds.diagnostics.configurational_temperature(ds.posterior.load(tmp_path), model, x, num_samples=1)
    ((_, temperature),) = found.items()
    if right:
        assert_near(np.array([temperature.value]), 1.0, temperature.standard_error)
    else:
        assert temperature.value - 1 > 6 * temperature.standard_error


def test_the_metric_of_a_step():
    """−N θ·g/d of the step's own gradient, by hand."""
    model = tiny_model((2,), units=4, seed=1)
    model.compile(ds.mcmc.SGLD(learning_rate=1e-6, temperature=0.0), proposal=None, jit_compile=False)
    before = [variable.numpy().astype(np.float64) for variable in model.generative.trainable_variables]
    history = model.fit(X, batch_size=5, verbose=0, shuffle=False).history
    after = [variable.numpy().astype(np.float64) for variable in model.generative.trainable_variables]
    # the step is ℓ g: too short to change g, long enough to be seen
    product = sum(np.sum(a * (b - a)) for a, b in zip(before, after)) / 1e-6
    want = -5 * product / sum(part.size for part in before)
    assert history["configurational_temperature"][0] == pytest.approx(want, rel=0.15, abs=0.05)


def test_what_does_not_fit_is_refused(tmp_path):
    posterior = written(tmp_path, (0,))
    with pytest.raises(ValueError, match="Received: "):
        ds.diagnostics.configurational_temperature(posterior, tiny_model((3,), units=4), X)
    with pytest.raises(ValueError, match="Received: "):
        ds.diagnostics.configurational_temperature(posterior, unfitted(), X[:, :3])
    with pytest.raises(ValueError, match="Received: num_samples=0"):
        ds.diagnostics.configurational_temperature(posterior, unfitted(), X, num_samples=0)


def test_a_model_that_is_frozen_has_no_temperature(tmp_path):
    model = tiny_model((2,), units=4)
    model.generative.trainable = False
    write_sample(tmp_path, sample_of(model, 10))
    with pytest.raises(ValueError, match="weights that are learnt. Received: a model whose layers are all frozen"):
        ds.diagnostics.configurational_temperature(ds.posterior.load(tmp_path), model, X)
