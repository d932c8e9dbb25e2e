"""Resuming and saving."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import RATE, assert_same_state, compiled, patterns, state
from tests.oracles import tiny_model


def test_saved_and_loaded_model_goes_on_bit_for_bit(tmp_path):
    """Also: the loaded model is compiled, with the same kernel, prior and optimizer."""
    x = patterns()
    model = compiled(True, kernel=ds.mcmc.SGNHT(learning_rate=ds.mcmc.PolynomialDecay(RATE), thermostat="scalar"))
    model.fit(x, batch_size=30, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert_same_state(model, loaded)
    for each in (model, loaded):
        each.fit(x, batch_size=30, epochs=4, initial_epoch=2, verbose=0)
    assert_same_state(model, loaded)
    assert int(loaded.run.epochs) == 4


def test_weights_file_restores_the_chain(tmp_path):
    model, other = compiled(), compiled()
    model.fit(patterns(), epochs=1, verbose=0)
    model.save_weights(tmp_path / "chain.weights.h5")
    other.load_weights(tmp_path / "chain.weights.h5")
    assert_same_state(model, other)


def test_tensorflow_checkpoint_restores_the_chain(tmp_path):
    model, other = compiled(), compiled()
    model.fit(patterns(), epochs=1, verbose=0)
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(model=other).restore(path).assert_existing_objects_matched()
    assert_same_state(model, other)


def test_interrupted_and_resumed_run_equals_an_uninterrupted_one(tmp_path):
    """The run dies in the middle of an epoch; a new process' model goes on from the backup."""
    x, held_out = patterns(), patterns(30, seed=1)

    class Die(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.run.epochs) == 2:  # after the first two of its batches
                raise KeyboardInterrupt

    def run(callbacks):
        model = compiled(steps_per_execution=2)
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
        model.fit(
            x, validation_data=held_out, batch_size=20, epochs=4, verbose=0, callbacks=[backup, *callbacks]
        )
        return model

    with pytest.raises(KeyboardInterrupt):
        run([Die()])
    resumed = run([])
    straight = compiled(steps_per_execution=2)
    straight.fit(x, validation_data=held_out, batch_size=20, epochs=4, verbose=0)
    assert_same_state(straight, resumed)


def test_loading_the_chain_of_another_kernel_is_refused(tmp_path):
    model, other = compiled(), compiled(kernel=ds.mcmc.SGLD(learning_rate=RATE))
    model.save_weights(tmp_path / "chain.weights.h5")
    before = state(other)
    with pytest.raises(ValueError, match="another kernel or prior"):
        other.load_weights(tmp_path / "chain.weights.h5")
    for one, now in zip(before, state(other), strict=True):
        np.testing.assert_array_equal(one, now)


def test_weights_without_a_chain_leave_the_chain_alone(tmp_path):
    plain, model = tiny_model((2,), units=4, seed=9), compiled()
    plain.save_weights(tmp_path / "plain.weights.h5")
    model.fit(patterns(), epochs=1, verbose=0)
    steps = int(model.run.steps)
    model.load_weights(tmp_path / "plain.weights.h5")
    assert int(model.run.steps) == steps
    for one, other in zip(plain.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    model = compiled()
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    model.fit(patterns(), epochs=1, verbose=0)

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    for save, name in ((model.save, "model.keras"), (model.save_weights, "model.weights.h5")):
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
