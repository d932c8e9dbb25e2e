"""The three averages over posterior samples, against enumeration of a tiny model's states."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_near
from tests.oracles import Oracle, binary_states, sigmoid, state_numbers, tiny_model
from tests.posterior.support import at, means, sample_of, unfitted, written
from tfdsmcmc.posterior.averages import unit_average_of

STATES = binary_states(4).astype(np.float32)
CHAINS = (0, 0, 1, 0, 1)
PLACES = ([0, 1, 3], [2, 4])
AVERAGES = ("units", "draws", "weights")


def unit_average(samples):
    """log p̄(x) of all 16 rows: layer by layer and unit by unit, over the states of two latent units, in NumPy."""
    z = binary_states(2)

    def averaged(parents, kernel, bias):
        return np.mean([sigmoid(parents @ s.theta[kernel].astype(np.float64) + s.theta[bias]) for s in samples], 0)

    top, data = averaged(np.zeros((1, 0)), 0, 1), averaged(z, 2, 3)
    prior = np.prod(np.where(z > 0, top, 1 - top), -1)
    likelihood = np.prod(np.where(STATES[:, None] > 0, data, 1 - data), -1)
    return np.log(likelihood @ prior)


def expected(posterior, average):
    """log p of all rows under an average."""
    samples = list(posterior.samples)
    if average == "draws":
        parts = [Oracle(at(unfitted(), sample[:2])).log_likelihood(STATES) for sample in samples]
    elif average == "weights":
        chains = [[samples[i] for i in places] for places in PLACES]
        parts = [Oracle(at(unfitted(), means(chain))).log_likelihood(STATES) for chain in chains]
    else:
        parts = [unit_average([samples[i] for i in places]) for places in PLACES]
    return np.logaddexp.reduce(parts, 0) - np.log(len(parts))


@pytest.fixture
def posterior(tmp_path):
    return written(tmp_path, CHAINS)


@pytest.fixture
def model():
    return unfitted()


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("estimator", ["importance sampling", "annealing"])
def test_each_average_meets_enumeration(posterior, model, average, estimator):
    """z-tests of 16 rows at 10⁻⁶ of the stated errors; the other averages are more than ten errors away somewhere."""
    before = model.get_weights()
    if estimator == "annealing":
        options = {"num_steps": 20, "num_runs": 400, "batch_size": 16}
        found = posterior.annealed_log_likelihood(model, STATES, 2, average, **options)
    else:
        found = posterior.log_likelihood(model, STATES, 3000, seed=2, average=average)
    exact = {name: expected(posterior, name) for name in AVERAGES}
    assert_near(found.value, exact[average], found.standard_error)
    np.testing.assert_allclose(np.exp(exact[average]).sum(), 1.0, atol=1e-9)
    for name in set(exact) - {average}:
        assert np.max(np.abs(exact[name] - found.value) / found.standard_error) > 10, name
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("average", AVERAGES)
def test_samples_and_imputations_are_of_the_average(posterior, model, average):
    """Frequencies of 16 states, and of the four completions of a row, by a chi-square test at 10⁻⁶."""
    probabilities = np.exp(expected(posterior, average))
    drawn = model.sample(20_000, seed=1, posterior=posterior, average=average)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), probabilities)
    row = np.array([[1, np.nan, np.nan, 0]], np.float32)
    options = {"method": "resampling", "num_samples": 4000, "posterior": posterior, "average": average}
    x = model.impute(row, num_imputations=2000, seed=2, **options)[:, 0]
    assert np.all(x[:, [0, 3]] == [1, 0])
    agree = (STATES[:, [0, 3]] == [1, 0]).all(1)
    wanted = np.where(agree, probabilities, 0)
    kept = np.flatnonzero(agree)
    assert_frequencies(np.bincount(state_numbers(x), minlength=16)[kept], wanted[kept] / wanted.sum())
    means_of_x = model.impute(row, seed=2, probabilities=True, **options)[0]
    exact = (STATES * wanted[:, None]).sum(0) / wanted.sum()
    np.testing.assert_allclose(means_of_x, exact, atol=0.05)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("method", ["gibbs", "metropolis"])
def test_chains_impute_under_units_averaged(posterior, method):
    """Means of what is missing by long chains, within 0.016 of the exact ones, some five standard errors; those of the
    average over draws are twice as far away."""
    model = tiny_model((2,), units=4)
    row = np.array([[1, np.nan, np.nan, 0]], np.float32)
    agree = (STATES[:, [0, 3]] == [1, 0]).all(1)

    def mean_of(average):
        wanted = np.where(agree, np.exp(expected(posterior, average)), 0)
        return (STATES * wanted[:, None]).sum(0) / wanted.sum()

    options = {"method": method, "num_samples": 20_000, "num_chains": 20, "evidence_samples": 4000}
    found = model.impute(row, seed=3, probabilities=True, posterior=posterior, average="units", **options)[0]
    np.testing.assert_allclose(found, mean_of("units"), atol=0.016)
    assert np.abs(mean_of("units") - mean_of("draws")).max() > 0.032


def test_the_start_is_the_mixture_of_what_warm_starts_left(posterior, model):
    """Against enumeration, z-tests at 10⁻⁶; parts have the starts of their chains, and what has none is refused."""
    with pytest.raises(ValueError, match="Received: average='start'"):
        posterior.log_likelihood(model, STATES, average="start")
    posterior.starts = [sample_of(tiny_model((2,), units=4, seed=20 + c), 5)._replace(chain=c) for c in range(2)]
    parts = [Oracle(at(unfitted(), sample[:2])).log_likelihood(STATES) for sample in posterior.starts]
    found = posterior.log_likelihood(model, STATES, 3000, seed=2, average="start")
    assert_near(found.value, np.logaddexp(*parts) - np.log(2), found.standard_error)
    own = posterior.chain(1).thin(2).log_likelihood(model, STATES, 3000, seed=2, average="start")
    assert_near(own.value, parts[1], own.standard_error)
    drawn = model.sample(20_000, seed=1, posterior=posterior, average="start")
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), np.exp(parts).mean(0))
    with pytest.raises(ValueError, match="Received: average='start'"):
        posterior.curve(model, STATES, average="start")


def test_one_draw_of_one_chain_is_the_plain_model_whatever_the_average(tmp_path, model):
    posterior = written(tmp_path, (0,))
    found = [posterior.log_likelihood(model, STATES, 50, seed=3, average=name).value for name in AVERAGES]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_array_equal(found[1], found[2])


def test_the_default_is_the_posteriors_own(posterior, model):
    """The mean of each chain's weights where nothing was chosen; parts keep what the whole has."""
    assert posterior.average == posterior.chain(0).average == posterior[-1:].average == "weights"
    posterior.average = "units"
    assert posterior.chain(1).average == posterior.thin(2).average == "units"
    found = posterior.log_likelihood(model, STATES, 50, seed=3).value
    np.testing.assert_array_equal(found, posterior.log_likelihood(model, STATES, 50, 3, average="units").value)


def test_networks_of_averages_are_made_once(posterior, model):
    """For each number of draws one, whose programs serve all chains and calls; a frozen layer keeps its own weights."""
    assert unit_average_of(model, 3) is unit_average_of(model, 3)
    assert unit_average_of(model, 3) is not unit_average_of(model, 2)
    assert [part.model for part in posterior.components(model, "units")] == [
        unit_average_of(model, 3), unit_average_of(model, 2)
    ]  # fmt: skip
    other = tiny_model((2,), units=4)
    other.generative.layers[0].trainable = False
    other.generative.layers[0].bias.assign([7.0, -7.0])
    top = unit_average_of(other, 3).generative.layers[0]
    np.testing.assert_allclose(top.distribution(tf.zeros([0])).mean(), sigmoid([7.0, -7.0]), rtol=1e-4)
    other.generative.layers[0].bias.assign([-7.0, 7.0])
    unit_average_of(other, 3)
    np.testing.assert_allclose(top.distribution(tf.zeros([0])).mean(), sigmoid([-7.0, 7.0]), rtol=1e-4)


def test_another_average_is_refused_by_name(posterior, model):
    for call in (
        lambda: posterior.log_likelihood(model, STATES, average="unit"),
        lambda: posterior.annealed_log_likelihood(model, STATES, average=1),
        lambda: posterior.curve(model, STATES, average="all"),
        lambda: posterior.sample(model, 3, average="all"),
        lambda: model.sample(3, posterior=posterior, average="all"),
        lambda: model.sample(3, average="units"),
        lambda: model.sample(3, posterior=posterior, probabilities=True, num_averaged=2),
        lambda: model.impute(STATES, average="units"),
        lambda: model.impute(STATES, posterior=posterior, average="all"),
        lambda: posterior.log_likelihood(tiny_model((3,), units=4), STATES, average="units"),
        lambda: ds.imputation.impute(model, STATES, posterior=_Bare(posterior.samples), average="units"),
    ):
        with pytest.raises(ValueError, match="Received: "):
            call()


class _Bare:
    def __init__(self, samples):
        self.samples = samples


@pytest.mark.compiled
@pytest.mark.parametrize("average", ["units", "weights"])
def test_compiled_it_is_the_same(posterior, average):
    models = [tiny_model((2,), units=4) for _ in range(2)]
    for model, jit in zip(models, (False, True)):
        model.compile(kernel="sgld", proposal=None, jit_compile=jit)
    found = [posterior.log_likelihood(model, STATES, 40, 1, average=average).value for model in models]
    np.testing.assert_allclose(*found, rtol=1e-4)
