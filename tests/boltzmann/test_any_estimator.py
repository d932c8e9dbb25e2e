"""A machine learns by any estimator of a gradient: here the exact one, by enumeration."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import tiny_rbm
from tests.oracles import binary_states
from tfdsmcmc.boltzmann.machines.machine import Machine

ROWS = np.array([[1, 0, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]], np.float32)


class ExactGradient(ds.GradientEstimator):
    """∇ of the mean of log p(x) over a minibatch, with log Z over all states."""

    def gradient(self, weights, x, num_rows, auxiliary, carry, seed, prior_weight=1.0):
        with tf.GradientTape() as tape:
            tape.watch(list(weights))
            machine = Machine(*weights)
            log_z = tf.reduce_logsumexp(machine.unnormalized_log_prob(tf.constant(binary_states(3), tf.float32)))
            worth = tf.reduce_mean(machine.unnormalized_log_prob(x)) - log_z
        return tape.gradient(worth, list(weights)), (), None

    def draw(self, weights, x, carry, seed):
        return (), None


def test_a_step_is_one_along_the_gradient():
    """Against differences of the exact log-likelihood of a machine of random weights."""
    rbm = tiny_rbm(3, 2, seed=4, scale=0.7)
    before = [variable.numpy() for variable in rbm.theta_variables]
    differences = []
    for variable in rbm.theta_variables:
        slope, own = np.zeros(variable.shape), variable.numpy()
        for place in np.ndindex(*variable.shape):
            values = []
            for sign in (1, -1):
                moved = own.copy()
                moved[place] += sign * 1e-2
                variable.assign(moved)
                values.append(rbm.log_likelihood(ROWS).value.mean())
            slope[place] = (values[0] - values[1]) / 2e-2
        variable.assign(own)
        differences.append(slope)
    rbm.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), ExactGradient(), jit_compile=False)
    rbm.fit(ROWS, batch_size=4, epochs=1, verbose=0)
    for variable, old, slope in zip(rbm.theta_variables, before, differences, strict=True):
        np.testing.assert_allclose(variable.numpy() - old, 0.1 * slope, atol=2e-4)


def test_samples_of_the_posterior_need_no_warning(recwarn):
    rbm = ds.boltzmann.RBM(3, 2)
    rbm.compile("sghmc", ExactGradient(), jit_compile=False)
    assert not [warning for warning in recwarn if "too wide" in str(warning.message)]


def test_what_is_no_estimator():
    rbm = ds.boltzmann.RBM(3, 2)
    with pytest.raises(ValueError, match="GradientEstimator. Received: estimator='exact'"):
        rbm.compile(estimator="exact")
    dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(2, 2)])
    with pytest.raises(ValueError, match="Above other machines.*Received: "):
        dbn.rbms[1].compile(estimator=ExactGradient())
