"""Importance sampling against enumeration; its standard errors by their coverage."""

import resource
import sys
import warnings

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_means
from tests.oracles import Oracle, binary_states, multisets, tiny_model
from tfdsmcmc.likelihood import LowEffectiveSampleSize, importance, importance_sampling
from tfdsmcmc.likelihood.expectations import expectations
from tfdsmcmc.posterior.running_means import PredictiveAverage

X = binary_states(3)


# ---- against enumeration


def assert_unbiased(value, model, x, num_samples):
    """exp(value)/p(x) is a mean of K weights of mean 1, whose standard deviation and bound are exactly known."""
    oracle = Oracle(model)
    relative = np.exp(np.asarray(value, np.float64) - oracle.log_likelihood(x))
    assert_bounded_means(relative, 1.0, *oracle.relative_weights(x), count=num_samples)


@pytest.mark.parametrize("latent_units", [(2,), (1, 2, 2)])
@pytest.mark.compiled
def test_estimates_agree_with_enumeration(latent_units):
    """Every row, false failures at most 1e-6 by Bernstein's inequality; errors of 5 % and more are seen. The
    standard errors are near the exact ones."""
    model, num_samples = tiny_model(latent_units, seed=1, scale=0.5), 30_000
    estimate = importance_sampling(model, X, num_samples, seed=2)
    assert all(part.shape == (8,) for part in estimate[:4])
    assert_unbiased(estimate.value, model, X, num_samples)
    deviation, _ = Oracle(model).relative_weights(X)
    np.testing.assert_allclose(estimate.standard_error, deviation / np.sqrt(num_samples), rtol=0.15)
    np.testing.assert_allclose(estimate.effective_sample_size, num_samples / (1 + deviation**2), rtol=0.15)


@pytest.mark.parametrize("chunk", [1, 5, 12, 64])
def test_the_value_has_its_exact_mean_at_any_chunk(chunk):
    """E exp(value) = p(x), and E value, a lower bound of log p(x), by enumeration of all multisets of 12 draws; 12 is
    no multiple of 5 and less than 64. Many copies of a row are independent replicates; false failures at most 1e-6."""
    model, copies, num_samples = tiny_model((2,), seed=2, scale=0.7), 2**15, 12
    oracle, x = Oracle(model), X[[3]]
    counts, p = multisets(oracle.log_q(x)[:, 0], num_samples)
    values = np.log(counts @ np.exp(oracle.log_weights(x)[:, 0]) / num_samples)
    mean = p @ values
    assert mean < oracle.log_likelihood(x)[0] - 0.01
    rows = tf.constant(np.repeat(x, copies, 0), tf.float32)
    (value, _, size), _ = expectations(
        model.generative, model.recognition, rows, tf.constant(num_samples), ds.random.as_seed(3), chunk
    )
    value = value.numpy().astype(np.float64)
    assert_means(value, mean, np.sqrt(p @ (values - mean) ** 2))
    assert_unbiased(np.log(np.exp(value).mean(keepdims=True)), model, x, copies * num_samples)
    assert 1 <= np.min(size) and np.max(size) <= 12.001 and np.max(size) > 6


def test_standard_errors_are_calibrated():
    """4,096 replicates: within one standard error in 68.3 %, within two in 95.4 % of them, up to 5 binomial standard
    deviations and the skewness that K = 2,000 leaves. Catches a factor of 1.1."""
    model, copies = tiny_model((2, 1), seed=5, scale=0.5), 2**12
    x = X[[5]]
    estimate = importance_sampling(model, np.repeat(x, copies, 0), 2000, seed=6, batch_size=copies)
    z = (estimate.value - Oracle(model).log_likelihood(x)) / estimate.standard_error
    assert np.mean(np.abs(z) < 1) == pytest.approx(0.683, abs=0.04)
    assert np.mean(np.abs(z) < 2) == pytest.approx(0.954, abs=0.02)


def test_one_sample_leaves_the_error_unknown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, error, size = importance_sampling(tiny_model(), X, 1, seed=1)[:3]
    assert np.isfinite(value).all() and np.isnan(error).all()
    np.testing.assert_array_equal(size, np.ones(8))


# ---- rows, chunks and memory


def test_batches_need_not_divide_the_rows():
    """Rows of different likelihood come back in their places."""
    model = tiny_model((2,), seed=1, scale=0.7)
    assert np.abs(np.diff(Oracle(model).log_likelihood(X))).min() > 0.1
    for batch_size in (3, 8, 100):
        estimate = importance_sampling(model, X, 20_000, seed=8, batch_size=batch_size)
        assert_unbiased(estimate.value, model, X, 20_000)


def test_batches_and_chunks_have_draws_of_their_own(monkeypatch):
    model = tiny_model((2,), seed=2, scale=0.7)
    copies = np.repeat(X[[3]], 64, 0)
    values = importance_sampling(model, copies, 50, seed=9, batch_size=16, warn=False).value.reshape(4, 16)
    assert len({tuple(batch) for batch in values}) == 4
    monkeypatch.setattr(importance, "_CHUNK_ENTRIES", 16 * 3 * 8)
    again = importance_sampling(model, copies, 50, seed=9, batch_size=16, warn=False).value.reshape(4, 16)
    assert importance.chunk_size(model.generative, 16, 50) == 8 and np.any(again != values)
    mean_weight = np.exp(again, dtype=np.float64).mean()
    assert_unbiased([np.log(mean_weight)], model, X[[3]], 64 * 50)


def test_seeds_repeat_the_estimate():
    model = tiny_model()
    first = importance_sampling(model, X, 50, seed=5).value
    np.testing.assert_array_equal(first, importance_sampling(model, X, 50, seed=tf.constant([5, 0])).value)
    assert np.any(first != importance_sampling(model, X, 50, seed=6).value)


def test_memory_does_not_grow_with_the_samples():
    """100,000 draws of 100 rows of 10 units would be 400 MB an array; the peak may grow by half of that."""
    model = tiny_model((4,), units=10, seed=10, scale=0.4)
    x = np.random.default_rng(0).integers(0, 2, (100, 10))
    importance_sampling(model, x, 2000, seed=1, warn=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    estimate = importance_sampling(model, x, 100_000, seed=1)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown * (1 if sys.platform == "darwin" else 1024) < 200e6
    assert_unbiased(estimate.value, model, x, 100_000)


def test_a_chunk_fits_the_cache():
    """And a float32 sum over it keeps its digits: of 2¹⁸ terms, added one by one, some 3e-4 were lost."""
    assert importance.chunk_size(tiny_model().generative, 1, 10**6) == 2**12
    generative = tiny_model((200,), units=784).generative
    assert importance.chunk_size(generative, 100, 10**6) * 100 * 784 <= 2**20
    assert importance.chunk_size(generative, 10**6, 10) == 1
    assert importance.chunk_size(generative, 1, 5) == 8  # the next power of two


# ---- other weights


def test_other_weights_of_the_call_or_of_the_model():
    model, other = tiny_model(seed=1), tiny_model(seed=2)
    before = [variable.numpy() for variable in model.trainable_variables]
    here, there = (importance_sampling(m, X, 200, seed=3).value for m in (model, other))
    networks = other.generative, other.recognition
    weights = [[v.numpy().astype(np.float64) for v in network.trainable_variables] for network in networks]
    np.testing.assert_allclose(importance_sampling(model, X, 200, seed=3, weights=weights).value, there, rtol=1e-6)
    # the model is as it was
    for variable, value in zip(model.trainable_variables, before):
        np.testing.assert_array_equal(variable, value)
    np.testing.assert_array_equal(importance_sampling(model, X, 200, seed=3).value, here)
    # and if it moves, the compiled program sees it
    model.set_weights(other.get_weights())
    np.testing.assert_allclose(importance_sampling(model, X, 200, seed=3).value, there, rtol=1e-6)


def test_weights_of_other_shapes_are_refused():
    model = tiny_model()
    theta, phi = ([v.numpy() for v in n.trainable_variables] for n in (model.generative, model.recognition))
    for weights in (([], []), (theta[:-1], phi), (theta, phi[::-1]), ([*theta, theta[0]], phi), (phi, theta)):
        with pytest.raises(ValueError, match="^weights must .*Received: shapes"):
            importance_sampling(model, X, 10, weights=weights)


# ---- warnings and errors


def test_a_low_effective_sample_size_warns():
    """Uniform draws from 1,024 states, of which one has nearly all the posterior mass."""
    model = tiny_model((10,), scale=0.1)
    model.generative.layers[0].bias.assign(np.arange(5.0, 15.0))
    for variable in model.recognition.trainable_variables:
        variable.assign(tf.zeros_like(variable))
    with pytest.warns(LowEffectiveSampleSize, match="effective sample size is .* of 1000") as record:
        estimate = importance_sampling(model, X, 1000, seed=1)
    assert record[0].filename == __file__
    assert np.median(estimate.effective_sample_size) < 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importance_sampling(model, X, 1000, seed=1, warn=False)
        importance_sampling(tiny_model(), X, 1000, seed=1)


@pytest.mark.parametrize(
    "x", [[[0, 1, np.inf]], [[0, 1, 0.5]], np.zeros((2, 4)), np.zeros(3), np.zeros((0, 3)), None, [["0", "1", "1"]]]
)
def test_bad_data(x):
    with pytest.raises(ValueError, match="^x must .*Received: "):
        importance_sampling(tiny_model(), x, 10)


@pytest.mark.parametrize("name", ["num_samples", "batch_size"])
@pytest.mark.parametrize("count", [0, -1, 2.5, True, None, "5"])
def test_bad_counts(name, count):
    with pytest.raises(ValueError, match=f"Received: {name}="):
        importance_sampling(tiny_model(), X, **{name: count})


def test_bad_seeds():
    with pytest.raises(ValueError, match="Received: seed="):
        importance_sampling(tiny_model(), X, 10, seed=-1)


def test_without_latent_layers_it_is_exact():
    """Of one sample and of many, to a precision, and averaged over samples of the weights."""
    model = ds.models.from_name("NADE", units=3, hidden_units=2, seed=1)
    exact = ds.likelihood.exact(model, X)
    for arguments in ({"num_samples": 1}, {"num_samples": 10}, {"num_samples": 10, "standard_error": 0.1}):
        estimate = importance_sampling(model, X, **arguments)
        np.testing.assert_allclose(estimate.value, exact.value, atol=1e-5)
        np.testing.assert_array_equal(estimate.standard_error, 0.0)
        np.testing.assert_array_equal(estimate.effective_sample_size, np.inf)
    average = PredictiveAverage()
    for _ in range(2):
        average.add(estimate)
    found = average.log_likelihood()
    np.testing.assert_array_equal(found.standard_error, 0.0)
    np.testing.assert_array_equal(found.effective_sample_size, np.inf)
    with pytest.raises(ValueError, match="Received: num_samples=0"):
        importance_sampling(model, X, 0)


def test_a_row_of_density_zero_hides_no_warning():
    """Its effective sample size is NaN; those of the others are 1."""
    sizes = np.array([*[1.0] * 9, np.nan])
    estimate = importance.LogLikelihood(np.zeros(10), np.zeros(10), sizes, np.full(10, 1000))
    with pytest.warns(LowEffectiveSampleSize, match="is 1.0 of 1000"):
        importance.warn_of(estimate)
