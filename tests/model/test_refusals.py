"""What Keras offers and a model refuses, before anything is written or asked for."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.model.support import compiled, patterns


@pytest.mark.parametrize("name", ["model.h5", "model.hdf5", "model", "model.npz"])
def test_a_file_that_could_not_be_loaded_is_not_written(tmp_path, name):
    with pytest.raises(ValueError, match="NAME.keras.*Received: "):
        compiled().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_written_as_keras_writes_it(tmp_path):
    model = compiled()
    model.save(tmp_path / "folder", zipped=False)
    for one, other in zip(keras.saving.load_model(tmp_path / "folder").get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_single_batches_are_refused_by_the_name_of_what_there_is():
    model = compiled()
    calls = {model.train_on_batch: "fit", model.test_on_batch: "evaluate", model.predict: "log_likelihood"}
    calls |= {model.predict_on_batch: "log_likelihood", model.export: "tfdsmcmc.serving.export"}
    for call, name in calls.items():
        with pytest.raises(ValueError, match=f"Use {name}.*Received: "):
            call(patterns())


class Sparse:
    """What `scipy.sparse` looks like."""

    def toarray(self):
        return np.eye(4)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (None, "x must be an array.*Received: NoneType"),
        (Sparse(), "toarray.*Received: Sparse"),
        (np.full((2, 4), np.nan), "At least one entry of x must be observed. Received: 8 missing"),
        (ds.datasets.load("digits"), "x is rows, such as those of data.train. Received: x, a Dataset"),
        (ds.Rows(patterns(4), np.arange(4)), r"labels are Rows\(x, context=…\). Received: shape=\(4,\)"),
        (ds.Rows(patterns(4), np.full((4, 4), 0.5)), "True where an entry is observed.*Received: float64"),
    ],
    ids=["none", "sparse", "nothing observed", "dataset", "labels", "no mask"],
)
def test_what_is_no_array_is_said(x, message):
    with pytest.raises(ValueError, match=message):
        compiled().fit(x, verbose=0)


@pytest.mark.parametrize("count", [10**10, 2**31])
def test_counts_beyond_a_tensor_are_refused_before_memory_is_asked_for(count):
    model = compiled()
    for call in (lambda: model.sample(count), lambda: model.log_likelihood(patterns(2), count)):
        with pytest.raises(ValueError, match="at most.*Received: num_samples="):
            call()


def test_images_of_empty_weights_are_refused_and_histograms_are_not(tmp_path):
    """The first would end the process."""
    model = compiled()
    with pytest.raises(ValueError, match="write_images=False.*Received: "):
        model.fit(patterns(), verbose=0, callbacks=keras.callbacks.TensorBoard(tmp_path, 1, write_images=True))
    assert not list(tmp_path.iterdir()) and int(model.run.steps) == 0
    model.fit(patterns(), verbose=0, callbacks=keras.callbacks.TensorBoard(tmp_path, 1, write_graph=False))


def test_callbacks_of_an_iterator_are_called():
    seen = []
    callbacks = (keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch)) for _ in range(2))
    compiled().fit(patterns(), epochs=2, verbose=0, callbacks=callbacks)
    assert seen == [0, 0, 1, 1]
