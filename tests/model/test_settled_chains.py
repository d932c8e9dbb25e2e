"""How many chains "auto" is: told by the plan of the first fit, kept by the run, its files and its resumed twins.

`tests/training/test_fitting.py` has the same rules without Keras, in a tenth of the time.
"""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.model.support import RATE, assert_same_state, patterns, state
from tests.oracles import tiny_model
from tfdsmcmc.mcmc.warm_start_results import NEVER
from tfdsmcmc.model import choices


@pytest.fixture(autouse=True)
def a_chain_for_each_two_updates(monkeypatch):
    monkeypatch.setattr(choices, "_EACH", 2)


def compiled(num_chains="auto", latent=(2,), warm=False, **arguments):
    model = tiny_model(latent, units=4, seed=3, scale=0.3)
    kernel = ds.mcmc.SGLD(learning_rate=RATE)
    if warm:
        kernel = ds.mcmc.WarmStart(kernel=kernel)
    proposal = ds.proposals.Wake(keras.optimizers.SGD(1e-2))
    model.compile(kernel, proposal=proposal, jit_compile=False, num_chains=num_chains, **arguments)
    return model


def fit(model, until, start=0, **arguments):
    """Epochs of three updates."""
    return model.fit(patterns(), batch_size=30, epochs=until, initial_epoch=start, verbose=0, **arguments)


def chains_of(model):
    """(of the run, of the settings)."""
    return model.run.num_chains, model.get_compile_config()["num_chains"]


def test_the_law():
    few, many = [np.zeros((50, 1000)), np.zeros(50_000)], [np.zeros((100, 1000)), np.zeros(1)]
    expected = {(1, 0): 1, (3, 0): 1, (4, 0): 2, (5, 0): 2, (6, 0): 3, (9, 0): 3, (None, 0): 3}
    expected |= {(9, 1): 1, (3, 1): 1, (None, 1): 1}
    for (updates, place), chains in expected.items():
        assert choices.chains_of("auto", (few, many)[place], updates) == chains
    assert choices.chains_of(2, many, 1) == 2


@pytest.mark.parametrize(
    ("epochs", "kernel_steps", "chains"),
    [(1, 1, 1), (2, 1, 3), pytest.param(1, 2, 3, marks=pytest.mark.slow)],
)
@pytest.mark.filterwarnings("ignore:WarmStart goes by gradient noise")
def test_the_first_fit_settles_it_bit_for_bit(epochs, kernel_steps, chains):
    """As if that number had been given; later fits and what is trained no longer do not change it."""
    model, given = (compiled(number, kernel_steps=kernel_steps) for number in ("auto", chains))
    assert chains_of(model) == (3, "auto")
    fit(model, 0)
    assert chains_of(model) == (3, "auto")  # nothing was planned
    for start, until in ((0, epochs), (epochs, epochs + 3)):
        for each in (model, given):
            fit(each, until, start)
        assert chains_of(model) == (chains, chains)
        assert_same_state(model, given)
    model.compile(kernel="sgnht", num_chains="auto", jit_compile=False)
    # another run, with a plan of its own; but several chains are not thrown away by it
    assert chains_of(model) == (3, "auto" if chains == 1 else 3)


def test_a_fit_without_a_step_plans_no_climb():
    model = compiled(1, warm=True)
    fit(model, 0)
    assert int(model.run.state.kernel_results.begins) == NEVER
    fit(model, 4)
    assert int(model.run.state.kernel_results.begins) == 6


def test_numbers_that_are_given_stay():
    for number in (1, 2):
        model = compiled(number)
        fit(model, 2)
        assert chains_of(model) == (number, number)


def test_rows_that_are_refused_settle_nothing():
    model = compiled()
    with pytest.raises(ValueError, match="Received"):
        model.fit(np.full((4, 3), 0.5), epochs=1, verbose=0)
    assert chains_of(model) == (3, "auto")


def test_a_plan_of_unknown_length_is_long():
    import tensorflow as tf

    rows = tf.data.Dataset.from_tensor_slices(patterns(40)).batch(20).filter(lambda x: True)
    model = compiled()
    model.fit(rows, epochs=1, verbose=0, validation_data=patterns(20))
    assert chains_of(model) == (3, 3)


@pytest.mark.parametrize("epochs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_saved_model_goes_on(epochs, tmp_path):
    """Also where the next plan would have another number; one that was not fitted stays open."""
    model = compiled()
    model.save(tmp_path / "open.keras")
    assert chains_of(keras.saving.load_model(tmp_path / "open.keras")) == (3, "auto")
    fit(model, epochs)
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "run.weights.h5")
    loaded, other = keras.saving.load_model(tmp_path / "model.keras"), compiled()
    other.load_weights(tmp_path / "run.weights.h5")
    until = 4 if epochs == 1 else 3
    for each in (model, loaded, other):
        assert chains_of(each) == (1 if epochs == 1 else 3,) * 2
        fit(each, until, epochs)
        assert_same_state(model, each)


def test_a_file_that_does_not_fit_leaves_it_open(tmp_path):
    one = compiled(1, latent=(3,))
    fit(one, 1)
    one.save_weights(tmp_path / "run.weights.h5")
    model = compiled()
    before = state(model)
    with pytest.raises(ValueError, match="could not be loaded"):
        model.load_weights(tmp_path / "run.weights.h5")
    assert chains_of(model) == (3, "auto")
    for part, now in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(part, now)


@pytest.mark.parametrize(("open_chains", "stored"), [(3, 1), (3, 2), (1, 2)])
@pytest.mark.parametrize("part", ["recognition", "recognition layer", "generative layer"])
def test_what_froze_since_compile_is_refused_by_a_file_of_other_chains(
    part, open_chains, stored, tmp_path, monkeypatch
):
    """The file settles the number by another run, which would be of what learns now; thawed it takes it whole."""
    several = compiled(stored, latent=(3, 2))
    fit(several, 1)
    several.save_weights(tmp_path / "run.weights.h5")
    if open_chains == 1:
        monkeypatch.setattr(choices, "_MANY_WEIGHTS", 1)
    model = compiled(latent=(3, 2))
    network = getattr(model, part.split()[0])
    frozen, before = (network.layers[0] if "layer" in part else network), state(model)
    frozen.trainable = False
    with pytest.raises(ValueError, match=r"since compile\(\): call it again before load_weights.* Received: other"):
        model.load_weights(tmp_path / "run.weights.h5")
    with pytest.raises(ValueError, match="call it again before fit.* Received: other trainable weights"):
        fit(model, 2, 1)
    assert chains_of(model) == (open_chains, "auto")
    frozen.trainable = True
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)
    model.load_weights(tmp_path / "run.weights.h5")
    for each in (model, several):
        fit(each, 2, 1)
    assert chains_of(model) == (stored, stored)
    assert_same_state(model, several)


class Killed(Exception):
    pass


def killed_in(epoch):
    def kill(at, logs=None):
        if at == epoch:
            raise Killed

    return keras.callbacks.LambdaCallback(on_epoch_begin=kill)


@pytest.mark.slow
@pytest.mark.parametrize(("plan", "until"), [(2, 2), (2, 5), (1, 3)])
def test_a_resumed_run_keeps_them(plan, until, tmp_path, monkeypatch):
    """Whether it is resumed with its own plan or with a longer one, whose number may be larger."""
    monkeypatch.setattr(choices, "_EACH", 3 * plan)
    straight, killed, resumed = (compiled(warm=True) for _ in range(3))
    fit(straight, plan)
    kept = keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    if plan == 1:
        fit(killed, 1, callbacks=[kept])
    else:
        with pytest.raises(Killed):
            fit(killed, plan, callbacks=[kept, killed_in(plan - 1)])
    fit(resumed, until, callbacks=[keras.callbacks.BackupAndRestore(tmp_path)])
    fit(straight, until, plan)
    assert chains_of(killed) == chains_of(resumed) == (1, 1)
    assert_same_state(straight, resumed)
