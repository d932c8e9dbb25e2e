"""Machines of a deep belief network that start as the one below, turned round."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import Truth, V, tiny_dbn
from tests.boltzmann.oracle import Enumerated


def test_a_tied_start_changes_nothing():
    """The network's log p(v), its bound and the machine below agree; what the widths do not allow is refused."""
    dbn = tiny_dbn((3, 2, 3))
    dbn.tie(1)
    below = Enumerated(dbn.machines[0])
    truth = Truth(dbn)
    np.testing.assert_allclose(truth.log_p, below.log_unnormalized - below.log_z, atol=1e-6)
    np.testing.assert_allclose(truth.bound, truth.log_p, atol=1e-6)
    # each weight is p*(v) of the machine below then, whatever the draw
    np.testing.assert_allclose(dbn.log_likelihood(V, 1).value, truth.log_p, atol=1e-4)
    np.testing.assert_allclose(dbn.annealed_log_likelihood(V, 2, 1).value, truth.log_p, atol=1e-4)
    wider = tiny_dbn((3, 2, 5))
    wider.rbms[1].kernel.assign(tf.zeros([2, 5]))
    wider.tie(1)
    assert wider.rbms[1].kernel.numpy()[:, 3:].any() == 0 and wider.rbms[1].hidden_bias.numpy()[3:].all()
    np.testing.assert_allclose(Truth(wider).log_p, truth.log_p, atol=1e-6)


def test_a_tie_takes_off_what_more_hidden_units_add():
    """Up to third powers of small weights, left are products of weights from two visible units where both are on."""
    exact, small = tiny_dbn((3, 2, 3)), 0.01
    exact.tie(1)
    wider = tiny_dbn((3, 2, 7))
    kernel = wider.rbms[1].kernel.numpy()
    kernel[:, 3:] = small * np.random.default_rng(0).uniform(0.5, 1.5, (2, 4))
    wider.rbms[1].kernel.assign(kernel)
    wider.tie(1)
    change = _energies(wider.rbms[1]) - _energies(exact.rbms[1])
    change -= change[0]
    products = kernel[0, 3:] * kernel[1, 3:]
    share = 1 / (1 + np.exp(-wider.rbms[1].hidden_bias.numpy()[3:]))
    np.testing.assert_allclose(change, [0, 0, 0, (products * share * (1 - share)).sum()], atol=small**3)


def _energies(rbm):
    """log p*(v) of each state (0, 0), (0, 1), (1, 0), (1, 1)."""
    states = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    kernel, bias, hidden_bias = (w.numpy().astype(np.float64) for w in (rbm.kernel, rbm.bias, rbm.hidden_bias))
    return states @ bias + np.logaddexp(0, hidden_bias + states @ kernel).sum(1)


def test_what_cannot_be_tied_is_refused_before_anything_learns():
    lower, upper = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 2)
    dbn = ds.boltzmann.DBN([lower, upper])
    before = lower.kernel.numpy()
    with pytest.raises(ValueError, match="tied machine.*Received: 2"):
        dbn.fit(np.zeros((4, 4)), tied=True, verbose=0)
    np.testing.assert_array_equal(lower.kernel.numpy(), before)


def test_all_chains_are_tied():
    lower, upper = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 4)
    upper.compile(num_chains=2, jit_compile=False)
    ds.boltzmann.DBN([lower, upper]).tie(1)
    for kernel, *_ in upper.run.weights:
        np.testing.assert_array_equal(kernel, lower.kernel.numpy().T)
