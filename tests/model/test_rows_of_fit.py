"""What may stand for the rows of `fit`, and what happens when they change under a run."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import assert_same_state, compiled, patterns
from tests.oracles import tiny_model
from tests.training.tenants import ColumnMeans
from tfdsmcmc.rows import Rows, Source


def persistent():
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    model.compile("sgnht", ds.latents.Gibbs(2, persistent=True), None, jit_compile=False)
    return model


class Stop(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


def test_a_run_restored_beside_other_rows_starts_chains_for_them(tmp_path):
    """A backup is loaded after the fit has begun: its chains over z belong to the rows of before, and so does its N."""
    backup = [keras.callbacks.BackupAndRestore(tmp_path)]
    with pytest.raises(KeyboardInterrupt):
        persistent().fit(patterns(40), batch_size=20, epochs=3, verbose=0, callbacks=[*backup, Stop()])
    model = persistent()
    model.fit(patterns(60, seed=1), batch_size=20, epochs=3, verbose=0, callbacks=backup)
    assert model.run.state.carried[0].shape == (60, 2) and float(model.run.num_rows) == 60
    assert int(model.run.epochs) == 3 and int(model.run.steps) == 2 * 2 + 3


def test_a_pass_that_was_broken_off_is_forgotten():
    rows = patterns(10)[:, :3]
    model = ColumnMeans()
    model.compile(steps_per_execution=1)

    class Early(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = True

    model.fit(1 - rows, batch_size=4, epochs=1, verbose=0, callbacks=[Early()])
    assert int(model.run.steps) == 1
    model.fit(rows, batch_size=4, epochs=1, verbose=0)
    np.testing.assert_allclose(model.mean.numpy(), rows.mean(0), rtol=1e-6)


def test_rows_as_a_value_are_taken_and_checked():
    x, known = patterns(30), np.random.default_rng(1).random((30, 4)) < 0.7
    one, other = compiled(), compiled()
    one.fit(Rows(np.where(known, x, 0.5), known), epochs=1, verbose=0)
    other.fit(np.where(known, x, np.nan), epochs=1, verbose=0)
    assert_same_state(one, other)
    with pytest.raises(ValueError, match="x must be binary.*Received: "):
        one.fit(Rows(x + 3), epochs=1, verbose=0)


def test_grey_bytes_in_a_file_are_numbers_for_real_data(tmp_path):
    np.save(tmp_path / "grey.npy", np.arange(40, dtype=np.uint8).reshape(10, 4))
    grey = np.load(tmp_path / "grey.npy", mmap_mode="r")
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.MLPGaussian(4, hidden_units=[2])]),
        ds.RecognitionNetwork([ds.layers.SBN(2)]),
    )
    model.compile("sgnht", jit_compile=False)
    model.fit(grey, epochs=1, verbose=0)
    with pytest.raises(ValueError, match="^x: .*Received: "):
        compiled().fit(grey, epochs=1, verbose=0)


def dataset(x):
    return tf.data.Dataset.from_tensor_slices(np.asarray(x, np.float32)).batch(5)


@pytest.mark.parametrize(
    "bad", [dataset(np.full((10, 4), 3)), dataset(np.ones((10, 5))), (patterns(10), patterns(10)), ()], ids=str
)
def test_bad_validation_data_are_found_before_anything_is_learnt(bad):
    model = compiled()
    with pytest.raises(ValueError, match="validation_data .*Received: "):
        model.fit(patterns(20), validation_data=bad, epochs=1, verbose=0)
    assert int(model.run.steps) == 0


def test_a_source_that_is_read_in_order_alone_is_not_learnt_from():
    class Stream(Source):
        units, num_rows, complete = 4, 10, True

        def batches(self, size):
            yield Rows(patterns(10))

    model = compiled()
    assert np.isfinite(model.evaluate(Stream(), verbose=0)[0])
    with pytest.raises(ValueError, match="random access, or a tf.data.Dataset. Received: x=Stream"):
        model.fit(Stream(), epochs=1, verbose=0)


def test_callbacks_of_the_users_own_list_stay_as_they_are():
    model = compiled()
    callbacks = keras.callbacks.CallbackList([keras.callbacks.History()], model=model)
    for _ in range(2):
        model.fit(patterns(20), epochs=1, verbose=0, callbacks=callbacks)
    assert int(model.run.epochs) == 2 and len(callbacks.callbacks) == 1


def test_a_shuffled_stream_is_read_once_for_all_samples(tmp_path):
    """In another order each time it is read, its rows would be averaged with other rows."""
    model, x = compiled(), patterns(20)
    model.fit(x, epochs=3, verbose=0, callbacks=[ds.posterior.Collector(tmp_path, num_samples=3, burn_in=0, every=1)])
    posterior = ds.posterior.load(tmp_path)
    stream = tf.data.Dataset.from_tensor_slices(x).shuffle(20, seed=1).batch(7)
    mean = posterior.log_likelihood(model, x, 2000).mean()
    assert float(posterior.log_likelihood(model, stream, 2000).mean()) == pytest.approx(float(mean), abs=0.05)
    assert float(posterior.curve(model, stream, 2000).predictive[-1].mean()) == pytest.approx(float(mean), abs=0.05)
