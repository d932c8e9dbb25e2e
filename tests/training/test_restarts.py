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
    return ds.posterior.Collector(folder / "posterior", num_samples=4, burn_in=0)


def samples(folder):
    return [(sample.step, *sample.theta) for sample in ds.posterior.load(folder / "posterior").samples]


def test_a_kill_after_the_first_sample_and_before_the_first_backup(tmp_path):
    fit(tmp_path / "straight", collector=collector(tmp_path / "straight"))

    class DieFirst(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise KeyboardInterrupt

    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    with pytest.raises(KeyboardInterrupt):
        callbacks = [collector(tmp_path), DieFirst()]
        model.fit(X, batch_size=3, epochs=EPOCHS, verbose=0, callbacks=callbacks)
    assert len(samples(tmp_path)) == 1
    fit(tmp_path, collector=collector(tmp_path))
    for one, other in zip(samples(tmp_path), samples(tmp_path / "straight"), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("changed", ["the seed", "the weights", "the epochs"])
def test_another_chain_does_not_take_the_folder_over(tmp_path, changed):
    fit(tmp_path / "first", collector=collector(tmp_path))
    if changed != "the epochs":  # one record alone
        path = tmp_path / "posterior" / "history.json"
        history = json.loads(path.read_text())
        path.write_text(json.dumps({**history, "records": history["records"][:1]}))
    model = tiny_model((2,), units=4, seed=3 if changed == "the weights" else 2, scale=0.5)
    if changed == "the seed":
        model = tiny_model((2,), units=4, seed=2, scale=0.5)
        model.seed = 5
    model.compile(ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    with pytest.raises(ValueError, match="samples of another chain.*Received: "):
        model.fit(X, batch_size=3, epochs=2, verbose=0, callbacks=[collector(tmp_path)])
    assert len(samples(tmp_path)) == 4


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
