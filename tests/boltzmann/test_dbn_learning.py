"""Deep belief networks learn: machine by machine, from draws of the one below, and are fine-tuned."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import ROWS, V
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.oracles import binary_states
from tfdsmcmc.boltzmann import DBN


def test_a_greedy_fit():
    """Machines learn in turn, above from draws of the one below; callbacks of each."""
    dbn = DBN([ds.boltzmann.RBM(3, 2, seed=1), ds.boltzmann.RBM(2, 3, seed=2)])
    for rbm in dbn.rbms:
        rbm.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), jit_compile=False)
    seen = [keras.callbacks.LambdaCallback() for _ in range(2)]
    histories = dbn.fit(
        ROWS, epochs=[2, 1], batch_size=4, callbacks=[[part] for part in seen], validation_data=ROWS[:4], tied=True,
        verbose=0,
    )  # fmt: skip
    assert [len(history.history["val_unnormalized_log_prob"]) for history in histories] == [2, 1]
    assert [int(rbm.run.steps) for rbm in dbn.rbms] == [6, 3]
    assert [part.model for part in seen] == dbn.rbms
    assert np.abs(dbn.rbms[1].kernel.numpy() - dbn.rbms[0].kernel.numpy().T).max() < 0.1  # tied, then learnt


@pytest.mark.slow
def test_a_file_goes_on_bit_for_bit(tmp_path):
    dbn = DBN([ds.boltzmann.RBM(3, 2, seed=1), ds.boltzmann.RBM(2, 3, seed=2)])
    dbn.fit(ROWS, epochs=1, batch_size=4, verbose=0)
    dbn.save(tmp_path / "dbn.keras")
    loaded = keras.saving.load_model(tmp_path / "dbn.keras")
    for each in (dbn, loaded):
        each.rbms[1].fit(ROWS, batch_size=4, epochs=2, initial_epoch=1, verbose=0)
    for one, other in zip(dbn.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(dbn.log_likelihood_bound(V).value, loaded.log_likelihood_bound(V).value)


def test_what_is_above_learns_from_draws_of_what_is_below():
    """The law of its visible units comes to have the means of h given the one row that there is."""
    dbn = DBN([tiny_rbm(3, 2, seed=1), ds.boltzmann.RBM(2, 1, seed=2)])
    above = dbn.rbms[1]
    above.compile(
        ds.mcmc.MAP(optimizer=keras.optimizers.SGD(keras.optimizers.schedules.InverseTimeDecay(1.0, 20, 1.0))),
        jit_compile=False, steps_per_execution=100,
    )  # fmt: skip
    x = np.repeat(ROWS[:1], 10_000, 0)
    above.fit(x, batch_size=100, epochs=2, verbose=0)
    p = tf.sigmoid(dbn.rbms[0].machine.hidden_logits(tf.constant(x[:1], tf.float32))).numpy()[0]
    mean = Enumerated(above.machine).joint.sum(1) @ binary_states(2)
    np.testing.assert_allclose(mean, p, atol=0.05)


def test_compile_and_fit_are_fit_and_compile():
    """Whichever comes first, the machines learn the same, fine-tuning begins there, and learns the same."""
    found = []
    for first in (True, False):
        dbn = DBN([ds.boltzmann.RBM(3, 2, seed=1), ds.boltzmann.RBM(2, 2, seed=2)])
        if first:
            dbn.compile(jit_compile=False)
        histories = dbn.fit(ROWS, epochs=2, batch_size=2, verbose=0)
        assert len(histories) == 2 and not dbn.fine_tuned
        if not first:
            dbn.compile(jit_compile=False)
        greedy = [variable.numpy() for variable in dbn.theta_variables]
        np.testing.assert_array_equal(greedy[0], greedy[-2])  # R = W
        dbn.fine_tune(ROWS, epochs=1, batch_size=2, verbose=0)
        found.append([*greedy, *(variable.numpy() for variable in dbn.theta_variables)])
        assert dbn.fine_tuned
        with pytest.raises(ValueError, match="before fine_tune.*Received: "):
            dbn.fit(ROWS)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_network_that_was_fine_tuned():
    """The error says what helps, and that does."""
    dbn = DBN([ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(2, 3)])
    dbn.compile(jit_compile=False)
    dbn.fine_tune(ROWS, verbose=0)
    with pytest.raises(ValueError, match=r"DBN\(dbn.rbms\). Received: "):
        dbn.fit(ROWS, verbose=0)
    again = DBN(dbn.rbms)
    assert [len(history.epoch) for history in again.fit(ROWS, epochs=0, verbose=0)] == [0, 0]
    assert again.recognition_kernels[0] is again.rbms[0].kernel
