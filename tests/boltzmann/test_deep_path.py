"""Annealing over the hidden units of a deep belief network, all of them enumerated."""

import numpy as np
import pytest
import tensorflow as tf

from tests.boltzmann.belief_networks import Truth, V, tiny_dbn
from tests.conformance.paths import run_path_test
from tests.oracles import binary_states
from tfdsmcmc.boltzmann.deep.path import DeepPath
from tfdsmcmc.boltzmann.deep.sweeps import layers_of, widths_of


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("widths", [(3, 2, 3), (3, 2, 2, 2)])
def test_the_contract_of_paths(widths):
    """The normaliser is Z_top p(v), by enumeration."""
    dbn = tiny_dbn(widths, 1.2, own_recognition=True)
    layers_of(widths_of(dbn.machines))
    truth, row = Truth(dbn), 5
    counts = widths[1:-1]
    joint, cuts = binary_states(sum(counts)), np.cumsum(counts)[:-1]
    states = [tf.constant(part, tf.float32) for part in np.split(joint, cuts, axis=1)]

    def make(num_runs):
        return DeepPath(dbn.stack, tf.repeat(tf.constant(V[row : row + 1], tf.float32), num_runs, 0))

    run_path_test(make, states, truth.log_p[row] + truth.log_z)


@pytest.mark.slow
def test_schedules_and_batches():
    """An adaptive schedule; each row's estimate is of that row, also where the last batch is filled up."""
    dbn = tiny_dbn((3, 2, 3))
    dbn.rbms[-1].compile(jit_compile=False)
    truth = Truth(dbn)
    found = dbn.annealed_log_likelihood(V, 20, 100, "adaptive", batch_size=3, seed=2)
    assert np.abs(found.value - truth.log_p).max() < 6 * found.standard_error.max() < 1.0
    known = dbn.annealed_log_likelihood(V, 2, 3, log_partition=0.0, batch_size=8, seed=2)
    shifted = dbn.annealed_log_likelihood(V, 2, 3, log_partition=2.0, batch_size=8, seed=2)
    np.testing.assert_allclose(known.value - 2.0, shifted.value)
