"""Normal layers: latent ones below binary data by quadrature, data by the exact mixture of normal laws."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.imputation.support import Pair, counts
from tests.oracles import binary_states, randomize

ROWS = 2**10


def networks_of(generative, recognition):
    found = Pair(ds.GenerativeNetwork(generative), ds.RecognitionNetwork(recognition))
    randomize(found.generative, 7, 1.0)
    randomize(found.recognition, 2, 0.2)
    return found


@pytest.mark.slow
def test_normal_latent_units():
    """A tiny variational autoencoder: p(x_missing, x_observed) by quadrature over its one latent unit; chi-square,
    false failures at most 1e-6. Without the Metropolis correction the law is that of q."""
    layers = ds.layers.MLPGaussian(1), ds.layers.MLPBernoulli(3, hidden_units=[2])
    networks = networks_of(layers, [ds.layers.MLPGaussian(1, hidden_units=[2])])
    mask = np.array([True, False, False])
    rows = np.concatenate([np.ones((4, 1)), binary_states(2)], 1).astype(np.float32)
    z = np.linspace(-8, 8, 2001, dtype=np.float32)[:, None, None]
    p = np.exp(networks.generative.log_joint(rows[None], [z]).numpy(), dtype=np.float64).sum(0)
    p /= p.sum()
    assert p.max() - p.min() > 0.2
    for method in ("metropolis", "resampling"):
        lengths = {"num_samples": 150 if method == "resampling" else 1, "burn_in": 18, "thinning": 1, "num_chains": 1}
        x = np.repeat(np.where(mask, rows[:1], np.nan), ROWS, 0)
        result = ds.imputation.impute(networks, x, method=method, seed=3, batch_size=ROWS, **lengths)
        assert_frequencies(counts(result.x, mask), p)
        assert_means(result.probabilities[:, 1:], p @ rows[:, 1:])


def test_normal_data():
    """Binary latent units: p(x_missing given x_observed) is a mixture of normal laws, by enumeration of z. Means and
    second moments of the draws, z-tests, false failures at most 1e-6; the probabilities are the conditional means."""
    layers = ds.layers.SBN(2), ds.layers.MLPGaussian(2, hidden_units=[2])
    networks = networks_of(layers, [ds.layers.SBN(2)])
    z = binary_states(2).astype(np.float32)
    law = networks.generative.layers[-1].distribution(z)
    mean, deviation = law.mean().numpy().astype(np.float64), law.stddev().numpy().astype(np.float64)
    prior = np.exp(networks.generative.layers[0].log_prob(z, np.zeros((1, 0), np.float32)).numpy())
    observed = 0.4
    posterior = prior * np.exp(-0.5 * ((observed - mean[:, 0]) / deviation[:, 0]) ** 2) / deviation[:, 0]
    posterior /= posterior.sum()
    first, second = posterior @ mean[:, 1], posterior @ (mean[:, 1] ** 2 + deviation[:, 1] ** 2)
    assert abs(first - prior @ mean[:, 1]) > 0.1, "what is observed tells nothing"
    x = np.tile([[observed, np.nan]], (ROWS, 1))
    result = ds.imputation.impute(
        networks, x, seed=1, burn_in=12, num_samples=1, num_chains=1, thinning=1, batch_size=ROWS
    )
    drawn = result.x[0].astype(np.float64)
    np.testing.assert_array_equal(result.x[0, :, 0], np.full(ROWS, observed, np.float32))
    assert_means(drawn[:, 1], first)
    assert_means(drawn[:, 1] ** 2, second)
    assert_means(result.probabilities[:, 1], first)
    assert result.probabilities[:, 1].std() < 0.9 * drawn[:, 1].std()
