"""Runs with a warm start that are killed, restored or saved go on where they were, in the climb and after it."""

import functools

import keras
import pytest

from tests.model.support import assert_same_state, patterns
from tests.training.warm_starts import LEARNT, fit, model_of


@functools.cache
def straight(num_chains):
    """A model after a run that nothing broke off."""
    model = model_of(LEARNT, num_chains=num_chains, patience=3)
    fit(model, 6, validation_data=patterns(20))
    assert model.run.sampled
    return model


@pytest.mark.slow
@pytest.mark.parametrize("num_chains", [1, 2])
@pytest.mark.parametrize("died_at", [1, 2, 4])
def test_a_run_that_is_killed_resumes_across_the_phases(tmp_path, died_at, num_chains):
    """Bit for bit: in the climb, at its end, in the chain. The climb ends by validation, after nine updates or more."""

    class Die(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.run.epochs) == died_at and batch == 1:
                raise KeyboardInterrupt

    def run(callbacks):
        model = model_of(LEARNT, num_chains=num_chains, patience=3)
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
        fit(model, 6, callbacks=[backup, *callbacks], validation_data=patterns(20))
        return model

    with pytest.raises(KeyboardInterrupt):
        run([Die()])
    assert_same_state(straight(num_chains), run([]))


def test_a_restored_run_plans_what_is_left(tmp_path):
    """Of forty epochs, twenty of them to climb, one was run; restored for eight, half of the seven left climb."""
    backup = keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    stop = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: setattr(first, "stop_training", True))
    first, second = model_of(), model_of()
    fit(first, 40, callbacks=[stop, backup], validation_data=patterns(20))
    assert int(first.run.state.kernel_results.begins) == 61 and int(first.run.steps) == 3
    fit(second, 8, callbacks=[backup], validation_data=patterns(20))
    assert int(second.run.state.kernel_results.begins) == 3 + 10 and second.run.sampled and int(second.run.epochs) == 8


@pytest.mark.parametrize(("every", "killed"), [(2, 2), (1, 5), pytest.param(1, 2, marks=pytest.mark.slow)])
def test_a_run_that_is_restored_within_an_epoch_climbs_to_its_look(tmp_path, every, killed):
    """The broken epoch begins anew: of four epochs of three steps two climb, and one step goes back to the best."""
    kill = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: int(model.run.steps) == killed and 1 / 0
    )
    backup = keras.callbacks.BackupAndRestore(tmp_path, save_freq=1, delete_checkpoint=False)
    model = model_of()
    with pytest.raises(ZeroDivisionError):
        fit(model, 4, callbacks=[backup, kill], validation_data=patterns(20), validation_freq=every)
    model = model_of()
    fit(model, 4, callbacks=[backup], validation_data=patterns(20), validation_freq=every)
    results = model.run.state.kernel_results
    assert int(results.begins) == 9 and int(results.best_step) > 0 and model.run.sampled


@pytest.mark.slow
def test_a_saved_model_goes_on_where_it_was(tmp_path):
    model = model_of(patience=3)
    fit(model, 1, validation_data=patterns(20))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert_same_state(model, loaded)
    for each in (model, loaded):
        fit(each, 3, 1)
    assert_same_state(model, loaded)
