"""The table: ArviZ's numbers of the right axes, and what is said below it."""

import arviz
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import unfitted, written


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def autoregressive(rng, chains, draws, rho):
    """Chains z_t = ρ z_{t−1} + e_t, started in their law of mean 0 and variance 1."""
    noise = rng.normal(size=(chains, draws)) * np.sqrt(1 - rho**2)
    z = np.empty_like(noise)
    z[:, 0] = rng.normal(size=chains)
    for t in range(1, draws):
        z[:, t] = rho * z[:, t - 1] + noise[:, t]
    return z


def test_the_effective_sample_size_of_an_autoregression(rng):
    """n(1 − ρ)/(1 + ρ) = 8000/19 for the mean. Draws in another order, or chains taken for draws, give 8,000."""
    trace = {"slow": autoregressive(rng, 4, 2000, 0.9), "white": autoregressive(rng, 4, 2000, 0.0)}
    table = ds.diagnostics.summary(trace)
    assert table.loc["slow", "ess_bulk"] == pytest.approx(8000 / 19, rel=0.3)
    assert table.loc["white", "ess_bulk"] == pytest.approx(8000, rel=0.15)
    assert table.loc["slow", "mcse_mean"] == pytest.approx(np.sqrt(19 / 8000), rel=0.25)
    assert table.loc["slow", "sd"] == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("scale", [1e-20, 1e-15, 1e20])
def test_errors_scale_as_draws_do(scale, rng):
    trace = autoregressive(rng, 2, 400, 0.9)
    table = ds.diagnostics.summary({"one": trace, "scaled": scale * trace})
    for name, power in {"mean": 1, "sd": 1, "mcse_mean": 1, "ess_bulk": 0, "ess_tail": 0, "r_hat": 0}.items():
        assert table.loc["scaled", name] == pytest.approx(scale**power * table.loc["one", name], rel=1e-6, abs=0.0)


def test_chains_that_differ_are_seen_and_draws_that_differ_are_not(capsys, rng):
    """Of a square array of chains with means of their own the transpose would look perfect."""
    apart = rng.normal(size=(40, 40)) + 3 * rng.normal(size=(40, 1))
    table = ds.diagnostics.summary({"apart": apart, "swapped": apart.T.copy()})
    assert table.loc["apart", "r_hat"] > 2 and table.loc["swapped", "r_hat"] < 1.05
    assert "R̂ above 1.01: apart" in capsys.readouterr().out


def test_chains_on_disk_keep_their_draws(tmp_path, rng):
    """From the files to the table: two chains in turn, one two deviations higher."""
    chains = rng.permutation(np.repeat([0, 1], 12))

    def change(i, sample):
        sample.theta[-1][0] = rng.normal() + 4 * chains[i]

    model = unfitted()
    name = f"{model.generative.named_weights[-1][0]}[0]"
    trace = ds.diagnostics.trace(written(tmp_path, chains, change=change), model, weights=name)
    assert trace[name].shape == (2, 12)
    assert ds.diagnostics.summary(trace).loc[name, "r_hat"] > 1.5
    assert abs(np.diff(trace[name].mean(1))[0] - 4) < 5 * np.sqrt(2 / 12)


def test_the_columns_are_those_of_arviz(rng):
    trace = {"a": autoregressive(rng, 3, 100, 0.5), "b[1, 2]": autoregressive(rng, 3, 100, 0.0)}
    expected = arviz.summary(trace, round_to="none")
    table = ds.diagnostics.summary(trace)
    assert list(table.columns) == ["mean", "sd", "mcse_mean", "ess_bulk", "ess_tail", "r_hat"]
    np.testing.assert_allclose(table, expected.loc[list(trace), table.columns], rtol=1e-6)


def test_one_chain_is_compared_with_itself(capsys, rng):
    """R̂ of its halves sees a drift; it is said what R̂ is."""
    drift = rng.normal(size=(1, 300)) + np.linspace(0, 3, 300)
    table = ds.diagnostics.summary({"drift": drift, "still": rng.normal(size=(1, 300)), "constant": np.ones((1, 300))})
    printed = capsys.readouterr().out
    assert table.loc["drift", "r_hat"] > 1.2 > 1.02 > table.loc["still", "r_hat"]
    assert np.isnan(table.loc["constant", "r_hat"]) and table.loc["constant", "sd"] == 0
    for words in ("The quarters of the chain differ.", "effective draws a chain: drift.", "in a chain: constant."):
        assert words in printed
    assert "its four quarters" in printed
    shifted = rng.normal(size=(1, 400)) + np.tile(np.repeat([1.0, 0.0], 100), 2)  # the halves are alike
    found = ds.diagnostics.summary({"a": shifted}).loc["a", "r_hat"]
    assert found > 1.1 and found == pytest.approx(arviz.rhat(shifted.reshape(2, 200)))


def test_what_is_fine_is_said_to_be(capsys):
    ds.diagnostics.summary({"white": np.random.default_rng(0).normal(size=(2, 2000))})
    printed = capsys.readouterr().out
    assert "R̂ is at most 1.01" in printed and "split" not in printed and "Fewer" not in printed


def test_long_lists_are_cut(capsys, rng):
    ds.diagnostics.summary({f"w{i}": autoregressive(rng, 2, 20, 0.9) for i in range(11)})
    assert "w7 and 3 more" in capsys.readouterr().out


def test_other_arrays_are_refused():
    unequal = {"a": np.ones((1, 9)), "b": np.ones((2, 9))}
    ragged, words = {"a": [[1.0] * 9, [1.0] * 8]}, {"a": [["x"] * 9]}
    for trace, reason in (
        ({}, "A trace is a dict.*Received: an empty dict"),
        ([1.0], "A trace is a dict.*Received: list"),
        ({"a": np.ones(9)}, r"arrays \(chains, draws\), all of one shape.*Received: shapes \[\(9,\)\]"),
        ({"a": np.ones((1, 3))}, r"8 draws or more. Received: shapes \[\(1, 3\)\]"),
        (unequal, r"all of one shape.*Received: shapes \[\(1, 9\), \(2, 9\)\]"),
        (ragged, "arrays of numbers.*Received: .*inhomogeneous"),
        (words, "arrays of numbers.*Received: entries of type <U1"),
        ({"a": np.ma.masked_less(np.arange(9.0)[np.newaxis], 2)}, "arrays of numbers.*Received: masked entries"),
        ({"a": [np.ma.masked_less(np.arange(9.0), 2)] * 2}, "arrays of numbers.*Received: masked entries"),
        ({"a": np.ones((1, 9)) * 1j}, "arrays of numbers.*Received: complex numbers"),
    ):
        with pytest.raises(ValueError, match=reason):
            ds.diagnostics.summary(trace)


@pytest.mark.parametrize("value", [np.nan, -np.inf, np.inf])
def test_traces_that_are_not_finite_have_a_line_of_their_own(value, capsys, rng):
    trace = {"white": rng.normal(size=(2, 2000)), 7: rng.normal(size=(2, 2000))}
    trace[7][1, 5] = value
    table = ds.diagnostics.summary(trace)
    printed = capsys.readouterr().out
    assert "Not finite: 7." in printed and "Constant" not in printed and "at most" not in printed
    assert table.loc[7].isna().all() and table.loc["white"].notna().all()


def test_a_chain_that_is_stuck_is_no_good_news(capsys):
    ds.diagnostics.summary({"a": np.ones((2, 500))})
    printed = capsys.readouterr().out
    assert "Constant in a chain: a." in printed and "at most" not in printed


def test_one_chain_of_two_that_is_stuck_is_no_good_news(capsys):
    """Beside a chain that moved for one draw, R̂ is 1 to three digits."""
    for chains, draws in ((2, 400), (1, 401)):  # of one chain the halves leave out the draw in the middle
        trace = np.zeros((chains, draws))
        trace[0, 200] = 1.0
        ds.diagnostics.summary({"a": trace})
        printed = capsys.readouterr().out
        assert "Constant in a chain: a." in printed and "at most" not in printed


def test_runs_that_started_otherwise_are_further_chains(capsys):
    """Two that agree within, and not with each other: R̂ sees it; the longer one is cut to its last draws."""
    rng = np.random.default_rng(0)
    cold, warm = rng.normal(size=(2, 300)), 5 + rng.normal(size=(2, 400))
    warm[:, :100] += 1e6
    alone = [ds.diagnostics.summary({"a": each}).loc["a", "r_hat"] for each in (cold, warm[:, 100:])]
    assert max(alone) < 1.05
    table = ds.diagnostics.summary({"a": warm}, {"a": cold})
    assert table.loc["a", "r_hat"] > 1.5 and 2 < table.loc["a", "mean"] < 3
    with pytest.raises(ValueError, match=r"the same names. Received: \[\['a'\], \['b'\]\]"):
        ds.diagnostics.summary({"a": warm}, {"b": cold})
