"""When a climb goes back to its best θ, the φ of that step comes with it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc.mcmc.events import Validated
from tfdsmcmc.training.steps.best_recognition import BestRecognition, kept

ROWS = np.array([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]], "float32")


class Looks(keras.callbacks.Callback):
    """The weights after each epoch, of one step, and looks that find the second the best."""

    def on_train_begin(self, logs=None):
        self.seen = {}

    def on_epoch_end(self, epoch, logs=None):
        run = self.model.run
        self.seen[int(run.steps)] = self.model.chain_weights()
        run.tell(Validated(tf.constant(-1.0 if int(run.steps) == 2 else -2.0), 1))


def fitted(num_chains, epochs, jit_compile=False, **arguments):
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC(learning_rate=0.01), fraction=0.5, patience=100)
    model.compile(
        kernel=kernel, latents=ds.latents.NAIS(5), num_chains=num_chains, jit_compile=jit_compile, **arguments
    )
    looks = Looks()
    model.fit(ROWS, batch_size=4, epochs=epochs, verbose=0, callbacks=[looks])
    return model, looks.seen


@pytest.mark.parametrize(("num_chains", "jit_compile"), [(1, False), (2, False), (1, True)])
def test_theta_and_phi_go_back_together(num_chains, jit_compile):
    model, seen = fitted(num_chains, 8, jit_compile)
    assert np.all(model.run.state.kernel_results.begins == 4)
    for chain in range(num_chains):
        best, best_phi = seen[2][chain]
        before, now = ([*seen[step][chain][0], *seen[step][chain][1]] for step in (3, 4))
        for found, wanted, earlier in zip(now, (*best, *best_phi), before, strict=True):
            np.testing.assert_array_equal(found, wanted)
            assert found.size == 0 or np.any(found != earlier)
        assert any(np.any(a != b) for a, b in zip(seen[5][chain][1], best_phi))  # and learns on from there
        theta, phi = ([part[chain] if num_chains > 1 else part for part in parts] for parts in started(model))
        for found, wanted in zip((*theta, *phi), (*best, *best_phi), strict=True):
            np.testing.assert_array_equal(found, wanted)


def started(model):
    return [[np.asarray(part) for part in parts] for parts in model.run.step.started_at(model.run.state)]


def test_updates_between_two_looks_may_pass_the_end_of_the_climb():
    """With three θ-updates a minibatch the climb ends within one; φ goes back in the same."""
    model, seen = fitted(1, 8, kernel_steps=3)
    begins = int(model.run.state.kernel_results.begins)
    assert begins == 12
    for now, wanted in zip(seen[4][0][1], seen[2][0][1], strict=True):
        np.testing.assert_array_equal(now, wanted)


def test_a_phi_that_does_not_learn_is_not_kept():
    model, _ = fitted(1, 4, proposal=None)
    assert model.run.state.best_phi == () and model.run.step.started_at(model.run.state) is None


def test_what_is_kept_of_each_chain_is_of_its_own_best_step():
    before = BestRecognition(tf.constant([2, 4]), [tf.constant([[1.0, 2.0], [3.0, 4.0]])])
    after = kept(before, tf.constant([6, 4]), tf.constant([6, 6]), [tf.constant([[5.0, 6.0], [7.0, 8.0]])])
    np.testing.assert_array_equal(after.step, [6, 4])
    np.testing.assert_array_equal(after.values[0], [[5.0, 6.0], [3.0, 4.0]])
    late = kept(before, tf.constant([6, 6]), tf.constant([8, 8]), [tf.constant([[5.0, 6.0], [7.0, 8.0]])])
    np.testing.assert_array_equal(late.step, [2, 4])  # of a file that lacks the φ of its best step
