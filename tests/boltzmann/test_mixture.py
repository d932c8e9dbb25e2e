"""Mixtures of Bernoulli products: densities by enumeration, a climb that never falls, the contract of steps."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.conformance.steps import run_step_test
from tests.oracles import binary_states, log_sum, state_numbers
from tfdsmcmc.boltzmann.mixture.expectation_maximisation import ExpectationMaximisation
from tfdsmcmc.rows import ArraySource, Rows

ROWS = np.random.default_rng(0).integers(0, 2, (11, 3)).astype(np.uint8)
LOG_SHARES = np.log([0.2, 0.5, 0.3]).astype(np.float32)
LOGITS = np.random.default_rng(1).normal(0, 2, (3, 4)).astype(np.float32)


def mixture_of(log_shares=LOG_SHARES, logits=LOGITS, **arguments):
    mixture = ds.boltzmann.MixtureOfBernoullis(logits.shape[1], len(logits), **arguments)
    mixture.log_shares.assign(log_shares)
    mixture.logits.assign(logits)
    return mixture


def log_law(mixture):
    """log p of every state, float64."""
    v, means = binary_states(mixture.units), 1 / (1 + np.exp(-mixture.logits.numpy().astype(np.float64)))
    given = np.prod(np.where(v[:, None] == 1, means, 1 - means), 2)
    return np.log(given @ np.exp(mixture.log_shares.numpy().astype(np.float64)))


def test_densities_and_samples():
    """Against enumeration; frequencies of 20,000 draws by a chi-square test."""
    mixture, v = mixture_of(), binary_states(4)
    truth = log_law(mixture)
    assert log_sum(truth) == pytest.approx(0, abs=1e-6)
    found = mixture.log_likelihood(v, batch_size=7)
    np.testing.assert_allclose(found.value, truth, rtol=1e-5)
    assert not found.standard_error.any() and np.isinf(found.effective_sample_size).all()
    assert_frequencies(np.bincount(state_numbers(mixture.sample(20_000, seed=2)), minlength=16), np.exp(truth))
    assert set(mixture.sample(50, probabilities=True)[:, 0]) <= set(mixture.means[:, 0])
    np.testing.assert_allclose(mixture.shares, [0.2, 0.5, 0.3], rtol=1e-6)


def penalised(mixture, rows, smoothing, concentration):
    means = mixture.means.astype(np.float64)
    penalty = smoothing * (np.log(means) + np.log1p(-means)).sum() + concentration * np.log(mixture.shares).sum()
    return mixture.log_likelihood(rows).value.sum() + penalty


def test_each_pass_climbs():
    """From a bad start, in minibatches that do not divide the rows; towards what no pass moves any more."""
    mixture = mixture_of(LOG_SHARES, LOGITS[:, :3], smoothing=0.3, concentration=0.7)
    mixture.compile(jit_compile=False)
    heights = [penalised(mixture, ROWS, 0.3, 0.7)]
    for epoch in range(30):
        before = mixture.log_likelihood(ROWS).value
        history = mixture.fit(ROWS, batch_size=4, epochs=epoch + 1, initial_epoch=epoch, verbose=0)
        heights.append(penalised(mixture, ROWS, 0.3, 0.7))
    assert np.all(np.diff(heights) > -1e-4) and heights[-1] > heights[0] + 1
    assert history.history["log_likelihood"][0] == pytest.approx(before.mean(), abs=0.3)  # batches of 4, 4 and 3 rows
    # a fixed point of the two equations, in float64
    v, mean = ROWS.astype(np.float64), mixture.means.astype(np.float64)
    joint = np.log(mixture.shares) + v @ np.log(mean).T + (1 - v) @ np.log1p(-mean).T
    r = np.exp(joint - log_sum(joint, 1)[:, None])
    np.testing.assert_allclose(mixture.shares, (r.sum(0) + 0.7) / (11 + 2.1), atol=0.03)
    np.testing.assert_allclose(mean, (r.T @ v + 0.3) / (r.sum(0)[:, None] + 0.6), atol=0.03)


def test_one_component_is_the_means_of_the_columns():
    mixture = ds.boltzmann.MixtureOfBernoullis(3, 1, smoothing=0.5)
    mixture.fit(ROWS, batch_size=4, epochs=1, verbose=0)
    np.testing.assert_allclose(mixture.means[0], (ROWS.sum(0) + 0.5) / 12, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.compiled
def test_the_contract_of_steps():
    def make():
        return ExpectationMaximisation(mixture_of(logits=LOGITS[:, :3]), 0.5, 1.0)

    run_step_test(make, ArraySource(Rows(ROWS)))


def test_a_file_and_several_starts(tmp_path):
    mixture = ds.boltzmann.MixtureOfBernoullis(3, 2, seed=4)
    mixture.compile(jit_compile=False, num_chains=2)
    history = mixture.fit(ROWS, batch_size=4, epochs=2, validation_data=ROWS, verbose=0).history
    assert history["val_log_likelihood"][-1] == pytest.approx(mixture.log_likelihood(ROWS).value.mean(), rel=1e-5)
    first, second = mixture.run.weights
    assert np.any(first[1] != second[1])
    mixture.save(tmp_path / "mixture.keras")
    loaded = keras.saving.load_model(tmp_path / "mixture.keras")
    for each in (mixture, loaded):
        each.fit(ROWS, batch_size=4, epochs=3, initial_epoch=2, verbose=0)
    np.testing.assert_array_equal(mixture.logits.numpy(), loaded.logits.numpy())


def frozen(mixture, name):
    (mixture if name is None else getattr(mixture, name)).trainable = False
    return mixture


BAD = {
    "units": lambda: ds.boltzmann.MixtureOfBernoullis(0, 2),
    "components": lambda: ds.boltzmann.MixtureOfBernoullis(3, 0),
    "smoothing": lambda: ds.boltzmann.MixtureOfBernoullis(3, 2, smoothing=0),
    "concentration": lambda: ds.boltzmann.MixtureOfBernoullis(3, 2, concentration=-1),
    "width": lambda: mixture_of().fit(ROWS, verbose=0),
    "frozen": lambda: frozen(mixture_of(), None).fit(np.zeros((4, 4)), verbose=0),
    "frozen in part": lambda: frozen(mixture_of(), "logits").fit(np.zeros((4, 4)), verbose=0),
    "gaps": lambda: mixture_of().fit(np.full((2, 4), np.nan), verbose=0),
    "no pass": lambda: mixture_of().fit(np.zeros((4, 4)), steps_per_epoch=1, verbose=0),
    "weights": lambda: mixture_of(logits=LOGITS * np.nan).log_likelihood(np.zeros((1, 4))),
    "samples": lambda: mixture_of().sample(0),
    "a call": lambda: mixture_of()(np.zeros((1, 4))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()


def test_the_metric_is_the_mean_over_the_rows_however_few_the_last_batch_has():
    mixture = mixture_of()
    x = np.random.default_rng(3).integers(0, 2, (5, mixture.units)).astype(np.float32)
    exact = float(mixture.log_likelihood(x).mean())
    history = mixture.fit(x, batch_size=4, epochs=1, verbose=0).history
    assert history["log_likelihood"][0] == pytest.approx(exact, rel=1e-5)
