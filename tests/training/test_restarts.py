"""Runs that are killed and restored: the run knows its epochs, and the collector its folder."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.pool import pooled
from tfdsmcmc import files
from tfdsmcmc.posterior.history import History

X = np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1]]
EPOCHS = 5


def fit(folder, callbacks=(), collector=None):
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
    collector = [] if collector is None else [collector]
    model.fit(X, batch_size=3, epochs=EPOCHS, verbose=0, callbacks=[*collector, backup, *callbacks])
    return model


class Die(keras.callbacks.Callback):
    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == self.epoch:
            raise KeyboardInterrupt


@pytest.mark.parametrize("died_before", [1, 3])
@pytest.mark.parametrize("left", ["the number of the epoch before", "half a number", "no number"])
def test_a_kill_between_the_two_files_of_a_backup(tmp_path, died_before, left):
    straight = fit(tmp_path / "straight")
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, [Die(died_before)])
    number = tmp_path / "backup" / "training_metadata.json"
    assert json.loads(number.read_text())["epoch"] == died_before
    if left == "the number of the epoch before":
        number.write_text(json.dumps({"epoch": died_before - 1, "batch": 0}))
    elif left == "half a number":
        number.write_text('{"epo')
    else:
        number.unlink()
    resumed = fit(tmp_path)
    assert int(resumed.run.epochs) == EPOCHS and int(resumed.run.steps) == int(straight.run.steps)
    for one, other in zip(resumed.get_weights(), straight.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_later_fit_starts_where_it_is_told(tmp_path):
    """Keras would start it where the one before was restored."""
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path, [Die(3)])
    model = fit(tmp_path)
    assert len(model.fit(X, epochs=2, verbose=0).epoch) == 2


def collector(folder):
    return ds.posterior.Collector(folder / "posterior", num_samples=4, burn_in=0, every=1)


@pytest.mark.parametrize("save_freq", ["epoch", 3])
def test_a_resume_in_the_same_process(tmp_path, save_freq):
    """As in a notebook: the run is where it was stopped, or ahead of its backup, when it is restored."""

    class Interrupt(keras.callbacks.Callback):
        armed = True

        def on_epoch_end(self, epoch, logs=None):
            if epoch == 3 and self.armed:
                self.armed = False
                raise KeyboardInterrupt

    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    interrupt = Interrupt()

    def learn():
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", save_freq, delete_checkpoint=False)
        return model.fit(X, batch_size=3, epochs=EPOCHS, verbose=0, callbacks=[interrupt, backup])

    with pytest.raises(KeyboardInterrupt):
        learn()
    history = learn()
    assert history.epoch[-1] == EPOCHS - 1 and history.epoch[0] in (2, 3)
    assert int(model.run.epochs) == EPOCHS


class DieBeforeTheBackup(keras.callbacks.Callback):
    """A kill after the collector has written and before the run is saved; it stands between the two."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        if epoch == self.epoch:
            raise KeyboardInterrupt


@pooled
def begun(seed=2):
    """As a process begins it: the same but for its identity."""
    model = tiny_model((2,), units=4, seed=seed, scale=0.5)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    return model


def collected(folder, callbacks=(), x=X, burn_in=1, backup=True, **arguments):
    model = begun(arguments.pop("seed", 2))
    collector = ds.posterior.Collector(folder / "posterior", num_samples=3, burn_in=burn_in, every=1, **arguments)
    backups = [keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)] if backup else []
    model.fit(x, batch_size=3, epochs=EPOCHS, verbose=0, callbacks=[collector, *callbacks, *backups])
    return model


def contents(folder):
    return {path.name: path.read_bytes() for path in (folder / "posterior").iterdir() if path.name != "history.jsonl"}


def records(folder):
    return History(folder / "posterior").read()[1]


@pytest.mark.slow
def test_a_kill_between_the_first_record_and_the_first_backup(tmp_path):
    """The run begins anew, finds its own first epoch, and goes on; and so it does when it is killed once more."""
    straight = collected(tmp_path / "straight")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            collected(tmp_path, [DieBeforeTheBackup(0)])
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(2)])
    resumed = collected(tmp_path)
    assert contents(tmp_path) == contents(tmp_path / "straight") and records(tmp_path) == records(tmp_path / "straight")
    for one, other in zip(resumed.get_weights(), straight.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_run_without_backup_that_begins_anew_makes_its_samples_once_more(tmp_path):
    """And deletes none meanwhile: it was killed after two of three."""
    collected(tmp_path / "straight")
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(2)], backup=False)
    before = contents(tmp_path)
    assert len(before) == 2 + 1  # and their mean

    class Look(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch < 3:
                assert contents(tmp_path) == before

    collected(tmp_path, [Look()], backup=False)
    assert contents(tmp_path) == contents(tmp_path / "straight")
    again = collected(tmp_path, backup=False)  # a script that is run twice
    assert contents(tmp_path) == contents(tmp_path / "straight") and int(again.run.epochs) == 4


@pytest.mark.parametrize(
    "other", [{"x": 1 - X}, pytest.param({"burn_in": 0}, marks=pytest.mark.slow)], ids=["rows", "arguments"]
)
def test_samples_of_a_run_that_went_on_otherwise_are_kept(tmp_path, other):
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(2)], backup=False)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match="went on otherwise.*overwrite=True.*Received: .*which differs after 2 steps"):
        collected(tmp_path, backup=False, **other)
    assert contents(tmp_path) == before
    collected(tmp_path, backup=False, overwrite=True, **other)
    assert len(contents(tmp_path)) == 3 + 1


@pytest.mark.slow
def test_a_record_without_samples_of_a_run_that_went_on_otherwise_keeps_nobody_from_learning(
    tmp_path, monkeypatch
):
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(0)])
    collected(tmp_path / "straight", x=1 - X)
    monkeypatch.setattr(files, "is_gone", lambda name: False)  # the other process lives
    before = records(tmp_path)
    with pytest.raises(ValueError, match="Another run writes into this folder.*Received: "):
        collected(tmp_path, x=1 - X)
    assert records(tmp_path) == before
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="1 epochs of a run that ended before its first sample"):
        collected(tmp_path, x=1 - X)
    assert contents(tmp_path) == contents(tmp_path / "straight")


def test_a_run_from_elsewhere_goes_on_where_no_sample_is_lost_and_nobody_writes(tmp_path, monkeypatch):
    """As a run does that begins anew with layers without seeds."""
    with pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(0)])
    monkeypatch.setattr(files, "is_gone", lambda name: name != files.writer())  # the other process lives
    with pytest.raises(ValueError, match="another chain.*overwrite=True.*Received: "):
        collected(tmp_path, seed=3)
    assert len(records(tmp_path)) == 1
    monkeypatch.undo()
    warned = pytest.warns(UserWarning, match="1 epochs of a run that ended before its first sample")
    with warned, pytest.raises(KeyboardInterrupt):
        collected(tmp_path, [DieBeforeTheBackup(2)], seed=3, backup=False)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match="another chain.*overwrite=True.*equal weights.*Received: "):
        collected(tmp_path, seed=4)
    assert contents(tmp_path) == before and len(records(tmp_path)) == 3


def test_two_runs_in_one_folder_are_told(tmp_path):
    """They start together; the first writes, and the second finds what it has not written."""

    class Meanwhile(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 0:
                other = tiny_model((2,), units=4, seed=7)
                other.compile("sgnht", jit_compile=False)
                other.fit(X, epochs=1, verbose=0, callbacks=[collector(tmp_path)])

    model = tiny_model((2,), units=4, seed=2)
    model.compile("sgnht", jit_compile=False)
    with pytest.raises(ValueError, match="Another run writes.*Received: "):
        model.fit(X, epochs=2, verbose=0, callbacks=[Meanwhile(), collector(tmp_path)])
    assert [sample.step for sample in ds.posterior.load(tmp_path / "posterior").samples] == [1]
