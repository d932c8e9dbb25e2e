"""What Boltzmann machines of the tables are compiled with: rates by steps, and where persistent chains begin."""

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.boltzmann import machines


def test_the_rate_falls_as_the_steps_grow():
    """RATE/T from each growth on; a fifth of it in the first five epochs."""
    rate = machines.rate_of(10, ds.boltzmann.GrowingSteps(2, 25))
    known = ((0, 0.01), (19, 0.01), (20, 0.005), (49, 0.01 / 3), (50, 0.05 / 3), (60, 0.05 / 4), (999, 0.002))
    for step, expected in known:
        assert float(rate(step)) == pytest.approx(expected)
    assert [float(machines.rate_of(10, None)(step)) for step in (0, 49, 50)] == pytest.approx([0.01, 0.01, 0.05])


def test_the_rate_rises_in_an_epoch_and_is_0_at_the_end():
    """Three epochs of ten steps: halfway down after two."""
    rate = machines.rising(0.4, 3, 1000)
    assert [float(rate(step)) for step in (0, 5, 10, 20, 30)] == pytest.approx([0.0, 0.2, 0.4, 0.2, 0.0], abs=1e-7)
    assert np.isfinite(float(machines.rising(0.4, 1, 1000)(10)))


def test_persistent_chains_begin_where_the_machine_does():
    """100 chains of units that are all but surely 1, or all but surely 0: with biases of 0 half of them would be."""
    rates = {"rate": 0.1, "decay": 0.0002}
    bias = np.float32([30, -30, 30, 30, -30, 30])
    kernel, hidden_bias = np.zeros((6, 2), np.float32), np.zeros(2, np.float32)
    for start in ({"bias": bias}, {"weights": [kernel, bias, hidden_bias]}):
        rbm = machines.persistent_machine_for(6, 1000, steps=1, hidden_units=2, **rates, seed=0, **start)
        np.testing.assert_array_equal(rbm.bias.numpy(), bias)
        chains = rbm.run.state.carried.particles.numpy()
        np.testing.assert_array_equal(chains, np.broadcast_to(bias > 0, chains.shape))
