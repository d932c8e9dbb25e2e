"""Validation rows choose the average of a run."""

import json

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_means, assert_near
from tests.oracles import binary_states, tiny_model
from tests.posterior.support import X, fit, model_to_fit, unfitted, written
from tests.posterior.test_averages import AVERAGES, expected
from tfdsmcmc.posterior import choice, load
from tfdsmcmc.rows import ArraySource, rows_of
from tfdsmcmc.supports import Binary

CHAINS = (0, 0, 1, 0, 1)


@pytest.mark.parametrize(
    ("behind", "spread", "chosen"),
    [
        ({"weights": 0.0, "units": 0.5, "draws": 1.0}, 0.1, "weights"),
        ({"weights": 0.5, "units": 0.0, "draws": 1.0}, 0.1, "units"),
        ({"weights": 0.5, "units": 0.5, "draws": 0.0}, 0.1, "draws"),
        ({"weights": 0.5, "units": 0.001, "draws": 0.0}, 0.1, "units"),  # no worse than chance
        ({"weights": 0.001, "units": 0.0, "draws": 0.5}, 0.1, "weights"),
        ({"weights": 0.03, "units": 0.0, "draws": 0.5}, 0.1, "units"),  # by three errors of 0.01
        ({"weights": 0.015, "units": 0.0, "draws": 0.5}, 0.1, "weights"),  # by one and a half
        ({"weights": 0.4, "units": 0.0, "draws": 0.0}, 8.0, "weights"),  # eight nats over a hundred rows
    ],
)
def test_the_cheapest_within_two_errors_of_the_best(behind, spread, chosen):
    noise = np.random.default_rng(0).normal(0, 1, (3, 100))
    noise = (noise - noise.mean(1, keepdims=True)) / noise.std(1, ddof=1, keepdims=True)
    names = ("weights", "units", "draws")
    values = {name: -behind[name] + spread * part / 2**0.5 for name, part in zip(names, noise)}
    assert choice.preferred(values) == chosen


def test_one_row_tells_no_error_and_leaves_the_first():
    values = {"weights": np.array([-7.01]), "units": np.array([-8.0]), "start": np.array([-7.0])}
    assert choice.preferred(values) == "weights"
    assert choice.preferred({"weights": np.array([-2.0]), "units": np.array([-1.0])}) == "weights"


@pytest.mark.slow
def test_it_compares_the_averages_of_the_rows(tmp_path):
    """Their means over all rows are those of enumeration, within z-tests of 50 draws a row, repeated rows and all."""
    posterior, model = written(tmp_path, CHAINS), unfitted()
    rows = ArraySource(rows_of("x", np.repeat(binary_states(4), 25, 0).astype(np.float32), 4, Binary()))
    found = choice.choose(posterior, model, rows, seed=1)
    assert found.num_rows == 400 and set(found.log_likelihoods) == set(AVERAGES)
    exact = {name: expected(posterior, name) for name in AVERAGES}
    for name in AVERAGES:
        # biased by about half a squared standard error, which is below the noise of the rows here
        estimates = [posterior.log_likelihood(model, rows, 50, seed=s, average=name).value.mean() for s in range(8)]
        error = np.std(estimates, ddof=1)
        assert_near(found.log_likelihoods[name], exact[name].mean(), error + 0.02)
    assert found.log_likelihoods[found.average] > max(found.log_likelihoods.values()) - 0.1


def test_it_is_kept_beside_the_samples_and_read(tmp_path):
    written(tmp_path, CHAINS)
    assert load(tmp_path).average == "weights"
    choice.write(tmp_path, choice.Choice("units", {"units": np.full(3, -1.0)}))
    assert load(tmp_path).average == "units"
    assert json.loads((tmp_path / "average.json").read_text()) == {
        "average": "units", "log_likelihoods": {"units": -1.0}, "num_rows": 3
    }  # fmt: skip
    choice.forget(tmp_path)
    choice.forget(tmp_path)
    assert load(tmp_path).average == "weights"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"average": "all"}', '{"average": ["units"]}', "\x00"])
def test_a_damaged_choice_is_refused_by_name(tmp_path, text):
    written(tmp_path, CHAINS)
    (tmp_path / "average.json").write_text(text)
    with pytest.raises(ValueError, match="Received: .*average.json"):
        load(tmp_path)


def collector(path, **arguments):
    return ds.posterior.Collector(path, num_samples=2, burn_in=1, every=1, stop=False, **arguments)


def test_a_fit_with_validation_rows_chooses_at_its_end(tmp_path):
    fit(model_to_fit(), collector(tmp_path / "p"), 4)
    found = json.loads((tmp_path / "p" / "average.json").read_text())
    assert found["num_rows"] == len(X) and set(found["log_likelihoods"]) == set(AVERAGES)
    assert load(tmp_path / "p").average == found["average"]


@pytest.mark.parametrize("num_chains", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_weights_of_a_warm_start_are_kept_and_may_be_chosen(tmp_path, num_chains):
    """The best ones on validation rows, of each chain; a rate at which θ is thrown far away leaves no other."""
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGLD(learning_rate=3e5), fraction=0.5, noise_tolerance=None)
    model.compile(kernel=kernel, latents=ds.latents.NAIS(5), num_chains=num_chains, jit_compile=False)
    rows = np.repeat(X, 12, 0)  # enough of them to tell
    fit(model, ds.posterior.Collector(tmp_path, 2, burn_in=0, every=1, stop=False), 12, validation_data=rows)
    posterior = load(tmp_path)
    best = model.run.state.kernel_results.best_state
    assert [sample.chain for sample in posterior.starts] == list(range(num_chains))
    for c, sample in enumerate(posterior.starts):
        for found, part in zip(sample.theta, best, strict=True):
            np.testing.assert_array_equal(found, part[c] if num_chains > 1 else part)
    assert posterior.average.endswith("start")  # of two chains a mixture with what one of them has found may be better
    assert num_chains > 1 or posterior.average == "start"
    value = posterior.log_likelihood(model, X, 500).mean()
    assert value > posterior.log_likelihood(model, X, 500, average="weights").mean() + 1
    again = model_to_fit(seed=3)  # without a warm start, in the same folder
    fit(again, collector(tmp_path, overwrite=True), 3)
    assert not list(tmp_path.glob("start*")) and not load(tmp_path).starts


@pytest.mark.parametrize("average", AVERAGES)
def test_what_is_said_is_not_chosen(tmp_path, average):
    fit(model_to_fit(), collector(tmp_path / "p", average=average), 3, validation_data=None)
    assert load(tmp_path / "p").average == average


def test_nothing_is_chosen_without_validation_rows_a_sample_or_a_network_that_learns(tmp_path):
    fit(model_to_fit(), collector(tmp_path / "p"), 3, validation_data=None)
    fit(model_to_fit(), ds.posterior.Collector(tmp_path / "q", burn_in=5), 2)
    model = tiny_model((2,), units=4)
    model.compile(kernel="sghmc", latents="gibbs", proposal=None, jit_compile=False)
    fit(model, collector(tmp_path / "r"), 3)
    assert not list(tmp_path.glob("*/average.json"))


def test_a_run_that_takes_the_place_of_another_forgets_its_choice(tmp_path):
    fit(model_to_fit(), collector(tmp_path, average="units"), 3)
    fit(model_to_fit(seed=3), collector(tmp_path, overwrite=True), 3, validation_data=None)
    assert load(tmp_path).average == "weights" and not (tmp_path / "average.json").exists()


def test_a_machine_has_no_average():
    rbm = ds.boltzmann.RBM(4, 2)
    rbm.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), jit_compile=False)
    with pytest.raises(ValueError, match="unit by unit is of a DeepGenerativeModel.*Received: RBM"):
        rbm.fit(X, epochs=1, verbose=0, callbacks=[ds.posterior.Collector("p", burn_in=0, average="units")])


def test_another_name_is_refused():
    with pytest.raises(ValueError, match="^average is one of .*Received: average='all'"):
        ds.posterior.Collector("p", average="all")


@pytest.mark.slow
def test_no_average_is_ahead_by_the_bias_of_its_draws(tmp_path):
    """Ten copies of one θ with uneven importance weights, 12 seeds: a z-test of 10⁻⁶ that differences have the mean 0.
    With as many draws for each component the average over draws was ahead by half of the variance of the others."""
    posterior = written(tmp_path, (0,) * 10, change=lambda i, sample: _copy(sample, _FIRST))
    rows = ArraySource(rows_of("x", np.repeat(binary_states(4), 12, 0).astype(np.float32), 4, Binary()))
    found = [choice.choose(posterior, unfitted(), rows, seed).log_likelihoods for seed in range(12)]
    ahead = np.array([[values[name] - values["weights"] for name in ("units", "draws")] for values in found])
    np.testing.assert_allclose(ahead[:, 0], 0, atol=1e-5)
    assert_means(ahead[:, 1:], [0.0])
    own = [posterior.log_likelihood(unfitted(), rows, 50, seed, average="weights") for seed in range(4)]
    biased = np.mean([np.mean(estimate.standard_error**2) for estimate in own]) / 2
    assert biased > 5 * ahead[:, 1].std(ddof=1) / 12**0.5


_FIRST = [[], []]


def _copy(sample, first):
    """Gives a sample the arrays of the first one."""
    for kept, parts in zip(first, sample[:2], strict=True):
        kept.extend(part.copy() for part in parts[len(kept) :])
        for part, own in zip(parts, kept, strict=True):
            part[...] = own


def test_a_model_whose_units_cannot_be_averaged_chooses_among_the_others(tmp_path, monkeypatch):
    def refused(*_):
        raise ValueError("no log-odds. Received: Odd")

    monkeypatch.setattr(ds.layers.UnitAverage, "unit_logits", refused)
    fit(model_to_fit(), collector(tmp_path), 4)
    found = json.loads((tmp_path / "average.json").read_text())
    assert set(found["log_likelihoods"]) == {"weights", "draws"}


def test_a_finished_run_does_not_fail_by_its_choice(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(choice, "choose", fails)
    with pytest.warns(RuntimeWarning, match="No average over the samples was chosen: out of luck"):
        history = fit(model_to_fit(), collector(tmp_path), 3)
    assert history.history and load(tmp_path).average == "weights"


def test_more_samples_forget_what_fewer_chose(tmp_path):
    model = model_to_fit()
    arguments = {"num_samples": 9, "burn_in": 1, "every": 1, "stop": False}
    fit(model, ds.posterior.Collector(tmp_path, **arguments), 3)
    assert (tmp_path / "average.json").exists()
    fit(model, ds.posterior.Collector(tmp_path, **arguments), 6, validation_data=None, initial_epoch=3)
    assert not (tmp_path / "average.json").exists()


def test_a_run_that_was_killed_at_its_end_chooses_when_it_is_restarted(tmp_path):
    import keras

    def run():
        model = model_to_fit()
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
        fit(model, collector(tmp_path / "p"), 3, callbacks=[backup])

    run()
    (tmp_path / "p" / "average.json").unlink()
    run()
    assert (tmp_path / "p" / "average.json").exists()
