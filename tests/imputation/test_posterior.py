"""Imputations over several θ: the mixture with the weights p(x_observed given θ_m), by enumeration."""

from typing import NamedTuple

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.imputation.support import MASKS, ROW, counts, missing, pair
from tests.oracles import randomize
from tfdsmcmc.imputation.mixture import Mixture
from tfdsmcmc.imputation.plans import Part

MASK = MASKS["some"]


class Sample(NamedTuple):
    theta: list
    phi: list


class Samples(NamedTuple):
    samples: list


def ensemble(networks):
    """Three θ of unlike laws; (posterior, the conditional laws (3, C), log p(x_observed) (3,))."""
    samples, laws, evidence = [], [], []
    for seed in (4, 20, 31):
        randomize(networks.generative, seed, 1.0)
        _, p, log_observed = missing(networks.generative, ROW, MASK)
        weights = ([v.numpy() for v in net.trainable_variables] for net in (networks.generative, networks.recognition))
        samples.append(Sample(*weights))
        laws.append(p)
        evidence.append(log_observed)
    for network in (networks.generative, networks.recognition):
        for variable in network.trainable_variables:
            variable.assign(0.0 * variable)  # the model's own weights have no part in it
    return Samples(samples), np.array(laws), np.array(evidence)


@pytest.mark.parametrize(
    ("name", "method", "weights", "continued"),
    [
        ("SBN", "gibbs", "likelihood", None),
        pytest.param("SBN", "gibbs", "equal", None, marks=pytest.mark.slow),
        ("SBN", "resampling", "likelihood", None),
        pytest.param("DARN", "gibbs", "likelihood", None, marks=pytest.mark.slow),
        ("DARN", "gibbs", "likelihood", 5),
        pytest.param("SBN", "gibbs", "equal", 5, marks=pytest.mark.slow),
    ],
)
@pytest.mark.compiled
def test_the_mixture_has_the_exact_law(name, method, weights, continued):
    """2,048 copies of a row: chi-square of the draws and z-tests of the probabilities, false failures at most 1e-6.
    The mixture with the other kind of weights is another law."""
    networks = pair(name)
    posterior, laws, evidence = ensemble(networks)
    share = np.exp(evidence - np.logaddexp.reduce(evidence)) if weights == "likelihood" else np.full(3, 1 / 3)
    exact, other = share @ laws, (np.full(3, 1 / 3) if weights == "likelihood" else np.exp(evidence)) @ laws
    assert np.abs(exact - other / other.sum()).max() > 0.04
    rows = 2**11
    x = np.repeat(np.where(MASK, ROW, np.nan)[None], rows, 0)
    lengths = {"burn_in": 10, "num_samples": 150 if method == "resampling" else 1, "num_chains": 1, "thinning": 1}
    result = ds.imputation.impute(
        networks, x, seed=1, method=method, posterior=posterior, posterior_weights=weights,
        evidence_samples=150, batch_size=rows, continued_burn_in=continued, **lengths,
    )  # fmt: skip
    assert_frequencies(counts(result.x, MASK), exact)
    completions = missing(networks.generative, ROW, MASK)[0]
    np.testing.assert_allclose(result.probabilities.mean(0), exact @ completions, atol=0.03)


def test_the_sums_are_streamed():
    """Parts at θ_1, θ_2, θ_3 whose draws name them, with log-weights of any size."""
    rows = 2**14
    log_weights = np.array([0.0, 1.3, -0.7])
    for offset in (0.0, 2000.0):
        mixture = Mixture()
        for m, log_weight in enumerate(log_weights):
            x = np.full((rows, 2, 1), m, np.float32)
            part = Part(x, np.full((rows, 1), 10.0 * m), np.full(rows, 5.0 + m), np.full(rows, 0.1 * m), None)
            mixture.add(part, np.full(rows, log_weight + offset * m), [3, m])
        result = mixture.result(True)
        w = np.exp(log_weights + offset * np.arange(3) - offset * 2)
        w /= w.sum()
        chosen = result.x[..., 0].astype(int)
        if offset:
            assert np.all(chosen == 2)
        else:
            pairs = np.bincount(chosen[:, 0] * 3 + chosen[:, 1], minlength=9)
            assert_frequencies(pairs, np.outer(w, w).ravel())
        np.testing.assert_allclose(result.probabilities[:, 0], np.full(rows, w @ [0, 10, 20]), rtol=1e-6)
        np.testing.assert_allclose(result.acceptance_rate, np.full(rows, w @ [0, 0.1, 0.2]), rtol=1e-6)
        np.testing.assert_allclose(result.effective_sample_size, np.full(rows, 1 / (w**2 / [5, 6, 7]).sum()), rtol=1e-6)


def test_posteriors_that_do_not_fit_are_refused():
    networks = pair("SBN")
    posterior, _, _ = ensemble(networks)
    x = [[np.nan, 1, 0, 1]]
    with pytest.raises(ValueError, match="Received: none"):
        ds.imputation.impute(networks, x, posterior=Samples([]))
    with pytest.raises(ValueError, match="Received: shapes"):
        ds.imputation.impute(pair("DARN"), x, posterior=posterior)


def test_rows_have_weights_of_their_own():
    """One row that only θ_1 explains, one that only θ_2 does: each takes the completions of its own θ."""
    networks = pair("SBN")
    posterior, _, _ = ensemble(networks)
    for sample, sign in zip(posterior.samples, (1.0, -1.0, 0.0)):
        for array in (*sample.theta, *sample.phi):
            array[...] = 0.0  # q is the posterior: the evidence is exact
        sample.theta[-1][...] = sign * np.array([4.0, 4.0, -4.0, 4.0])
    x = np.array([[1, 1, 0, np.nan], [0, 0, 1, np.nan]])
    lengths = {"num_chains": 300, "burn_in": 0, "num_samples": 1, "evidence_samples": 2}
    result = ds.imputation.impute(networks, x, num_imputations=300, posterior=posterior, **lengths)
    log_p = np.array([[3, -3, 3 * 0], [-3, 3, 0]])  # the signs that a row agrees with
    evidence = -np.log1p(np.exp(-4.0 * np.sign(log_p))) * (log_p != 0) * 3 - 3 * np.log(2) * (log_p == 0)
    share = np.exp(evidence - np.logaddexp.reduce(evidence, 1, keepdims=True))
    exact = share @ (1 / (1 + np.exp([-4.0, 4.0, 0.0])))
    np.testing.assert_allclose(result.probabilities[:, 3], exact, atol=1e-3)
    assert_means(result.x[:, :, 3], exact, np.sqrt(exact * (1 - exact)))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_samples_without_weight_drop_out_in_any_order(order):
    """Log-weights −∞, −3 and −2; what such a θ says of itself, nan, has no influence. With no weight at all nothing is
    known but the draws."""
    log_weights, sizes, rates = np.array([-np.inf, -3.0, -2.0]), np.array([np.nan, 6.0, 7.0]), np.array([0.0, 0.1, 0.2])
    means = np.array([np.nan, 10.0, 20.0])
    mixture, empty = Mixture(), Mixture()
    for number, m in enumerate(order):
        x = np.full((50, 2, 1), m, np.float32)
        part = Part(x, np.full((50, 1), means[m]), np.full(50, sizes[m]), np.full(50, rates[m]), None)
        mixture.add(part, np.full(50, log_weights[m]), [3, number])
        empty.add(part, np.full(50, -np.inf), [4, number])
    w = np.exp(log_weights[1:]) / np.exp(log_weights[1:]).sum()
    result = mixture.result(True)
    assert set(np.unique(result.x)) == {1.0, 2.0}
    np.testing.assert_allclose(result.probabilities, np.full((50, 1), w @ means[1:]), rtol=1e-6)
    np.testing.assert_allclose(result.acceptance_rate, np.full(50, w @ rates[1:]), rtol=1e-6)
    np.testing.assert_allclose(result.effective_sample_size, np.full(50, 1 / (w**2 / sizes[1:]).sum()), rtol=1e-6)
    assert np.isnan(empty.result(True).effective_sample_size).all()


def test_a_posterior_is_looked_at_before_the_data():
    """Complete rows and rows that do not fit do not hide one that is none, is empty or of other weights."""
    networks, other = pair("SBN"), Samples([Sample([np.zeros(2)], [np.zeros(3)])])
    for x in ([[1.0, 1, 0, 1]], "no data"):
        for posterior in ("runs/x", Samples([]), Samples(["x"]), other):
            with pytest.raises(ValueError, match="sample.*Received: "):
                ds.imputation.impute(networks, x, posterior=posterior)


@pytest.mark.parametrize(
    ("method", "weights", "runs"), [("gibbs", "likelihood", 2), ("gibbs", "equal", 1), ("resampling", "likelihood", 1)]
)
def test_a_bar_counts_the_batches_of_all_samples(method, weights, runs, capsys):
    """Three rows with gaps in batches of two, at three samples; those of the evidence count where they are runs."""
    networks = pair("SBN")
    posterior, *_ = ensemble(networks)
    x = np.array([np.where(MASK, ROW, np.nan)] * 3)
    options = {"method": method, "posterior": posterior, "posterior_weights": weights, "batch_size": 2}
    options |= {"burn_in": 1, "num_samples": 2, "evidence_samples": 2}
    silent = ds.imputation.impute(networks, x, **options)
    assert capsys.readouterr().out == ""
    told = ds.imputation.impute(networks, x, **options, verbose=1)
    assert f"{6 * runs}/{6 * runs}" in capsys.readouterr().out
    np.testing.assert_array_equal(told.x, silent.x)
