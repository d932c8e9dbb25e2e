"""The parts of a model around its run, each without Keras' model: a loop over a feed is a fit."""

import re
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.training.tenants import ColumnSums
from tfdsmcmc.supports import Binary
from tfdsmcmc.training.fitting import arguments, refusing, saving
from tfdsmcmc.training.fitting.fitting import Fitting
from tfdsmcmc.training.fitting.sources import source_for
from tfdsmcmc.training.fitting.stored_run import StoredRun

X = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]], np.float32)
COUNTS = {
    "batch_size": 2, "epochs": 1, "initial_epoch": 0, "steps_per_epoch": None, "validation_steps": None,
    "validation_batch_size": None, "validation_freq": 1, "validation_split": 0.0, "shuffle": True, "num_rows": None,
}  # fmt: skip
SETTINGS = {"steps_per_execution": 2, "jit_compile": False}


def learnable():
    """What a model says of itself, and no more."""
    mean = keras.Variable(tf.zeros([3]), name="mean")
    model = SimpleNamespace(
        run=None, drawn=0, seed=5, units=3, support=Binary(), context=None, takes_gaps=True,
        theta_variables=[mean], phi_variables=[], weights=[mean], optimizer=None, check_rows=lambda rows: None,
    )  # fmt: skip
    model.source = lambda *options: source_for(model, *options)
    return model


def begun(**settings):
    model = learnable()
    fitting = Fitting(model)
    fitting.begin_run(ColumnSums(model.theta_variables[0]), {**SETTINGS, **settings}, lambda steps: 1 if steps else 3)
    return model, fitting


def learn(model, fitting, **counts):
    with fitting.alone():
        feed = fitting.begin(X, None, None, arguments.checked(**{**COUNTS, **counts}))
        elements = iter(feed.dataset)
        with pytest.raises(StopIteration):
            while True:
                fitting.advance(elements)
    assert fitting.feed is None


def test_a_loop_over_the_feed_is_a_fit():
    model, fitting = begun()
    learn(model, fitting)
    np.testing.assert_array_equal(model.theta_variables[0].numpy(), X.mean(0))
    assert int(model.run.steps) == 2 and fitting.pairs(model.run.weights)[0][1] == []


def test_the_first_fit_or_a_stored_run_settles_the_chains():
    for settle, chains in ((lambda fitting: fitting.settle(10), 1), (lambda fitting: fitting.settle(None, 2), 2)):
        model, fitting = begun(num_chains="auto")
        assert model.run.num_chains == 3 and fitting.settings["num_chains"] == "auto"
        settle(fitting)
        assert model.run.num_chains == chains == fitting.settings["num_chains"]
        fitting.settle(10)  # for good
        assert model.run.num_chains == chains


def test_a_run_goes_into_a_store_and_comes_out_of_it():
    (model, fitting), (other, empty) = begun(), begun()
    learn(model, fitting)
    model.drawn, store = 4, {}
    StoredRun(model, fitting).write(store)
    StoredRun(other, empty).read(store)
    assert int(other.run.steps) == 2 and other.drawn == 4
    with pytest.raises(ValueError, match="compiled with num_chains=2"):
        StoredRun(*begun(num_chains=2)).read(store)


def test_weights_that_do_not_fit_change_nothing():
    model, fitting = begun(num_chains="auto")
    run = model.run

    def read(path):
        model.theta_variables[0].assign(np.ones(3))
        fitting.settle(None, 2)
        raise OSError(path)

    with pytest.raises(OSError):
        saving.load_weights(model, fitting, read, "a file")
    assert model.run is run and fitting.settings["num_chains"] == "auto"
    np.testing.assert_array_equal(model.theta_variables[0].numpy(), np.zeros(3))
    fitting.settle(10)
    assert model.run.num_chains == 1


def test_a_file_that_is_not_written_to_its_end_leaves_the_old_one(tmp_path):
    path = tmp_path / "model.keras"
    path.write_text("old")

    def write(name):
        with open(name, "w") as file:
            file.write("half")
        raise OSError

    with pytest.raises(OSError):
        saving.save(write, path, True)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_refused_methods_say_what_there_is_instead():
    for name, (_, instead) in refusing.REFUSED.items():
        with pytest.raises(ValueError, match=re.escape(f"{instead} Received: a call of {name}")):
            refusing.refused(name)(None, 1)
