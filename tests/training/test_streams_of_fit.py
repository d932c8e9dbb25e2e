"""Batches of a dataset in `fit`: how many are read, what their sizes are worth, and what is wrong with one."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.training.test_inputs_of_fit import Batches, X, model
from tfdsmcmc.rows import source_of
from tfdsmcmc.supports import Real
from tfdsmcmc.training.feeding.feed import StreamFeed


class StepsOfEpochs(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.steps = []

    def on_epoch_end(self, epoch, logs=None):
        self.steps.append(int(self.model.run.steps))


@pytest.mark.parametrize("at_once", [1, 2, 4, "auto"])
@pytest.mark.parametrize("rows", [X, tf.data.Dataset.from_tensor_slices(X).batch(10).repeat()], ids=["array", "stream"])
def test_an_epoch_has_as_many_minibatches_as_it_is_told(at_once, rows):
    counted, one = StepsOfEpochs(), model(jit_compile=False, steps_per_execution=at_once)
    told = {} if rows is X else {"num_rows": 40}
    one.fit(rows, batch_size=10, steps_per_epoch=3, epochs=3, callbacks=[counted], verbose=0, **told)
    assert counted.steps == [3, 6, 9]


@pytest.mark.parametrize("at_once", [1, 2, 4, "auto"])
def test_all_of_a_stream_that_ends_is_learnt_from(at_once, monkeypatch):
    """Seven batches in epochs of five: the next epoch goes on, over the end of the stream, as over that of an array."""
    rows = (np.arange(14)[:, np.newaxis] >> np.arange(6) & 1).astype(np.float32)
    one, read, blocks = model(jit_compile=False, steps_per_execution=at_once), [], StreamFeed.blocks

    def spied(feed, found, steps):
        read.extend(row @ (1 << np.arange(6)) for batch in found for row in batch)
        return blocks(feed, found, steps)

    monkeypatch.setattr(StreamFeed, "blocks", spied)
    stream, counted = tf.data.Dataset.from_tensor_slices(rows).batch(2), StepsOfEpochs()
    one.fit(stream, steps_per_epoch=5, epochs=4, callbacks=[counted], verbose=0)
    np.testing.assert_array_equal(read, np.arange(40) % 14)
    assert counted.steps == [5, 10, 15, 20]


def test_a_stream_of_another_model_is_checked():
    stream = tf.data.Dataset.from_tensors(np.full((4, 6), 2.5, np.float32))
    source = source_of("x", stream, 6, Real())
    for use in (lambda one: one.fit(source, verbose=0), lambda one: one.log_likelihood(source, 3)):
        with pytest.raises(ValueError, match="binary.* Received: "):
            use(model(jit_compile=False))


def test_batches_of_other_sizes_are_told():
    x, one = tf.data.Dataset.from_tensor_slices(X[:31]), model(jit_compile=False)
    with pytest.warns(UserWarning, match="have 1 to 10 rows.* 10 times as much") as told:
        one.fit(x.batch(10), verbose=0)
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        one.fit(x.batch(10, drop_remainder=True), verbose=0)
        one.fit(x.batch(16), verbose=0)  # 15 rows at the end


@pytest.mark.parametrize("kind", ["array", "dataset", "PyDataset"])
def test_validation_steps_are_batches(kind):
    """The first batches alone, of `batch_size` rows if no other size is told."""
    data = {"array": X, "dataset": tf.data.Dataset.from_tensor_slices(X).batch(10), "PyDataset": Batches()}[kind]
    for told in ({"batch_size": 10}, {"batch_size": 20, "validation_batch_size": 10}):
        found, wanted = (
            model(jit_compile=False).fit(X, validation_data=rows, verbose=0, **more).history["val_log_likelihood"]
            for rows, more in ((data, {**told, "validation_steps": 2}), (X[:20], told))
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (lambda x: x[:, :4], r"yields batches of shape \(rows, 6\)"),
        (lambda x: (x, np.zeros(len(x))), "there are no targets"),
        (lambda x: np.full(x.shape, "a"), "numbers"),
        (lambda x: x + 1j, "real numbers"),
        (lambda x: 3 * x, "binary"),
    ],
)
def test_what_is_wrong_with_a_batch_is_a_value_error(element, message):
    with pytest.raises(ValueError, match=rf"{message}.* Received: [^\n]*$"):
        model(jit_compile=False).fit(Batches(element), verbose=0)


def test_what_a_masked_array_hides_is_missing():
    hidden = np.random.default_rng(1).random(X.shape) < 0.3
    masked = np.ma.array(np.where(hidden, 1.0, X).astype(np.float32), mask=hidden)
    wanted = model(jit_compile=False).source("x", X, ~hidden).all()

    class Hidden(Batches):
        def __getitem__(self, place):
            return masked[10 * place : 10 * place + 10]

    for rows in (masked, list(masked), ds.Rows(masked), Hidden()):
        found = model(jit_compile=False).source("x", rows).all()
        np.testing.assert_array_equal(found.observed, wanted.observed)
        np.testing.assert_array_equal(found.values[~hidden], X[~hidden])


@pytest.mark.parametrize("rows", [np.full((4, 6), 2.5), np.full((4, 6), "a"), np.full((4, 6), 1j), None])
@pytest.mark.parametrize("observed", [None, np.ones((4, 6), bool)])
def test_rows_that_do_not_fit_are_refused(rows, observed):
    with pytest.raises(ValueError, match="Received: "):
        model(jit_compile=False).fit(ds.Rows(rows, observed), verbose=0)


def test_a_source_of_another_model_is_checked():
    values = np.random.default_rng(2).normal(size=(5, 6)).astype(np.float32)
    source = ds.rows.ArraySource(ds.Rows(values))
    for use in (lambda one: one.fit(source, verbose=0), lambda one: one.log_likelihood(source, 3)):
        with pytest.raises(ValueError, match="binary.* Received: "):
            use(model(jit_compile=False))
    model(jit_compile=False).fit(ds.rows.ArraySource(ds.Rows(X)), verbose=0)


@pytest.mark.parametrize("shuffle", ["no", None, 0])
def test_shuffle_is_true_or_false(shuffle):
    with pytest.raises(ValueError, match="shuffle must be True or False. Received: "):
        model(jit_compile=False).fit(X, shuffle=shuffle, verbose=0)


@pytest.mark.parametrize("steps", [None, 2])
def test_validation_batches_are_read_once_a_look(steps):
    """And once to be checked; the end of each pass is told."""
    reads = []
    batches = Batches(lambda x: reads.append(len(x)) or x)
    model(jit_compile=False).fit(X, validation_data=batches, validation_steps=steps, epochs=3, verbose=0)
    assert (len(reads), batches.passes) == (4 * (steps or 4), 4)


def test_what_is_wrong_with_a_later_pass_is_a_value_error_too():
    reads = []

    def element(x):
        reads.append(len(x))
        return x if len(reads) < 7 else x[:, :4]

    with pytest.raises(ValueError, match=r"yields batches of shape \(rows, 6\). Received: shape=\(10, 4\)$"):
        model(jit_compile=False).fit(Batches(element), verbose=0)


def test_a_source_is_looked_at_once():
    looks = []

    class Own(ds.rows.ArraySource):
        def batches(self, size):
            looks.append(size)
            yield from super().batches(size)

    source, one = Own(ds.Rows(X)), model(jit_compile=False)
    one.source("x", source)
    one.source("x", source)
    assert len(looks) == 1
