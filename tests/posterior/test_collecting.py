"""Collecting posterior samples while a chain runs: which steps, resumed runs, what is refused."""

import shutil

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import Script, X, fit, model_to_fit
from tfdsmcmc.posterior import store


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


def test_burn_in_is_of_the_chain_that_compile_began(tmp_path):
    """Six epochs of an optimizer before it are none of its own, in the run, and in one that goes on from a file."""
    model = model_to_fit()
    model.compile("map", jit_compile=False)
    model.fit(X, batch_size=4, epochs=6, verbose=0)
    model.compile("sgld", jit_compile=False)
    collector = ds.posterior.Collector(tmp_path / "run", burn_in=2, num_samples=2, every=1)
    fit(model, collector, 1, validation_data=None)
    model.save(tmp_path / "model.keras")
    for each in (model, keras.saving.load_model(tmp_path / "model.keras")):
        collector = ds.posterior.Collector(tmp_path / "run", burn_in=2, num_samples=2, every=1)
        fit(each, collector, 3, validation_data=None, initial_epoch=1)
        steps = [store.step_of(path) for path in store.sample_paths(tmp_path / "run")]
        assert steps == [2 * 9], "after the third epoch of the chain"
        shutil.rmtree(tmp_path / "run")


def test_what_a_callback_sets_of_the_collector_holds(tmp_path):
    """As one that goes by the clock does: burn-in ends after the second epoch, then every epoch has a sample."""
    model, collector = model_to_fit(), ds.posterior.Collector(tmp_path / "run", 3, burn_in=9, every=9, stop=False)

    def settle(epoch, logs):
        collector.burn_in, collector.every = (2, 1) if epoch >= 1 else (9, 9)

    settling = keras.callbacks.LambdaCallback(on_epoch_end=settle)
    model.fit(X, batch_size=4, epochs=5, verbose=0, callbacks=[settling, collector])
    assert [store.step_of(path) for path in store.sample_paths(tmp_path / "run")] == [6, 8, 10]


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
    model_to_fit().fit(X, batch_size=4, epochs=4, verbose=0, callbacks=[Script(heat, "kinetic_temperature"), collector])
    found = [str(warning.message) for warning in recwarn if "hotter" in str(warning.message)]
    assert len(found) == len(told) and all(value in text for value, text in zip(told, found))
    assert len(store.sample_paths(tmp_path / "run")) == 2


def test_collecting_does_not_touch_the_chain(tmp_path):
    with_collector, without = model_to_fit(), model_to_fit()
    fit(with_collector, ds.posterior.Collector(tmp_path / "run", burn_in=0, stop=False, num_samples=2, every=1), 3)
    without.fit(X, batch_size=4, epochs=3, verbose=0)
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


def test_an_epoch_without_a_step_has_no_metrics_of_training(tmp_path):
    """A later fit, in which the collector is full already: 0 would be the least loss."""
    collector, model = ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), model_to_fit()
    checkpoint = keras.callbacks.ModelCheckpoint(tmp_path / "best.keras", "loss", save_best_only=True, mode="min")
    first = fit(model, collector, 3, [checkpoint])
    best = checkpoint.best
    assert best > 0
    later = fit(model, collector, 5, [checkpoint], initial_epoch=3)
    assert checkpoint.best == best and later.epoch == [3] and set(later.history) == set(first.history)
    assert np.isnan([later.history["loss"], later.history["log_likelihood"]]).all()
    assert np.isfinite(later.history["val_log_likelihood"]).all()


def test_what_is_no_path_or_no_flag_is_refused():
    """A word is no flag: "no" would delete samples."""
    for path in ("", None, 5):
        with pytest.raises(ValueError, match=f"folder. Received: path={path!r}"):
            ds.posterior.Collector(path)
    for name in ("overwrite", "stop"):
        with pytest.raises(ValueError, match=f"{name} must be True or False. Received: {name}='no'"):
            ds.posterior.Collector("samples", **{name: "no"})


@pytest.mark.parametrize(
    ("arguments", "epochs", "kept", "more"),
    [
        ({"burn_in": 5, "num_samples": 2, "every": 3}, 2, 0, 7),  # after epochs 6 and 9
        ({"burn_in": 1, "num_samples": 3, "every": 2}, 3, 1, 3),  # after epochs 2, 4 and 6
        ({"burn_in": 0, "num_samples": 2}, 3, 1, 11),  # 25 updates apart at least, two an epoch, from the first one on
    ],
)
def test_a_fit_with_too_few_epochs_says_how_many_more_it_takes(tmp_path, recwarn, arguments, epochs, kept, more):
    model, count = model_to_fit(), arguments["num_samples"]

    def told(epochs):
        recwarn.clear()
        fit(model, ds.posterior.Collector(tmp_path, **arguments), epochs, validation_data=None)
        return [str(one.message) for one in recwarn if "posterior samples" in str(one.message)]

    (first,) = told(epochs)
    assert f"{kept} of {count} posterior samples" in first
    assert f"about {more} more epochs after these {epochs} " in first
    assert "about 1 more " in told(more - 1)[0], "one epoch fewer is one too few"
    assert not told(1)
    assert len(store.sample_paths(tmp_path)) == count


def test_a_fit_that_another_callback_stops_says_nothing_of_samples_to_come(tmp_path, recwarn):
    class Stop(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = epoch == 1

    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=3, every=1), 9, [Stop()])
    assert len(store.sample_paths(tmp_path)) == 2
    assert not [one for one in recwarn if "posterior samples" in str(one.message)]
