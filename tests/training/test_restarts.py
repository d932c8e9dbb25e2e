"""Runs that are killed and restored: the run knows its epochs, and the collector its folder."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model

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


def test_two_runs_in_one_folder_are_told(tmp_path):
    """They start together; the first writes, and the second finds what it has not written."""

    class Meanwhile(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 0:
                other = tiny_model((2,), units=4, seed=7)
                other.compile(jit_compile=False)
                other.fit(X, epochs=1, verbose=0, callbacks=[collector(tmp_path)])

    model = tiny_model((2,), units=4, seed=2)
    model.compile(jit_compile=False)
    with pytest.raises(ValueError, match="Another run writes.*Received: "):
        model.fit(X, epochs=2, verbose=0, callbacks=[Meanwhile(), collector(tmp_path)])
    assert [sample.step for sample in ds.posterior.load(tmp_path / "posterior").samples] == [1]
