"""What version 0.1 saved before there were runs and rows: a model of two chains over θ with persistent chains over z
and a horseshoe prior, learnt from `ROWS` for two epochs, and its posterior samples.
"""

import json
import pathlib
import zipfile

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.training.support import begin

FILES = pathlib.Path(__file__).parent / "files"
with zipfile.ZipFile(FILES / "before_runs.keras") as _file:
    WRITTEN_BY = json.loads(_file.read("metadata.json"))["keras_version"]
pytestmark = pytest.mark.skipif(
    tuple(map(int, keras.__version__.split(".")[:2])) < tuple(map(int, WRITTEN_BY.split(".")[:2])),
    reason="an earlier Keras does not read what a later one wrote",
)
ROWS = np.random.default_rng(0).integers(0, 2, (12, 4)).astype(np.float32)


def test_a_model_loads_with_all_of_its_state_and_goes_on():
    model = keras.saving.load_model(FILES / "before_runs.keras")
    with np.load(FILES / "before_runs.npz") as stored:
        # what a run has kept since
        later = ("epochs_begun", "epochs_before", "assigned_", "weights_6", "weights_7", "weights_8", "weights_9")
        assert set(stored.files) == {name for name in model.run.saved if not name.startswith(later)}
        for name, variable in ((name, model.run.saved[name]) for name in stored.files):
            np.testing.assert_array_equal(variable.numpy(), stored[name], err_msg=name)
        begin(model, ROWS)  # the rows are those that the chains over z belong to
        for i, part in enumerate(model.run.state.carried):
            np.testing.assert_array_equal(part.numpy(), stored[f"carried_{i}"])
    model.fit(ROWS, batch_size=4, epochs=3, initial_epoch=2, verbose=0)
    assert int(model.run.steps) == 9 and int(model.run.epochs) == 3


def test_posterior_samples_load():
    model = keras.saving.load_model(FILES / "before_runs.keras")
    posterior = ds.posterior.load(FILES / "before_runs_samples")
    assert [(sample.step, sample.chain) for sample in posterior.samples] == [(3, 0), (3, 1), (6, 0), (6, 1)]
    for chain, (theta, _) in zip(posterior.samples[2:], model.chain_weights(), strict=True):
        for stored, live in zip(chain.theta, theta, strict=True):
            np.testing.assert_array_equal(stored, live)
    (_, first), (_, second) = model.chain_weights()  # there was one recognition network for all
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_all_epochs_of_a_run_that_knows_no_beginning_are_its_own():
    """Also where the run in whose place it comes followed another."""
    one, other = (tiny_model((2,), units=4, seed=1) for _ in range(2))
    store = {}
    one.compile("sgld", jit_compile=False)
    one.fit(ROWS, epochs=2, verbose=0)
    one._stored.write(store)
    assert store.pop("epochs_begun") == 0
    other.compile("map", jit_compile=False)
    other.fit(ROWS, epochs=5, verbose=0)
    other.compile("sgld", jit_compile=False)
    assert int(other.run.epochs_begun) == 5
    other._stored.read(store)
    assert (int(other.run.epochs_begun), int(other.run.epochs)) == (0, 2)
