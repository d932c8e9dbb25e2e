"""Contrastive wake-sleep against exact gradients by enumeration, and what a network is after it."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import ROWS, Truth, V, tiny_dbn
from tests.boltzmann.oracle import Enumerated
from tests.chance import assert_near
from tests.conformance.estimators import run_estimator_test
from tests.oracles import binary_states, flat, log_bernoulli, sigmoid
from tfdsmcmc.boltzmann import ContrastiveWakeSleep
from tfdsmcmc.boltzmann.deep.wake_sleep import stack_of

COPIES = 20_000
WIDTHS = [(3, 2, 3), (3, 2, 2, 2)]


def weights_of(widths, scale=1.5):
    return [variable.value for variable in tiny_dbn(widths, scale, own_recognition=True).theta_variables]


def conditional(logits, states):
    """The table of Π Bernoulli(σ(logits)), (parents, children)."""
    p = sigmoid(logits)[:, np.newaxis]
    return np.prod(np.where(states == 1, p, 1 - p), 2)


class Exact:
    """All layers enumerated, in float64.

    Attributes:
      gradient: E g, in the order of the weights.
      bound: the mean of the bound over a law of the rows.
      recognition: E log Q(h given v) over draws of the topmost machine's chain, one pass down from its ends.
    """

    def __init__(self, weights, law, steps):
        stack = stack_of([np.asarray(part, np.float64) for part in weights])
        machines = [Enumerated(machine) for machine in stack.machines]
        top, layers = machines[-1], [binary_states(len(machine.bias)).astype(np.float64) for machine in machines]
        awake, theta, self.bound = law, [], 0.0
        for machine, kernel, below, above in zip(machines, stack.recognition, layers, layers[1:]):
            q = conditional(machine.hidden_bias + below @ kernel, above)
            pair, logits = awake[:, np.newaxis] * q, machine.bias + above @ machine.kernel.T
            residual = below[:, np.newaxis] - sigmoid(logits)
            theta += [np.einsum("ij,ijd,jh->dh", pair, residual, above), np.einsum("ij,ijd->d", pair, residual)]
            log_p = np.stack([log_bernoulli(below, row) for row in logits], 1)
            self.bound += (pair * (log_p - np.log(q))).sum()
            awake = pair.sum(0)
        self.bound += awake @ top.log_unnormalized - top.log_z
        asleep = top.joint.sum(1) if steps is None else awake @ np.linalg.matrix_power(top.gibbs, steps)
        middle = [a - b for a, b in zip(top.statistics(awake), top.statistics(asleep))]
        phi, self.recognition = [], 0.0
        for level in reversed(range(len(machines) - 1)):
            machine, below, above = machines[level], layers[level], layers[level + 1]
            pair = asleep[:, np.newaxis] * conditional(machine.bias + above @ machine.kernel.T, below)
            logits = machine.hidden_bias + below @ stack.recognition[level]
            residual = above[:, np.newaxis] - sigmoid(logits)
            phi = [np.einsum("ij,jd,ijh->dh", pair, below, residual), np.einsum("ij,ijh->h", pair, residual), *phi]
            self.recognition += (pair * np.log(conditional(logits, above)).T).sum()
            asleep = pair.sum(0)
        self.gradient = [*theta, *middle, *phi]


LAW = np.bincount(ROWS @ [4, 2, 1], minlength=8) / len(ROWS)


@pytest.mark.parametrize("widths", WIDTHS)
def test_long_chains_climb_the_bound_and_the_recognition(widths):
    """The exact gradient of endless chains against differences of what wake-sleep climbs, weight by weight."""
    weights = [np.asarray(part, np.float64) for part in weights_of(widths)]
    exact = Exact(weights, LAW, None)
    generative = 2 * (len(widths) - 2) + 3
    for place, part in enumerate(exact.gradient):
        name = "bound" if place < generative else "recognition"
        for entry in np.ndindex(part.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = [array.copy() for array in weights]
                moved[place][entry] += step
                ends.append(getattr(Exact(moved, LAW, None), name))
            assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(part[entry], abs=1e-8)


@pytest.mark.parametrize(("widths", "steps"), [(WIDTHS[0], 1), (WIDTHS[1], 2), (WIDTHS[0], 30)])
def test_the_gradient_is_that_of_its_steps(widths, steps):
    """Mean over 20,000 passes, each term within [−1, 1]: 5.5 standard errors of 0.007. A step too few would show, and
    recognition weights in the place of the generative ones."""
    weights = weights_of(widths)
    row = np.eye(8)[5]
    x = tf.repeat(tf.constant(V[5:6], tf.float32), COPIES, 0)
    found, *_ = ContrastiveWakeSleep(steps).gradient(weights, x, 1.0, (), None, tf.constant([1, steps]))
    exact = Exact(weights, row, steps).gradient
    assert_near(flat(found), flat(exact), 1 / np.sqrt(COPIES))
    other = Exact(weights, row, steps - 1 if steps < 30 else None).gradient
    difference = np.abs(flat(other) - flat(exact)).max()
    assert difference > 0.05 if steps < 30 else difference < 1e-3


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("widths", WIDTHS)
def test_the_contract_of_estimators(widths):
    run_estimator_test(ContrastiveWakeSleep(2), weights_of(widths), tf.constant(ROWS, tf.float32))


@pytest.mark.slow
def test_fine_tuning(tmp_path):
    """The exact mean bound rises from −2.5 towards −log 2, the best there is; a file goes on bit for bit; the network's
    own recognition weights are served."""
    rows = np.repeat(np.array([[1, 1, 0], [0, 0, 1]], np.uint8), 20, 0)
    dbn = tiny_dbn((3, 2, 3), 0.5)
    law = np.eye(8)[[6, 1]].mean(0)
    kernel = ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.5, momentum=0.8))
    dbn.compile(kernel, ContrastiveWakeSleep(3), steps_per_execution=20, jit_compile=False)
    history = dbn.fine_tune(rows, batch_size=20, epochs=40, validation_data=rows[:4], validation_freq=40, verbose=0)
    assert -1.0 < Exact([part.value for part in dbn.theta_variables], law, None).bound < -np.log(2)
    assert set(history.history) >= {"dream_difference", "val_unnormalized_bound"}
    found = dbn.evaluate(rows, batch_size=20, verbose=0, return_dict=True)["unnormalized_bound"]
    assert abs(found - (law @ Truth(dbn).bound + Truth(dbn).log_z)) < 0.5
    assert np.abs(dbn.recognition_kernels[0].numpy() - dbn.rbms[0].kernel.numpy()).max() > 0.1
    dbn.save(tmp_path / "dbn.keras")
    loaded = keras.saving.load_model(tmp_path / "dbn.keras")
    for each in (dbn, loaded):
        each.fine_tune(rows, batch_size=20, epochs=41, initial_epoch=40, verbose=0)
    for one, other in zip(dbn.theta_variables, loaded.theta_variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert dbn.rbms[1].lift.kernels == tuple(dbn.recognition_kernels)
    path = ds.serving.export(dbn, tmp_path / "served", sweeps=2, verbose=False)
    signature = tf.saved_model.load(path).signatures["log_likelihood"]
    served = signature(x=tf.constant(V, tf.float32), num_samples=tf.constant(4000), seed=tf.constant([0, 1]))
    assert_near(served["value"].numpy(), Truth(dbn).log_p, served["standard_error"].numpy() + 1e-6)


@pytest.mark.parametrize("widths", [WIDTHS[0], pytest.param(WIDTHS[1], marks=pytest.mark.slow)])
def test_estimates_with_recognition_weights_of_its_own(widths):
    """The bound, importance samples and annealing against enumeration, where Q is not that of the machines."""
    dbn = tiny_dbn(widths, own_recognition=True)
    truth = Truth(dbn)
    deviation = np.sqrt((truth.q * (truth.terms - truth.bound) ** 2).sum(0))
    assert_near(dbn.log_likelihood_bound(V, num_samples=2000).value, truth.bound, deviation / np.sqrt(2000))
    estimate = dbn.annealed_log_likelihood(V, num_steps=4, num_runs=2000, schedule="linear", batch_size=8, seed=1)
    assert_near(estimate.value, truth.log_p, estimate.standard_error + 1e-6)
    alone = dbn.log_likelihood(V, num_samples=2000, seed=1)
    assert estimate.effective_sample_size.mean() > 1.2 * alone.effective_sample_size.mean()


@pytest.mark.parametrize("level", [0, 1])
def test_layer_by_layer_frozen_machines_are_refused_before_anything_moves(level):
    dbn = tiny_dbn((3, 2, 3))
    dbn.rbms[level].trainable = False
    before = dbn.get_weights()
    with pytest.raises(ValueError, match=f"Received: the machine at place {level}, which is frozen"):
        dbn.fit(ROWS, epochs=1, verbose=0)
    for one, other in zip(dbn.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("level", [0, 1])
def test_frozen_machines_are_refused_before_anything_moves(level):
    dbn = tiny_dbn((3, 2, 3))
    dbn.rbms[level].trainable = False
    with pytest.raises(ValueError, match="Received: .* frozen"):
        dbn.compile(jit_compile=False)
    assert dbn.run is None and dbn.parts.own is None
    dbn.rbms[level].trainable = True
    dbn.compile(jit_compile=False)
    dbn.rbms[level].trainable = False
    before = dbn.get_weights()
    with pytest.raises(ValueError, match="Received: .* frozen"):
        dbn.fine_tune(ROWS, verbose=0)
    for one, other in zip(dbn.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
