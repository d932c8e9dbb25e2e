"""Which latent units tell rows apart: against sums over all states, with bounds that the draws' own laws give."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import binary_states, sigmoid, tiny_model

STATES = np.tile(binary_states(3), (3, 1))


def conditional_means(model, x):
    """E[z_l given x] under q, of both layers: the second by a sum over the states of the first."""
    (first, bias), (second, other) = ([v.numpy().astype(np.float64) for v in layer.trainable_variables]
                                      for layer in model.recognition.layers)  # fmt: skip
    chance, z = sigmoid(x @ first + bias), binary_states(first.shape[1])
    states = np.prod(np.where(z[:, np.newaxis] == 1, chance, 1 - chance), -1)
    return [chance, states.T @ sigmoid(z @ second + other)]


def errors(mean, count, halves):
    """The standard deviation of â, √Σ_i [d_i² (v_i + v_i') + v_i v_i']/(n − 1), from halves of so many draws."""
    noise = [mean * (1 - mean) / draws for draws in halves]
    spread = (mean - mean.mean(0)) ** 2 * sum(noise) + noise[0] * noise[1]
    return np.sqrt(spread.sum(0)) / (count - 1)


@pytest.mark.parametrize(
    "num_samples, batch_size", [(2, 1000), (3, 7), pytest.param(40_000, 50, marks=pytest.mark.compiled)]
)
def test_the_variance_of_posterior_means(num_samples, batch_size):
    """However few draws: their noise is in no half twice. Odd numbers of draws, and a last batch of fewer rows."""
    model = tiny_model((2, 3), seed=1)
    x = np.tile(STATES, (42, 1)) if num_samples < 4 else STATES
    found = ds.diagnostics.active_units(model, x, num_samples, seed=3, batch_size=batch_size)
    halves = num_samples // 2, num_samples - num_samples // 2
    for variance, mean in zip(found.variances, conditional_means(model, x.astype(np.float64)), strict=True):
        assert_near(variance, mean.var(0, ddof=1), errors(mean, len(x), halves))


def test_units_that_are_noise_or_stuck_are_not_active():
    """Of the first layer one unit is a fair coin, one always on, one the first column; the second reads it alone."""
    model = tiny_model((3, 1), seed=0)
    kernel = np.zeros((3, 3))
    kernel[0, 2] = 60.0
    first, second = model.recognition.layers
    for variable, value in zip(first.trainable_variables, (kernel, [0.0, 40.0, -30.0]), strict=True):
        variable.assign(value)
    for variable, value in zip(second.trainable_variables, ([[0.0], [0.0], [2.0]], [-1.0]), strict=True):
        variable.assign(value)
    x = np.tile(STATES, (167, 1))
    found = ds.diagnostics.active_units(model, x, 2, seed=1)
    assert found.counts == [1, 1] and found.variances[0][1] == 0.0
    np.testing.assert_allclose(found.variances[0][2], 0.25, rtol=1e-3)  # n/(n − 1) of it
    assert_near(found.variances[0][0], 0.0, 0.25 / np.sqrt(len(x)))
    np.testing.assert_array_less(found.standard_errors[0][:1], 0.005)
    above = ds.diagnostics.active_units(model, x, 2, threshold=0.2, seed=1)
    assert above.counts == [1, 0] and np.array_equal(above.variances[1], found.variances[1])


def test_real_units_far_from_0():
    """A mean of 10⁵ takes no digits from what stands beside it: noise stays inactive, and its errors are not 0."""
    model = ds.models.from_name("VAE 40", units=3, seed=0)
    for variable in model.recognition.trainable_variables:
        variable.assign(np.full(variable.shape, 1e5 if variable.name == "bias" else 0.0))
    found = ds.diagnostics.active_units(model, STATES, 2)
    assert found.counts == [0] and np.median(found.standard_errors[0]) > 0.1


def test_other_models():
    """Real units by their means; gaps as q sees them; none without latent layers; no Boltzmann machine."""
    gauss = ds.models.from_name("VAE 2", units=3, seed=0)
    gapped = np.where(np.arange(3) == 1, np.nan, STATES)
    assert [part.shape for part in ds.diagnostics.active_units(gauss, gapped).variances] == [(2,)]
    assert ds.diagnostics.active_units(ds.models.from_name("NADE", units=3, seed=0), STATES) == ([], [], [])
    with pytest.raises(ValueError, match="recognition network. Received: "):
        ds.diagnostics.active_units(ds.boltzmann.RBM(3, 2), STATES)


def test_standard_errors():
    """The error of a mean of products of both halves' distances from their means; of 300 dead units few pass."""
    model = tiny_model((3,), seed=1)
    x = np.random.default_rng(0).integers(0, 2, (37, 3))
    found = ds.diagnostics.active_units(model, x, 4, seed=2, batch_size=37)
    own = ds.random.fold(ds.random.stream(2, "active units"), 0)
    z = np.asarray(model.recognition.sample(x.astype(np.float32), 4, own)[0], np.float64)
    a, b = z[:2].mean(0), z[2:].mean(0)
    products = (a - a.mean(0)) * (b - b.mean(0))
    np.testing.assert_allclose(found.variances[0], np.cov(a.T, b.T)[:3, 3:].diagonal(), rtol=1e-6)
    np.testing.assert_allclose(found.standard_errors[0], products.std(0) / np.sqrt(36), rtol=1e-6)
    nothing = tiny_model((300,), scale=0.0)
    for variable in nothing.recognition.trainable_variables:
        variable.assign(np.zeros(variable.shape))
    found = ds.diagnostics.active_units(nothing, x, 2)
    assert (found.variances[0] > 0.01).sum() > 50 and found.counts[0] <= 3


@pytest.mark.parametrize("frozen", [False, True])
def test_weights_that_are_not_finite(frozen):
    """Of a run that diverged no unit is called dead."""
    model = tiny_model((2,))
    model.recognition.layers[0].kernel.assign(np.full((3, 2), np.nan))
    model.recognition.layers[0].trainable = not frozen
    with pytest.raises(ValueError, match="finite.*Received: "):
        ds.diagnostics.active_units(model, STATES)


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_samples": 1},
        {"num_samples": 2.5},
        {"num_samples": 2**31},
        {"threshold": -0.1},
        {"threshold": [[0.1], [0.2, 0.3]]},
        {"batch_size": 0},
        {"x": STATES[:19]},
        {"x": STATES[:, :2]},
    ],
)
def test_bad_arguments(arguments):
    with pytest.raises(ValueError, match="Received: "):
        ds.diagnostics.active_units(tiny_model((2,)), **{"x": STATES, **arguments})
