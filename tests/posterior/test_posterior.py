"""Collecting, storing, averaging and predicting with posterior samples."""

import json
import os

import h5py
import keras
import numpy as np
import pytest
import scipy.stats

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tests.pool import pooled
from tfdsmcmc.posterior import store

X = binary_states(4)[[0, 3, 3, 5, 9, 9, 14, 15]].astype(np.float32)


@pooled
def model_to_fit(seed=2):
    model = tiny_model((2,), units=4, seed=seed, scale=0.5)
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    return model


def fit(model, collector, epochs, callbacks=(), **arguments):
    arguments = {"validation_data": X, **arguments}
    return model.fit(X, batch_size=4, epochs=epochs, verbose=0, callbacks=[collector, *callbacks], **arguments)


def folder_of(tmp_path, count=3):
    """Samples of random weights of a tiny model, and the model."""
    model = tiny_model((2,), units=4, seed=0)
    for i in range(count):
        other = tiny_model((2,), units=4, seed=i + 1)
        sample = store.Sample(
            [v.numpy() for v in other.generative.trainable_variables],
            [v.numpy() for v in other.recognition.trainable_variables],
            10 * (i + 1),
        )
        store.write_sample(tmp_path, sample)
        store.update_mean(tmp_path, sample, i + 1)
    return model


# ---- collecting


class Script(keras.callbacks.Callback):
    """Replaces the validation value by a script, before the collector sees it."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        logs["val_log_likelihood"] = self.values[epoch]


@pytest.mark.parametrize(
    ("arguments", "values", "steps"),
    [
        # an epoch has two updates; the five values up to epoch 6 do not rise, those up to epoch 5 do; of 14 epochs the
        # second half begins with epoch 8 at the latest
        ({"patience": 8, "num_samples": 2, "every": 1}, [1, 2, 3, 4, 5, 2, *range(9, 17)], [12, 14]),
        ({"patience": 4, "num_samples": 2, "every": 2}, [1, 2, 3, 4, 5, 2, *range(9, 17)], [12, 16]),
        ({"patience": 12, "num_samples": 1, "every": 1}, [1, 2, 3, 4, 5, 2, 3, *range(3, 10)], [14]),
        ({"patience": 14, "num_samples": 1, "every": 1}, [1, 2, 3, 4, 5, 2, 3, *range(3, 10)], [16]),
        ({"burn_in": 1, "num_samples": 2, "every": 1}, [1, 2, 3, 4, 5, 6, 7, 8], [4, 6]),
        ({"burn_in": 0, "num_samples": 2, "every": 3}, [1, 2, 3, 4, 5, 6, 7, 8], [2, 8]),
        ({"patience": 3, "num_samples": 2, "every": 1}, [1, 2, 3, 4, 5, 6, 7, 8], [10, 12]),
    ],
)
def test_collecting_starts_and_stops_when_it_should(tmp_path, arguments, values, steps):
    model, collector = model_to_fit(), ds.posterior.Collector(tmp_path / "run", **arguments)
    history = model.fit(
        X, batch_size=4, epochs=len(values), verbose=0, validation_data=X, callbacks=[Script(values), collector]
    )
    assert [store.step_of(path) for path in store.sample_paths(tmp_path / "run")] == steps
    assert int(model.run.steps) == 2 * len(history.epoch)
    assert len(history.epoch) == steps[-1] // 2


class Heat(keras.callbacks.Callback):
    """Replaces the kinetic temperature by a script, before the collector sees it."""

    def __init__(self, values):
        super().__init__()
        self.values = values

    def on_epoch_end(self, epoch, logs=None):
        logs["kinetic_temperature"] = self.values[epoch]


@pytest.mark.parametrize(
    ("heat", "settled", "told"),
    [([9.0, 1.9, 1.9, 9.0], 2, []), pytest.param([1.0, 1.0, 2.5, 4.0], 2, ["2.5"], marks=pytest.mark.slow),
     pytest.param([9.0, 3.5, 3.0, 9.0], 2, ["3.5"], marks=pytest.mark.slow), ([9.0, 3.5, 3.0, 9.0], 4, ["3.0"]),
     pytest.param([9.0] * 4, 5, [], marks=pytest.mark.slow)],
)  # fmt: skip
def test_samples_of_a_chain_that_is_too_hot_are_told_of_once(tmp_path, monkeypatch, recwarn, heat, settled, told):
    """Those of the second and third epoch, two and four updates on: what is hot without a sample is no matter."""
    monkeypatch.setattr(ds.posterior.collector, "_SETTLED", settled)
    collector = ds.posterior.Collector(tmp_path / "run", burn_in=1, num_samples=2, every=1, stop=False)
    model_to_fit().fit(X, batch_size=4, epochs=4, verbose=0, callbacks=[Heat(heat), collector])
    found = [str(warning.message) for warning in recwarn if "hotter" in str(warning.message)]
    assert len(found) == len(told) and all(value in text for value, text in zip(told, found))
    assert len(store.sample_paths(tmp_path / "run")) == 2


@pytest.mark.compiled
def test_collecting_does_not_touch_the_chain(tmp_path):
    with_collector, without = model_to_fit(), model_to_fit()
    fit(with_collector, ds.posterior.Collector(tmp_path / "run", burn_in=0, stop=False, num_samples=2, every=1), 4)
    without.fit(X, batch_size=4, epochs=4, verbose=0)
    for one, other in zip(with_collector.get_weights(), without.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_samples_are_the_weights_at_their_steps_and_the_mean_is_theirs(tmp_path):
    model, seen = model_to_fit(), {}

    class Remember(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen[int(self.model.run.steps)] = [v.numpy() for v in self.model.generative.trainable_variables]

    fit(model, ds.posterior.Collector(tmp_path / "run", burn_in=1, num_samples=3, every=1), 9, [Remember()])
    posterior = ds.posterior.load(tmp_path / "run")
    assert [sample.step for sample in posterior.samples] == [4, 6, 8]
    for sample in posterior.samples:
        for stored, live in zip(sample.theta, seen[sample.step], strict=True):
            np.testing.assert_array_equal(stored, live)
    for i, mean in enumerate(posterior.mean()[0]):
        np.testing.assert_allclose(mean, np.mean([s.theta[i] for s in posterior.samples], 0), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("died_at", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_an_interrupted_and_resumed_run_collects_the_same(tmp_path, died_at):
    """It dies in the middle of an epoch, before collecting began and while it went on."""

    class Die(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.run.epochs) == died_at:
                raise KeyboardInterrupt

    def run(folder, callbacks):
        collector = ds.posterior.Collector(folder / "posterior", patience=8, num_samples=4, every=1)
        fit(model_to_fit(), collector, 12, [keras.callbacks.BackupAndRestore(folder / "backup"), *callbacks])

    run(tmp_path / "straight", [])
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "resumed", [Die()])
    run(tmp_path / "resumed", [])
    straight, resumed = (ds.posterior.load(tmp_path / name / "posterior") for name in ("straight", "resumed"))
    assert len(straight.samples) == 4
    for one, other in zip(straight.samples, resumed.samples, strict=True):
        assert one.step == other.step
        for a, b in zip(one.theta + one.phi, other.theta + other.phi, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(straight.mean()[0], resumed.mean()[0], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_another_runs_folder_is_kept_unless_it_may_be_overwritten(tmp_path):
    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="another chain.*Received: "):
        fit(model_to_fit(3), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=1, num_samples=1, overwrite=True, every=1), 3)
    assert [s.step for s in ds.posterior.load(tmp_path).samples] == [4]


def test_collector_refuses_what_cannot_work(tmp_path):
    for arguments in ({"num_samples": 0}, {"patience": 0}, {"burn_in": -1}, {"every": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(arguments))}.*Received: "):
            ds.posterior.Collector(tmp_path / "run", **arguments)
    with pytest.raises(ValueError, match="validation_data.*Received: "):
        fit(model_to_fit(), ds.posterior.Collector(tmp_path / "run"), 1, validation_data=None)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="writes into a folder. Received: path=.*file', a file"):
        fit(model_to_fit(), ds.posterior.Collector(tmp_path / "file"), 1)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_samples_of_a_chain_with_as_many_steps_are_another_chains(tmp_path):
    """Counts do not tell chains apart, identities do; a chain that was saved and loaded is the same."""
    model, stranger = model_to_fit(), model_to_fit()
    fit(model, ds.posterior.Collector(tmp_path / "run", burn_in=0, num_samples=3, every=1), 3)
    stranger.fit(X, batch_size=4, epochs=2, verbose=0)
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    with pytest.raises(ValueError, match="another chain.*Received: "):
        fit(stranger, ds.posterior.Collector(tmp_path / "run", burn_in=0, num_samples=5, every=1), 3)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    fit(loaded, ds.posterior.Collector(tmp_path / "run", burn_in=0, num_samples=5, every=1), 2)
    assert [sample.step for sample in ds.posterior.load(tmp_path / "run").samples] == [2, 4, 6, 8, 10]


def test_a_finished_collection_moves_nothing_when_it_is_started_again(tmp_path):
    model = model_to_fit()
    fit(model, ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 9)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    weights, steps, epochs = model.get_weights(), int(model.run.steps), int(model.run.epochs)
    fit(model, ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 9)
    assert (int(model.run.steps), int(model.run.epochs)) == (steps, epochs)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    for one, other in zip(weights, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- storing


def test_a_run_killed_while_writing_leaves_whole_files(tmp_path, monkeypatch):
    model = folder_of(tmp_path)
    before = [path.read_bytes() for path in store.sample_paths(tmp_path)]

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        store.write_sample(tmp_path, ds.posterior.load(tmp_path).samples[0]._replace(step=99))
    monkeypatch.undo()
    assert [path.read_bytes() for path in store.sample_paths(tmp_path)] == before
    assert len(ds.posterior.load(tmp_path).samples) == 3
    assert np.isfinite(ds.posterior.load(tmp_path).log_likelihood(model, X, 10).value).all()


def test_a_mean_that_is_behind_or_broken_is_computed_anew(tmp_path):
    folder_of(tmp_path)
    expected = ds.posterior.load(tmp_path).mean()[0]
    (tmp_path / "mean.h5").write_bytes(b"broken")
    for a, b in zip(ds.posterior.load(tmp_path).mean()[0], expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    last = ds.posterior.load(tmp_path).samples[-1]
    store.update_mean(tmp_path, last, 3)
    assert store._read_mean(tmp_path)[1] == 3
    store.sample_paths(tmp_path)[0].unlink()
    for i, mean in enumerate(ds.posterior.load(tmp_path).mean()[0]):
        rest = [sample.theta[i] for sample in ds.posterior.load(tmp_path).samples]
        np.testing.assert_allclose(mean, np.mean(rest, 0), rtol=1e-6, atol=1e-7)


def test_unreadable_folders_and_files_are_refused(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ValueError, match="A posterior is a folder with files.*Received: path="):
            ds.posterior.load(path)
    folder_of(tmp_path)
    victim = store.sample_paths(tmp_path)[1]
    whole = victim.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"not HDF5"):
        victim.write_bytes(broken)
        with pytest.raises(ValueError, match="Received: .*sample_"):
            ds.posterior.load(tmp_path)
    with h5py.File(victim, "w") as file:
        file["else"] = 1
    with pytest.raises(ValueError, match="Received: .*sample_"):
        ds.posterior.load(tmp_path)
    store.write_weights(victim, [np.zeros(3)], [np.zeros(2)], step=20)
    with pytest.raises(ValueError, match="same shapes.*Received: .*sample_"):
        ds.posterior.load(tmp_path)
    (tmp_path / "history.json").write_text("{")
    with pytest.raises(ValueError, match="Received: .*history.json"):
        fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0), 1)


def test_history_is_json_that_people_can_read(tmp_path):
    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    assert [record[:2] for record in json.loads((tmp_path / "history.json").read_text())["records"]] == [[2, 1], [4, 2]]


# ---- averaging and predicting


@pytest.mark.parametrize("estimator", ["importance sampling", "annealing"])
def test_predictive_log_likelihood_meets_enumeration(tmp_path, estimator):
    """log (1/M) Σ p(x given θ_m), each term by enumeration; 6 standard errors of 16 rows: 3e-8 in all.

    The mean of the logarithms, the usual error, is lower by up to half a nat, more than 10 standard errors."""
    model = folder_of(tmp_path)
    posterior, states = ds.posterior.load(tmp_path), binary_states(4)
    exact = []
    for sample in posterior.samples:
        other = tiny_model((2,), units=4)
        for variable, value in zip(other.trainable_variables, (*sample.theta, *sample.phi), strict=True):
            variable.assign(value)
        exact.append(Oracle(other).log_likelihood(states))
    before = model.get_weights()
    if estimator == "annealing":
        estimate = posterior.annealed_log_likelihood(model, states, num_steps=20, num_runs=400)
        again = posterior.annealed_log_likelihood(model, states, 1, num_steps=20, num_runs=400)
        assert np.all(again.value != estimate.value)
    else:
        estimate = posterior.log_likelihood(model, states, num_samples=3000)
    expected = np.logaddexp.reduce(exact, 0) - np.log(3)
    assert np.all(np.abs(estimate.value - expected) < 6 * estimate.standard_error)
    assert np.max(expected - np.mean(exact, 0)) > 10 * np.max(estimate.standard_error)
    assert np.all(estimate.effective_sample_size < 9000)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_predictive_standard_error_covers():
    """The errors of 40 seeds on 16 rows, divided by the stated errors, have mean square 1. Were the rows of a seed the
    same number, 40 times the mean square would be a chi-square variable of 40 degrees: the bounds fail once in 10⁶."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model = folder_of(folder)
        posterior, states = ds.posterior.load(folder), binary_states(4)
        precise = posterior.log_likelihood(model, states, num_samples=200_000, seed=999).value
        ratios = []
        for seed in range(40):
            estimate = posterior.log_likelihood(model, states, num_samples=300, seed=seed)
            ratios.append((estimate.value - precise) / estimate.standard_error)
    lower, upper = scipy.stats.chi2.ppf([5e-7, 1 - 5e-7], 40) / 40
    assert lower < np.mean(np.square(ratios)) < upper


def test_apply_mean_sets_theta_and_a_refit_improves_the_proposal(tmp_path):
    model = folder_of(tmp_path)
    model.compile(kernel=ds.mcmc.SGNHT(), proposal=ds.proposals.Wake(keras.optimizers.Adam(0.05)), jit_compile=False)
    posterior, states = ds.posterior.load(tmp_path), binary_states(4)
    theta, phi = posterior.mean()
    assert posterior.apply_mean(model) is model
    for variable, mean in zip(model.trainable_variables, (*theta, *phi), strict=True):
        np.testing.assert_array_equal(variable.numpy(), mean)
    before = model.log_likelihood(states, 500).mean().effective_sample_size
    posterior.apply_mean(model, states, refit_epochs=40, batch_size=8)
    for variable, mean in zip(model.generative.trainable_variables, theta, strict=True):
        np.testing.assert_array_equal(variable.numpy(), mean)
    assert model.log_likelihood(states, 500).mean().effective_sample_size > before


def test_another_architecture_is_refused(tmp_path):
    folder_of(tmp_path)
    posterior, other = ds.posterior.load(tmp_path), tiny_model((3,), units=4)
    before = other.get_weights()
    shapes = "weights of the shapes.*Received: a model with"
    for reason, call in (
        (shapes, lambda: posterior.apply_mean(other)),
        (shapes, lambda: posterior.log_likelihood(other, X)),
        (shapes, lambda: posterior.annealed_log_likelihood(other, X)),
        ("num_runs.*Received: ", lambda: posterior.annealed_log_likelihood(tiny_model((2,), units=4), X, num_runs=0)),
        ("training data. Received: x=None", lambda: posterior.apply_mean(tiny_model((2,), units=4), refit_epochs=1)),
        ("^refit_epochs.*Received: ", lambda: posterior.apply_mean(tiny_model((2,), units=4), X, refit_epochs=-1)),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    for one, two in zip(before, other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
