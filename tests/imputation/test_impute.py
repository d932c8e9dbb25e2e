"""Imputations against enumeration: many copies of one row are independent replicates."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.imputation.support import MASKS, ROW, counts, missing, pair
from tfdsmcmc.imputation.directed import method_for
from tfdsmcmc.rows import source_of
from tfdsmcmc.supports import Binary

impute = ds.imputation.impute
SHORT = {"burn_in": 12, "thinning": 1, "num_samples": 1, "num_chains": 1}


def replicates(networks, mask, rows, **arguments):
    """The imputations of copies of one row, in one batch; what is missing is NaN."""
    x = np.where(mask, ROW, np.nan)
    return impute(networks, np.repeat(x[None], rows, 0), batch_size=rows, **arguments)


@pytest.mark.parametrize(
    ("name", "method", "mask"),
    [
        ("SBN", "gibbs", "some"),
        ("SBN", "metropolis", "some"),
        ("DARN", "gibbs", "first in order"),
        pytest.param("DARN", "metropolis", "some", marks=pytest.mark.slow),
        ("MLPBernoulli", "gibbs", "some"),
        pytest.param("NADE", "metropolis", "first in order", marks=pytest.mark.slow),
        pytest.param("mixed", "metropolis", "first in order", marks=pytest.mark.slow),
        ("no latent layers", "gibbs", "first in order"),
    ],
)
@pytest.mark.compiled
def test_chains_reach_the_law(name, method, mask):
    """4,096 chains from noise: chi-square over the completions, false failures at most 1e-6."""
    networks, mask = pair(name), MASKS[mask]
    _, p, _ = missing(networks.generative, ROW, mask)
    assert np.abs(p - 1 / len(p)).max() > 0.06, "noise would do"
    steps = {**SHORT, "burn_in": 40} if method == "metropolis" else SHORT
    result = replicates(networks, mask, 2**12, method=method, seed=1, **steps)
    assert result.x.shape == (1, 2**12, 4) and result.x.dtype == np.float32
    assert_frequencies(counts(result.x, mask), p)
    np.testing.assert_array_equal(result.x[0][:, mask], np.repeat(ROW[None, mask], 2**12, 0))
    assert (result.acceptance_rate is None) == (method == "gibbs")


def test_the_top_layer_counts():
    """Two layers with large weights, so that z_2 decides on z_1: without moves of the top layer the law is another."""
    networks, mask = pair("SBN", seed=8, scale=1.7), np.array([False, False, False, True])
    _, p, _ = missing(networks.generative, ROW, mask)
    result = replicates(networks, mask, 2**12, seed=2, **{**SHORT, "burn_in": 40})
    assert_frequencies(counts(result.x, mask), p)


@pytest.mark.parametrize("method", ["gibbs", "resampling"])
@pytest.mark.parametrize("name", ["SBN", "DARN"])
def test_rows_with_nothing_observed_are_draws_of_the_model(name, method):
    """Exact without any burn-in."""
    networks, mask = pair(name), MASKS["all missing"]
    _, p, log_observed = missing(networks.generative, ROW, mask)
    np.testing.assert_allclose(log_observed, 0.0, atol=1e-5)
    short = {**SHORT, "burn_in": 0, "num_samples": 4 if method == "resampling" else 1}
    result = replicates(networks, mask, 2**12, method=method, seed=4, **short)
    assert_frequencies(counts(result.x, mask), p)
    if method == "resampling":
        np.testing.assert_allclose(result.effective_sample_size, np.full(2**12, 4.0), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "method", "lengths"),
    [
        ("SBN", "gibbs", 20),
        pytest.param("DARN", "gibbs", 20, marks=pytest.mark.slow),
        ("SBN", "resampling", 500),
        pytest.param("DARN", "resampling", 3000, marks=pytest.mark.slow),
    ],
)
def test_probabilities_are_the_exact_means(name, method, lengths):
    """Over 256 rows, z-tests, false failures at most 1e-6; observed entries are themselves."""
    networks, mask = pair(name), MASKS["some"]
    rows, p, _ = missing(networks.generative, ROW, mask)
    result = replicates(networks, mask, 256, method=method, num_samples=lengths, num_chains=1, burn_in=12, seed=5)
    assert_means(result.probabilities[:, ~mask], p @ rows[:, ~mask])
    assert result.probabilities[:, ~mask].std(0).max() < 0.25
    np.testing.assert_array_equal(result.probabilities[:, mask], np.repeat(ROW[None, mask], 256, 0))


@pytest.mark.slow
@pytest.mark.compiled
def test_the_effective_size_is_that_of_the_draws():
    """Means of draws of 0 and 1 for a DARN: their variance over rows is p(1 − p)/N_eff, to a quarter; Metropolis chains
    have fewer effective states than Gibbs sampling, and both fewer than the sweeps. Probabilities are these means, by
    Gibbs sampling those of what the draws were made with, which are worth more."""
    networks, mask = pair("DARN"), MASKS["some"]
    rows, p, _ = missing(networks.generative, ROW, mask)
    mean = p @ rows[:, ~mask]
    found = {}
    for method in ("gibbs", "metropolis"):
        lengths = {"num_imputations": 600, "num_samples": 300, "num_chains": 2, "burn_in": 20, "thinning": 1}
        result = replicates(networks, mask, 512, method=method, seed=6, **lengths)
        means = result.x.mean(0)[:, ~mask]
        found[method] = result.effective_sample_size.mean()
        assert np.all(result.effective_sample_size <= 600)
        worth = (mean * (1 - mean) / means.var(0)).min()
        assert 0.4 < found[method] / worth < 2.5, (method, found, worth)
        if method == "metropolis":
            np.testing.assert_allclose(result.probabilities[:, ~mask], means, atol=1e-6)
        else:
            assert np.all(result.probabilities[:, ~mask].var(0) < means.var(0) / 2)
    assert found["metropolis"] < 0.8 * found["gibbs"]


def test_what_stands_under_the_mask_has_no_influence():
    """Bit for bit: NaN, the truth, or no number of the data at all; with NaN the mask may be left out."""
    networks = pair("DARN")
    x = np.random.default_rng(0).integers(0, 2, (5, 4)).astype(np.float64)
    mask = np.random.default_rng(2).random((5, 4)) < 0.5
    mask[0], mask[1] = True, False
    for method in ("gibbs", "metropolis", "resampling"):
        arguments = {"method": method, "num_imputations": 3, "burn_in": 1, "num_samples": 2, "thinning": 1, "seed": 3}
        want = impute(networks, np.where(mask, x, np.nan), **arguments)
        for hidden in (x, np.full_like(x, np.inf)):
            found = impute(networks, np.where(mask, x, hidden), mask, **arguments)
            for one, other in zip(found, want):
                np.testing.assert_array_equal(one, other)
        assert want.x.shape == (3, 5, 4) and set(np.unique(want.x)) == {0.0, 1.0}
        np.testing.assert_array_equal(want.x[:, mask], np.repeat(x[mask][None], 3, 0))
        np.testing.assert_array_equal(want.probabilities[mask], x[mask])
        assert np.isinf(want.effective_sample_size[0]) and np.isfinite(want.effective_sample_size[1:]).all()
        assert not np.array_equal(want.x, impute(networks, x, mask, **{**arguments, "seed": 5}).x)
        again = impute(networks, x, mask, **{**arguments, "seed": ds.random.as_seed(3)})
        np.testing.assert_array_equal(want.x, again.x)


def test_nothing_missing():
    networks, x = pair("SBN"), np.eye(4)
    for method in ("gibbs", "metropolis", "resampling"):
        result = impute(networks, x, num_imputations=2, method=method)
        np.testing.assert_array_equal(result.x, np.stack([x, x]))
        np.testing.assert_array_equal(result.probabilities, x)
        assert np.isinf(result.effective_sample_size).all()
        assert result.acceptance_rate is None or np.isnan(result.acceptance_rate).all()


def test_batches_are_padded_and_rows_keep_their_places():
    """Five rows in batches of three: each row meets its own law, by its means over 400 imputations."""
    networks = pair("SBN")
    x = np.array([[np.nan, *row] for row in np.random.default_rng(3).integers(0, 2, (5, 3))])
    lengths = {"burn_in": 8, "thinning": 5, "num_samples": 1, "num_chains": 200}
    result = impute(networks, x, num_imputations=400, batch_size=3, seed=2, **lengths)
    exact = [missing(networks.generative, row, ~np.isnan(row))[1][1] for row in x]
    assert np.ptp(exact) > 0.03
    assert_means(result.x[:, :, 0], exact)
    np.testing.assert_allclose(result.probabilities[:, 0], exact, atol=0.03)
    np.testing.assert_array_equal(result.x[:, :, 1:], np.repeat(x[None, :, 1:], 400, 0))


def test_imputations_of_several_chains_are_independent_and_come_in_turn():
    """Four imputations of two chains: one from each chain, a pair agrees as often as independent draws do."""
    networks, mask = pair("SBN"), MASKS["some"]
    result = replicates(networks, mask, 2**11, num_imputations=4, seed=9, **{**SHORT, "num_chains": 2})
    assert result.x.shape == (4, 2**11, 4)
    _, p, _ = missing(networks.generative, ROW, mask)
    for pair_of_chains in ((0, 1), (2, 3), (0, 3), (1, 2)):
        a, b = (result.x[i][:, ~mask] for i in pair_of_chains)
        assert_means((a == b).all(1), (p**2).sum())


@pytest.mark.parametrize(
    ("name", "method"),
    [
        pytest.param("SBN", "gibbs", marks=pytest.mark.slow),
        pytest.param("DARN", "gibbs", marks=pytest.mark.slow),
        pytest.param("DARN", "metropolis", marks=pytest.mark.slow),
        pytest.param("DARN", "resampling", marks=pytest.mark.slow),
    ],
)
def test_xla_changes_nothing(name, method):
    """The compiled program gives the same draws, with a sweep of the data layer or its sequential draws."""
    networks = pair(name)
    x = np.array([[1, np.nan, 0, np.nan], [np.nan, 1, 1, 0]])
    arguments = {"method": method, "burn_in": 3, "num_samples": 4, "num_imputations": 5, "num_chains": 2, "seed": 1}
    plain = impute(networks, x, **arguments)
    tf.config.run_functions_eagerly(False)
    networks.uses_xla = True
    compiled = impute(networks, x, **arguments)
    np.testing.assert_array_equal(plain.x, compiled.x)
    np.testing.assert_allclose(plain.probabilities, compiled.probabilities, rtol=1e-5)
    np.testing.assert_allclose(plain.effective_sample_size, compiled.effective_sample_size, rtol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"num_imputations": 0}, "num_imputations must be"),
        ({"burn_in": -1}, "burn_in must be"),
        ({"thinning": 0}, "thinning must be"),
        ({"num_samples": 0}, "num_samples must be"),
        ({"num_chains": 0}, "num_chains must be"),
        ({"evidence_samples": 0}, "evidence_samples must be"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"burn_in": 2**31}, "burn_in [+] num_samples [+] num_imputations · thinning, in sweeps, must be below"),
        ({"num_imputations": 2**16, "thinning": 2**15}, "burn_in [+] num_samples"),
        ({"continued_burn_in": 2**31}, "burn_in [+] num_samples"),
        ({"evidence_samples": 2**31}, "evidence_samples must be below 2.31"),
        ({"method": "mean"}, "method is one of"),
        ({"posterior_weights": "flat"}, "posterior_weights is one of"),
        ({"mask": np.ones((2, 3))}, r"mask must have the shape \(2, 4\)"),
        ({"mask": np.full((2, 4), 0.5)}, "mask has True where an entry is observed"),
        ({"x": [[0, 1, 0.5, np.nan]]}, "x must be binary"),
        ({"x": [[0, 1, np.inf, np.nan]]}, "x must be finite"),
        ({"x": np.zeros((2, 3))}, r"x must have the shape \(rows, 4\)"),
        ({"x": [["a", "b", "c", "d"]], "mask": np.ones(4)}, "x must be an array of real numbers"),
        ({"x": [[0, 1, np.nan, 0]], "mask": [[True, True, True, False]]}, "x must be known where mask is True"),
        ({"seed": -1}, "An integer seed lies in"),
        ({"mask": [[1, 0], [1]]}, "mask must be an array"),
        ({"x": [["0", "1", "1", "0"]], "mask": np.ones(4)}, "x must be an array of real numbers"),
        (
            {"x": np.ma.array(np.zeros((2, 4)), mask=[[0, 0, 1, 0]] * 2), "mask": np.ones(4)},
            "x must be known where mask is True",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, reason):
    with pytest.raises(ValueError, match=f"^{reason}.*Received: "):
        impute(pair("SBN"), **{"x": np.zeros((2, 4)), **arguments})


def test_auto_follows_the_layers():
    for name in ("SBN", "DARN", "MLPBernoulli", "no latent layers", "NADE", "mixed"):
        want = "metropolis" if name in ("NADE", "mixed") else "gibbs"
        assert method_for(pair(name).generative, "auto") == want
    normal = ds.GenerativeNetwork([ds.layers.MLPGaussian(2), ds.layers.MLPBernoulli(4, hidden_units=[2])])
    assert method_for(normal, "auto") == "metropolis"
    with pytest.raises(ValueError, match="binary latent layers. Received: "):
        method_for(normal, "gibbs")


@pytest.mark.parametrize("method", ["gibbs", "resampling"])
def test_rows_from_anywhere(method):
    """A source of rows and a dataset, whatever its batches, under a mask too: the draws are those of the array."""
    networks = pair("SBN")
    x = np.random.default_rng(1).integers(0, 2, (5, 4)).astype(np.float32)
    x[[0, 2, 2, 4], [1, 0, 3, 2]] = np.nan
    arguments = {"method": method, "num_imputations": 2, "burn_in": 1, "num_samples": 2, "thinning": 1, "seed": 3}
    want = impute(networks, x, **arguments)
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(2)
    for rows in (source_of("x", x, 4, Binary()), dataset):
        for one, other in zip(impute(networks, rows, **arguments), want):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(ValueError, match="^x must be known where mask is True. Received: 4 such entries"):
            impute(networks, rows, np.ones((5, 4)), **arguments)
    whole, mask = np.nan_to_num(x), ~np.isnan(x)
    for rows in (source_of("x", whole, 4, Binary()), tf.data.Dataset.from_tensor_slices(whole).batch(2)):
        for one, other in zip(impute(networks, rows, mask, **arguments), want):
            np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"^x .*Received: "):
        impute(networks, source_of("rows", x[:, :3], 3, Binary()))
    with pytest.raises(ValueError, match=r"^x must have at least one row. Received: an empty dataset"):
        impute(networks, dataset.take(0))
