"""Recognition weights that a network has of its own follow what `fit` and `tie` do, until they are fine-tuned."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import Truth, tiny_dbn
from tests.boltzmann.oracle import Enumerated

ROWS = np.random.default_rng(0).integers(0, 2, (10, 4)).astype(np.uint8)


class Interrupted(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise KeyboardInterrupt


def test_an_interrupted_fit_goes_on():
    dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(4, 3, seed=1), ds.boltzmann.RBM(3, 2, seed=2)])
    dbn.compile(jit_compile=False)
    with pytest.raises(KeyboardInterrupt):
        dbn.fit(ROWS, epochs=2, callbacks=[[Interrupted()], []], verbose=0)
    np.testing.assert_array_equal(dbn.recognition_kernels[0], dbn.rbms[0].kernel)
    assert not dbn.fine_tuned
    assert [len(history.epoch) for history in dbn.fit(ROWS, epochs=1, verbose=0)] == [1, 1]


def test_a_tied_machine_is_followed():
    dbn = tiny_dbn((3, 2, 3, 2), own_recognition=True)
    dbn.recognition_kernels[0].assign(dbn.rbms[0].kernel)
    dbn.tie(1)
    np.testing.assert_array_equal(dbn.recognition_kernels[1], dbn.rbms[1].kernel)
    dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 4), ds.boltzmann.RBM(4, 3)], True)
    dbn.tie(1)
    assert not dbn.fine_tuned


def test_the_bound_after_two_ties_is_that_of_the_machine_below():
    dbn = tiny_dbn((3, 2, 3, 2), own_recognition=True)
    dbn.recognition_kernels[0].assign(dbn.rbms[0].kernel)
    dbn.tie(1)
    dbn.tie(2)
    below, truth = Enumerated(dbn.machines[0]), Truth(dbn)
    np.testing.assert_allclose(truth.log_p, below.log_unnormalized - below.log_z, atol=1e-6)
    np.testing.assert_allclose(truth.bound, truth.log_p, atol=1e-6)
