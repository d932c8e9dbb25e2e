"""Learning from rows in a file: bit for bit what an array gives."""

import threading

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.pool import pooled

X = (np.random.default_rng(2).random((90, 4)) < [0.8, 0.3, 0.5, 0.6]).astype(np.uint8)
X[:, 3] |= X[:, 0]


@pooled
def compiled(**arguments):
    """A compiled tiny model; the same arguments give the same model."""
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    defaults = {
        "kernel": ds.mcmc.SGNHT(learning_rate=0.05),
        "proposal": ds.proposals.Wake(keras.optimizers.Adam(1e-2)),
        "jit_compile": False,
    }
    model.compile(**{**defaults, **arguments})
    return model


def persistent(**arguments):
    return compiled(latents=ds.latents.Gibbs(2, persistent=True), proposal=None, **arguments)


def fit(model, x, until, start=0, **arguments):
    return model.fit(x, batch_size=20, epochs=until, initial_epoch=start, verbose=0, **arguments)


def state(model):
    """Everything that a resumed run needs, as arrays by name."""
    found = {f"weight {i}": array for i, array in enumerate(model.get_weights())}
    found |= {name: variable.numpy() for name, variable in model.run.saved.items() if name != "identity"}
    optimizer = model.optimizer.variables if model.optimizer else []
    return found | {f"optimizer {i}": variable.numpy() for i, variable in enumerate(optimizer)}


def assert_same_state(one, other):
    one, other = state(one), state(other)
    assert one.keys() == other.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def in_file(folder, kind="bits"):
    """X in a file: bits, bytes, or what NumPy alone saves and maps."""
    path = folder / f"{kind}.npy"
    if kind == "memmap":
        np.save(path, X)
        return np.load(path, mmap_mode="r")
    return ds.datasets.open(ds.datasets.pack(path, X, packed=kind == "bits"))


CASES = {
    "steps one by one": (compiled, {"steps_per_execution": 1}),
    "blocks of three steps": (compiled, {"steps_per_execution": 3}),
    "two chains": (compiled, {"steps_per_execution": 3, "num_chains": 2}),
    "persistent chains over z": (persistent, {"steps_per_execution": 3}),
    "persistent chains over z, two over the weights": (persistent, {"num_chains": 2}),
    "with XLA": (compiled, {"steps_per_execution": 3, "jit_compile": True}),
}
LONG = CASES.keys() - {"steps one by one", "two chains", "persistent chains over z"}


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] if case in LONG else []) for case in CASES]
)
def test_a_file_gives_bit_for_bit_what_an_array_gives(case, tmp_path):
    make, arguments = CASES[case]
    one = make(**arguments)
    expected = fit(one, X, 3, shuffle=True)
    for kind in ("bits", "bytes", "memmap") if case == "steps one by one" else ("bits",):
        other = make(**arguments)
        found = fit(other, in_file(tmp_path, kind), 3, shuffle=True)
        assert int(other.run.steps) == 15
        assert_same_state(one, other)
        assert expected.history == found.history


@pytest.mark.slow
def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path):
    rows = in_file(tmp_path)
    whole, part = (persistent(steps_per_execution=3, num_chains=2) for _ in range(2))
    fit(whole, rows, 4)
    fit(part, rows, 2)
    part.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    fit(again, rows, 4, 2)
    assert_same_state(whole, again)
    # and from another kind of rows
    other = keras.saving.load_model(tmp_path / "model.keras")
    fit(other, X, 4, 2)
    assert_same_state(whole, other)


@pytest.mark.filterwarnings("ignore:The importance weights")
def test_estimates_and_imputations_of_a_file_are_those_of_the_array(tmp_path):
    rows = in_file(tmp_path)
    model, other = compiled(), compiled()
    history = fit(model, rows, 2, validation_data=rows).history
    assert history == fit(other, X, 2, validation_data=X).history and "val_log_likelihood" in history
    assert fit(model, rows, 3, 2, validation_split=0.3).history == fit(other, X, 3, 2, validation_split=0.3).history
    assert model.evaluate(rows, verbose=0) == model.evaluate(X, verbose=0)
    np.testing.assert_array_equal(model.log_likelihood(rows, 20).value, model.log_likelihood(X, 20).value)
    mask = np.array([True, False, True, True])
    np.testing.assert_array_equal(model.impute(rows, mask, seed=1), model.impute(X, mask, seed=1))


class _Stop(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        raise InterruptedError


def test_no_thread_is_left(tmp_path):
    rows = in_file(tmp_path)

    def left():
        return [thread for thread in threading.enumerate() if thread.name.startswith("rows")]

    model = compiled()
    fit(model, rows, 2)
    assert not left()
    with pytest.raises(InterruptedError):
        fit(model, rows, 4, 2, callbacks=[_Stop()])
    assert not left()
    fit(model, rows, 4, 2, callbacks=[keras.callbacks.TerminateOnNaN()])  # the model is as usable as before
    assert not left() and int(model.run.epochs) == 4


def test_files_of_another_width_are_refused_before_anything_changes(tmp_path):
    model = tiny_model((2,), units=5, seed=3, scale=0.3)
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.05), jit_compile=False)
    before = state(model)
    with pytest.raises(ValueError, match="^x must have the width 5. Received: "):
        fit(model, in_file(tmp_path), 1)
    for name, array in state(model).items():
        np.testing.assert_array_equal(array, before[name])
