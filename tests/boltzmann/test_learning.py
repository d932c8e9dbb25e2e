"""Contrastive divergence against exact gradients, and what the run gives a machine."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_machine, tiny_rbm
from tests.chance import assert_near
from tests.conformance.estimators import run_estimator_test
from tests.conformance.steps import run_step_test
from tests.oracles import flat
from tfdsmcmc.boltzmann import ContrastiveDivergence, GrowingSteps
from tfdsmcmc.boltzmann.deep.lift import Lift
from tfdsmcmc.rows import ArraySource, Rows
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep

tfd = tfp.distributions
ROWS = np.random.default_rng(0).integers(0, 2, (10, 4)).astype(np.uint8)
PRIOR = ds.Prior({"^kernel": tfd.Normal(0.0, 0.5), "": None})
COPIES = 20_000


@pytest.mark.parametrize("estimator", [
    ContrastiveDivergence(2),
    ContrastiveDivergence(GrowingSteps(2, 5)),
    ContrastiveDivergence(persistent=True, num_particles=6),
])  # fmt: skip
def test_the_contract_of_estimators(estimator):
    run_estimator_test(estimator.of(PRIOR), list(tiny_machine()), tf.constant(ROWS, tf.float32))


def exact_gradient(truth, law, steps):
    """E g of CD-T for rows of a law, and of exact likelihood learning where T is None, a list."""
    model = truth.joint.sum(1)
    negative = model if steps is None else law @ np.linalg.matrix_power(truth.gibbs, steps)
    return [a - b for a, b in zip(truth.statistics(law), truth.statistics(negative))]


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_the_gradient_is_that_of_cd_t(steps):
    """Mean over 20,000 chains, each statistic within [0, 1]: 5.5 standard errors of at most 0.0035. A step too few
    would show."""
    machine = tiny_machine(seed=2, scale=2.0)
    truth = Enumerated(machine)
    law = np.eye(16)[9]
    x = tf.repeat(tf.constant(truth.v[9:10], tf.float32), COPIES, 0)
    found, *_ = ContrastiveDivergence(steps).gradient(list(machine), x, 1.0, (), None, tf.constant([1, steps]))
    assert_near(flat(found), flat(exact_gradient(truth, law, steps)), 0.5 / np.sqrt(COPIES))
    fewer = exact_gradient(truth, law, steps - 1)
    assert np.abs(flat(fewer) - flat(exact_gradient(truth, law, steps))).max() > 0.08


def test_many_steps_give_the_gradient_of_the_likelihood():
    """CD-40 of a machine that forgets within them; the prior's gradient comes on top, divided by N."""
    machine, num_rows = tiny_machine(seed=1), 7.0
    truth = Enumerated(machine)
    law = np.bincount(ROWS @ [8, 4, 2, 1], minlength=16) / len(ROWS)
    x = tf.constant(np.tile(ROWS, (COPIES // 10, 1)), tf.float32)
    steps = tf.constant(40)
    estimator = ContrastiveDivergence(lambda epoch: steps).of(PRIOR)
    carry = estimator.start(list(machine), None, tf.constant([0, 1]))
    found, _, moved = estimator.gradient(list(machine), x, num_rows, (), carry, tf.constant([1, 2]))
    exact = exact_gradient(truth, law, None)
    # the gradient of Σ_n log p(v_n)/N by differences, to be sure of the statistics themselves
    bumped = tiny_machine(seed=1)
    bumped = bumped._replace(hidden_bias=bumped.hidden_bias + tf.constant([0.0, 1e-2, 0.0]))
    rows = ROWS @ [8, 4, 2, 1]
    likelihoods = [(one.log_unnormalized[rows] - one.log_z).mean() for one in (truth, Enumerated(bumped))]
    assert (likelihoods[1] - likelihoods[0]) / 1e-2 == pytest.approx(exact[2][1], abs=2e-3)
    exact[0] = exact[0] - truth.kernel / 0.25 / num_rows
    assert_near(flat(found), flat(exact), 0.5 / np.sqrt(COPIES))
    assert int(moved.epoch) == 1  # of seven rows
    flat_prior, *_ = estimator.gradient(list(machine), x[:10], num_rows, (), carry, tf.constant([1, 2]), 0.0)
    plain, *_ = ContrastiveDivergence(estimator.steps).gradient(
        list(machine), x[:10], num_rows, (), carry, tf.constant([1, 2])
    )
    np.testing.assert_allclose(flat(flat_prior), flat(plain), rtol=1e-6)


def test_persistent_particles_follow_the_machine():
    """At fixed weights, after 40 steps in two calls, the negative phase is the machine's own law: 20,000 particles."""
    machine = tiny_machine(seed=1)
    estimator = ContrastiveDivergence(20, persistent=True, num_particles=COPIES)
    x = tf.constant(ROWS, tf.float32)
    carry = estimator.start(list(machine), None, tf.constant([0, 1]))
    for i in range(2):
        found, phases, carry = estimator.gradient(list(machine), x, 10.0, (), carry, tf.constant([3, i]))
    law = np.bincount(ROWS @ [8, 4, 2, 1], minlength=16) / len(ROWS)
    assert_near(flat(found), flat(exact_gradient(Enumerated(machine), law, None)), 0.5 / np.sqrt(COPIES))
    np.testing.assert_array_equal(phases.chains, carry.particles)


def test_the_epoch_decides_the_steps():
    """Three minibatches of four an epoch of ten rows; a function of the epoch is asked for each."""
    asked = []
    estimator = ContrastiveDivergence(lambda epoch: asked.append(int(epoch)) or tf.constant(1))
    asked.clear()  # of its first check
    x, machine = tf.constant(ROWS[:4], tf.float32), list(tiny_machine())
    carry = estimator.start(machine, None, tf.constant([0, 1]))
    for i in range(7):
        carry = estimator.gradient(machine, x, tf.constant(10.0), (), carry, tf.constant([0, i]))[2]
    assert asked == [0, 0, 0, 1, 1, 1, 2]
    asked.clear()  # the last batch of a stream is smaller
    carry = estimator.start(machine, None, tf.constant([0, 1]))
    for i, size in enumerate([4, 4, 2, 4, 4, 2, 4]):
        carry = estimator.gradient(machine, x[:size], tf.constant(10.0), (), carry, tf.constant([0, i]))[2]
    assert asked == [0, 0, 0, 1, 1, 1, 2]
    asked.clear()  # a further fit has other minibatches
    carry = estimator.start(machine, None, tf.constant([0, 1]))
    for i, size in enumerate([4, 4, 4, 2, 2, 2, 2, 2, 4]):
        carry = estimator.gradient(machine, x[:size], tf.constant(10.0), (), carry, tf.constant([0, i]))[2]
    assert asked == [0, 0, 0, 1, 1, 1, 1, 1, 2]
    asked.clear()  # a file of an older version has eight updates and the four rows of a minibatch
    carry = carry._replace(epoch=tf.constant(8), minus_seen=tf.constant(4))
    for i in range(4):
        carry = estimator.gradient(machine, x, tf.constant(10.0), (), carry, tf.constant([0, i]))[2]
    assert asked == [2, 2, 2, 3]
    grown = GrowingSteps(20, 25)
    assert [int(grown(tf.constant(epoch))) for epoch in (0, 19, 20, 479, 480, 499, 1000)] == [1, 1, 2, 24, 25, 25, 25]


def test_rows_below_are_drawn_anew():
    """The positive phase of a machine that learns above another: E g given the rows, by enumeration of both."""
    below = tiny_rbm(3, 4, seed=2)
    machine = tiny_machine(seed=1)
    rows = np.array([[1, 0, 1]], np.float32)
    p = tf.sigmoid(below.machine.hidden_logits(tf.constant(rows))).numpy()[0].astype(np.float64)
    truth = Enumerated(machine)
    law = np.prod(np.where(truth.v == 1, p, 1 - p), 1)
    estimator = ContrastiveDivergence(1).of(PRIOR, Lift([below]))
    x = tf.constant(np.repeat(rows, COPIES, 0))
    found, *_ = estimator.gradient(list(machine), x, 1.0, (), None, tf.constant([1, 0]), 0.0)
    assert_near(flat(found), flat(exact_gradient(truth, law, 1)), 2 * 0.5 / np.sqrt(COPIES))


def step_of(estimator, kernel):
    rbm = tiny_rbm(seed=5, scale=0.3)
    step = DoublyStochasticStep(rbm, rbm.prior, estimator.of(rbm.prior), kernel, jit_compile=False)
    step.keep = rbm  # whose variables these are
    return step


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("persistent", [False, True])
def test_the_contract_of_steps(persistent):
    kernels = [ds.mcmc.SGHMC(learning_rate=0.01), ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1, momentum=0.5))]

    def make():
        return step_of(ContrastiveDivergence(GrowingSteps(1, 3), persistent, 6), kernels[0])

    run_step_test(make, ArraySource(Rows(ROWS)))


def test_a_fit_has_all_of_keras(tmp_path):
    """Validation with the free-energy gap, a collector, a file that goes on bit for bit."""
    rbm = ds.boltzmann.RBM(4, 3, prior={"^kernel": tfd.Normal(0.0, 0.5), "": tfd.Normal(0.0, 2.0)}, seed=3)
    with pytest.warns(UserWarning, match="samples are too wide"):
        rbm.compile(ds.mcmc.SGHMC(learning_rate=0.05), ContrastiveDivergence(GrowingSteps(1, 2)), jit_compile=False)
    collector = ds.posterior.Collector(tmp_path / "samples", num_samples=2, burn_in=0, every=1, stop=False)
    history = rbm.fit(ROWS, batch_size=4, epochs=2, validation_data=ROWS[:5], verbose=0, callbacks=[collector]).history
    assert {"reconstruction_error", "val_unnormalized_log_prob", "val_free_energy_gap"} <= set(history)
    on_rows, on_valid = (rbm.unnormalized_log_prob(x).mean() for x in (ROWS, ROWS[:5]))
    assert history["val_unnormalized_log_prob"][-1] == pytest.approx(on_valid, rel=1e-5)
    assert history["val_free_energy_gap"][-1] == pytest.approx(on_rows - on_valid, abs=1e-5)
    samples = ds.posterior.load(tmp_path / "samples").samples
    assert len(samples) == 2
    np.testing.assert_array_equal(samples[-1].theta[0], rbm.kernel.numpy())
    _assert_averages(rbm, ds.posterior.load(tmp_path / "samples"))
    rbm.save(tmp_path / "rbm.keras")
    loaded = keras.saving.load_model(tmp_path / "rbm.keras")
    for each in (rbm, loaded):
        each.fit(ROWS, batch_size=4, epochs=3, initial_epoch=2, verbose=0)
    for one, other in zip(rbm.theta_variables, loaded.theta_variables):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert (int(loaded.run.state.carried.epoch), int(loaded.run.state.carried.minus_seen)) == (3, 0)


def _assert_averages(rbm, posterior):
    """The predictive average by enumeration, with its error; the mean of the weights."""
    truths = [Enumerated(sample.theta) for sample in posterior.samples]
    rows = ROWS @ [8, 4, 2, 1]
    exact = np.log(np.mean([np.exp(one.log_unnormalized[rows] - one.log_z) for one in truths], 0))
    found = posterior.log_likelihood(rbm, ROWS, average="draws")
    np.testing.assert_allclose(found.value, exact, rtol=1e-5)
    assert not found.standard_error.any()
    estimates = iter([ds.boltzmann.LogPartition(one.log_z, 0.1, (0, 0), 9.0) for one in truths])
    with pytest.warns(DeprecationWarning, match="posterior.log_likelihood"):
        again = ds.boltzmann.predictive_log_likelihood(rbm, posterior, ROWS, lambda machine: next(estimates))
    np.testing.assert_allclose(again.value, exact, rtol=1e-5)
    # an upper bound: the errors of the samples' log Z may be one and the same, for all rows
    np.testing.assert_allclose(again.standard_error, 0.1, rtol=1e-5)
    assert again.mean().standard_error == pytest.approx(0.1)
    before = rbm.get_weights()
    posterior.apply_mean(rbm)
    np.testing.assert_allclose(rbm.kernel.numpy(), np.mean([s.theta[0] for s in posterior.samples], 0), rtol=1e-5)
    rbm.set_weights(before)


def test_several_chains_start_apart():
    rbm = ds.boltzmann.RBM(4, 3, seed=3)
    rbm.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), num_chains=2, jit_compile=False)
    first, second = (weights[0] for weights in rbm.run.weights)
    assert np.all(first != second)
    rbm.fit(ROWS, batch_size=4, epochs=1, verbose=0)
    assert len(rbm.run.weights) == 2


def test_learning_reaches_the_likelihood():
    """CD-5 with momentum from small weights: the exact log-likelihood comes within 0.05 of the best that independent
    maximisation of a machine as rich reaches; the entropy of the rows bounds it."""
    rows = np.repeat(np.array([[1, 1, 0, 0], [0, 0, 1, 1]], np.uint8), 50, 0)
    rbm = ds.boltzmann.RBM(4, 2, seed=1)
    before = float(rbm.log_likelihood(rows).mean())
    rbm.compile(
        ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1, momentum=0.9)), ContrastiveDivergence(5),
        steps_per_execution=20, jit_compile=True,
    )  # fmt: skip
    rbm.fit(rows, batch_size=50, epochs=400, verbose=0)
    after = float(rbm.log_likelihood(rows).mean())
    assert before < -2.7 and -0.8 < after < -np.log(2)


BAD = {
    "steps": lambda: ContrastiveDivergence(0),
    "steps of a fraction": lambda: ContrastiveDivergence(1.5),
    "persistent": lambda: ContrastiveDivergence(persistent=1),
    "particles": lambda: ContrastiveDivergence(num_particles=0),
    "growth": lambda: GrowingSteps(0),
    "a lambda in a file": lambda: ContrastiveDivergence(lambda epoch: epoch + 1).get_config(),
    "steps from 0": lambda: ContrastiveDivergence(lambda epoch: epoch // 20),
    "steps of no integer": lambda: ContrastiveDivergence(lambda epoch: tf.constant(1.5)),
    "growing steps of several updates": lambda: tiny_rbm().compile(
        estimator=ContrastiveDivergence(GrowingSteps(2, 3)), kernel_steps=2
    ),
    "kernel": lambda: tiny_rbm().compile("sgd"),
    "estimator": lambda: tiny_rbm().compile(estimator="cd"),
    "chains": lambda: tiny_rbm().compile(num_chains=0),
    "not compiled": lambda: tiny_rbm().fit(ROWS),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()


def test_rows_that_do_not_fit_change_nothing():
    rbm = tiny_rbm()
    rbm.compile()
    before = rbm.kernel.numpy()
    for bad in ({"x": ROWS[:, :3]}, {"x": [[np.nan, 0, 1, 0]]}, {"x": ROWS, "validation_data": ROWS[:, :2]}):
        with pytest.raises(ValueError, match="Received: "):
            rbm.fit(**bad, verbose=0)
    np.testing.assert_array_equal(rbm.kernel.numpy(), before)
