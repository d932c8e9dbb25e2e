"""What users of Keras hand to `fit`: it works as they expect, or says what to do instead."""

import threading

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tfdsmcmc.training.feeding.rows_of_fit import split_last

X = (np.random.default_rng(0).random((40, 6)) < 0.4).astype(np.float32)


def model(**arguments):
    keras.utils.set_random_seed(0)
    found = ds.models.from_name("SBN/SBN 3-2", units=6, prior=tfp.distributions.Normal(0.0, 1.0))  # no scales to draw
    found.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), **arguments)
    return found


class Batches(keras.utils.PyDataset):
    """Four batches of ten rows, as an element is made of them; how many passes have ended."""

    passes = 0

    def __init__(self, element=lambda x: x):
        super().__init__()
        self.element = element

    def __len__(self):
        return 4

    def __getitem__(self, place):
        return self.element(X[10 * place : 10 * place + 10])

    def on_epoch_end(self):
        self.passes += 1


def test_a_py_dataset_is_what_the_same_dataset_is():
    batches, weights = Batches(), []
    for x in (batches, Batches(lambda x: (x,)), tf.data.Dataset.from_tensor_slices(X).batch(10)):
        one = model()
        one.fit(x, epochs=2, verbose=0)
        weights.append(one.get_weights())
    for others in weights[1:]:
        for mine, theirs in zip(weights[0], others, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert batches.passes >= 2
    assert model().log_likelihood(Batches(), 5).value.shape == (40,)


@pytest.mark.parametrize("element", [lambda x: (x, x), lambda x: x[:, :3], lambda x: x[0]])
def test_a_py_dataset_of_another_kind(element):
    with pytest.raises(Exception, match="a PyDataset.*Received: "):
        model().fit(Batches(element), epochs=1, verbose=0)


def test_steps_per_execution_auto_is_as_many_as_an_epoch_has():
    one, other = model(steps_per_execution="auto"), model(steps_per_execution=4)
    for each in (one, other):
        each.fit(X, batch_size=10, epochs=2, verbose=0)
    assert one.steps_per_execution == 4
    for mine, theirs in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert one.get_compile_config()["steps_per_execution"] == "auto"
    with pytest.raises(ValueError, match="Received: steps_per_execution='all'"):
        model(steps_per_execution="all")


@pytest.mark.parametrize("made", [lambda x: x, lambda x: tf.data.Dataset.from_tensor_slices(x).batch(10)])
def test_validation_steps_look_at_the_first_batches(made):
    one, arguments = model(), {"validation_data": made(X), "validation_steps": 2, "validation_batch_size": 10}
    seen = one.fit(X, epochs=1, verbose=0, **arguments).history["val_log_likelihood"]
    assert seen == pytest.approx(one.evaluate(X[:20], batch_size=10, verbose=0)[:1])
    assert seen != pytest.approx(one.evaluate(X, batch_size=10, verbose=0)[:1])


def test_a_dataset_of_one_pass_is_refused():
    once = iter([X[:20], X[20:]])
    dataset = tf.data.Dataset.from_generator(lambda: once, output_signature=tf.TensorSpec([None, 6], tf.float32))
    with pytest.raises(ValueError, match="must give its rows whenever it is read.*Received: "):
        model().fit(dataset, epochs=2, verbose=0)


def test_one_thread_at_a_time():
    """The second fit is refused, and the first ends as if nobody had tried."""
    one, refused = model(), []

    def again(epoch, logs):
        def fit():
            try:
                one.fit(X, epochs=1, verbose=0)
            except ValueError as error:
                refused.append(str(error))

        thread = threading.Thread(target=fit)
        thread.start()
        thread.join()

    one.fit(X, epochs=2, verbose=0, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=again)])
    assert len(refused) == 2 and all("once at a time. Received: " in text for text in refused)
    assert int(one.run.steps) == 2
    one.fit(X, epochs=1, verbose=0)


@pytest.mark.parametrize("made", [
    lambda: ds.boltzmann.RBM(6, 3),
    lambda: ds.boltzmann.MixtureOfBernoullis(6, 2),
    lambda: model(),
])  # fmt: skip
def test_no_strategy_and_no_other_precision(made):
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope(), pytest.raises(ValueError, match="Received: Mirrored"):
        made()
    keras.config.set_dtype_policy("float64")
    try:
        with pytest.raises(ValueError, match="compute in float32. Received: dtype=float64"):
            made()
    finally:
        keras.config.set_dtype_policy("float32")


@pytest.mark.parametrize(("fraction", "held_out"), [(0.29, 29), (0.57, 57), (0.3, 30), (0.299, 29)])
def test_validation_split_is_not_rounded_off(fraction, held_out):
    """0.29 · 100 is 28.999… in floats."""
    learnt, seen = split_last(ds.rows.ArraySource(ds.Rows(np.zeros((100, 3), np.uint8))), fraction)
    assert (learnt.num_rows, seen.num_rows) == (100 - held_out, held_out)
