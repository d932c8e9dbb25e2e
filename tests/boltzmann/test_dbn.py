"""Deep belief networks: bounds, estimates and draws against enumeration of all hidden units."""

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.chance import assert_frequencies, assert_near
from tests.oracles import binary_states, log_bernoulli, log_sum, sigmoid, state_numbers
from tfdsmcmc.boltzmann import DBN

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(np.uint8)
V = binary_states(3)
WIDTHS = [(3, 2, 3), (3, 2, 2, 2), (3, 2)]


def tiny_dbn(widths=(3, 2, 3), scale=1.2, own_recognition=False):
    """A network of asymmetric weights; those of its recognition are its own, and differ, where asked."""
    rbms = [tiny_rbm(*pair, seed=seed, scale=scale) for seed, pair in enumerate(zip(widths, widths[1:]))]
    dbn = DBN(rbms, own_recognition)
    for seed, kernel in enumerate(dbn.recognition_kernels if own_recognition else ()):
        kernel.assign(np.random.default_rng(100 + seed).normal(0.2, scale, kernel.shape))
    return dbn


class Truth:
    """log p(v) and the bound B(v) of every v, (2^D,), in float64."""

    def __init__(self, dbn):
        machines, kernels = [Enumerated(machine) for machine in dbn.machines], [*map(np.float64, dbn.stack.recognition)]
        top = machines[-1]
        self.log_z = top.log_z
        layers = [binary_states(len(machine.bias)) for machine in machines]
        terms, log_q = [], []
        for places in itertools.product(*(range(len(layer)) for layer in layers[1:])):
            h = [layer[place] for layer, place in zip(layers[1:], places)]
            below, log_p, q, entropy = layers[0], 0.0, 0.0, 0.0
            for machine, kernel, above in zip(machines, kernels, h):
                log_p = log_p + log_bernoulli(below, machine.bias + machine.kernel @ above)
                p = sigmoid(machine.hidden_bias + below @ kernel)
                entropy = entropy - (p * np.log(p) + (1 - p) * np.log1p(-p)).sum(-1)
                q = q + np.log(np.where(above == 1, p, 1 - p)).sum(-1)
                below = above
            at = places[-1] if places else np.arange(len(layers[0]))
            terms.append(log_p + top.log_unnormalized[at] + np.zeros(len(layers[0])))
            log_q.append(q + np.zeros(len(layers[0])))
            terms[-1] = np.stack([terms[-1], terms[-1] + entropy])
        terms, log_q = np.stack(terms), np.stack(log_q)
        self.log_p = log_sum(terms[:, 0]) - self.log_z
        self.bound = (np.exp(log_q) * terms[:, 1]).sum(0) - self.log_z
        self.q, self.terms = np.exp(log_q), terms[:, 1] - self.log_z


@functools.cache
def truth_of(widths):
    return Truth(tiny_dbn(widths))


@pytest.mark.parametrize("widths", WIDTHS)
def test_the_bound_and_the_estimate(widths):
    """The mean of 4,000 draws against the enumerated bound by the exact deviation of a draw; never above log p(v); the
    importance samples against log p(v)."""
    truth, dbn = truth_of(widths), tiny_dbn(widths)
    assert log_sum(truth.log_p) == pytest.approx(0, abs=1e-10)
    assert np.all(truth.bound <= truth.log_p + 1e-12)
    found = dbn.log_likelihood_bound(V, num_samples=4000)
    deviation = np.sqrt((truth.q * (truth.terms - truth.bound) ** 2).sum(0))
    assert_near(found.value, truth.bound, deviation / np.sqrt(4000))
    np.testing.assert_allclose(found.standard_error, deviation / np.sqrt(4000), rtol=0.25, atol=1e-12)
    if len(widths) > 2:
        assert (truth.log_p - truth.bound).max() > 0.05
    estimate = dbn.log_likelihood(V, num_samples=4000, seed=1)
    assert_near(estimate.value, truth.log_p, estimate.standard_error + 1e-6)
    assert isinstance(found, ds.likelihood.LogLikelihood)


def test_the_error_of_log_z_stays_in_the_mean():
    dbn = tiny_dbn()
    known = ds.boltzmann.LogPartition.of_weights(np.log([1.0, 2.0, 1.5, 1.2]))
    free = dbn.log_likelihood_bound(V, 50, 0.0)
    found = dbn.log_likelihood_bound(V, 50, known)
    np.testing.assert_allclose(found.value, free.value - known.value)
    assert found.mean().standard_error == pytest.approx(np.hypot(free.mean().standard_error, known.standard_error))
    assert np.isnan(dbn.log_likelihood_bound(V, 1).standard_error).all()


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


@pytest.mark.parametrize("widths", WIDTHS[:2])
def test_samples_have_the_law(widths):
    """Frequencies of 10,000 ends of chains of 30 steps by a chi-square test."""
    dbn = tiny_dbn(widths, 0.8)
    law = np.exp(Truth(dbn).log_p)
    drawn = dbn.sample(10_000, seed=1, steps=30)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), law)
    means = dbn.sample(10_000, seed=1, steps=30, probabilities=True)
    assert 0 < means.min() and means.max() < 1 and np.abs(means.mean(0) - drawn.mean(0)).max() < 0.03


@pytest.mark.parametrize("widths", WIDTHS[:2])
def test_imputations_have_the_law(widths):
    """Missing entries given the others, after 20 sweeps of 5,000 chains."""
    dbn = tiny_dbn(widths, 1.0)
    law = np.exp(Truth(dbn).log_p)
    x = np.array([[np.nan, 1.0, np.nan]])
    found = dbn.impute(x, num_imputations=5_000, seed=3, steps=20)
    free = V[:, 1] == 1
    counts = np.bincount(state_numbers(found[:, 0]), minlength=8)
    assert found.shape == (5_000, 1, 3) and counts[~free].sum() == 0
    assert_frequencies(counts[free], law[free] / law[free].sum())
    np.testing.assert_array_equal(dbn.impute(V, num_imputations=2), np.stack([V] * 2))


def test_a_single_machine_is_itself():
    dbn = tiny_dbn((3, 2))
    exact = dbn.rbms[0].log_likelihood(V).value
    for found in (dbn.log_likelihood_bound(V), dbn.log_likelihood(V, num_samples=3)):
        np.testing.assert_allclose(found.value, exact, rtol=1e-5)
        assert not found.standard_error.any()
    assert dbn.sample(4, steps=2).shape == (4, 3) and dbn.impute([[np.nan, 0, 1]], steps=2).shape == (1, 1, 3)


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


BAD = {
    "no machines": lambda: DBN([]),
    "no list": lambda: DBN(ds.boltzmann.RBM(3, 2)),
    "what is none": lambda: DBN([ds.boltzmann.RBM(3, 2), "rbm"]),
    "widths": lambda: DBN([ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(3, 2)]),
    "twice": lambda: (lambda rbm: DBN([rbm, rbm]))(ds.boltzmann.RBM(3, 3)),
    "a tie of nothing": lambda: tiny_dbn().tie(2),
    "a tie of other widths": lambda: tiny_dbn((3, 2, 2)).tie(1),
    "epochs": lambda: tiny_dbn().fit(ROWS, epochs=[1, 2, 3]),
    "epochs below 0": lambda: tiny_dbn().fit(ROWS, epochs=-1),
    "callbacks": lambda: tiny_dbn().fit(ROWS, callbacks=[keras.callbacks.Callback()]),
    "one list of callbacks": lambda: tiny_dbn().fit(ROWS, callbacks=[keras.callbacks.Callback()] * 2),
    "data": lambda: tiny_dbn().fit(ROWS[:, :2]),
    "gaps": lambda: tiny_dbn().fit([[np.nan, 0, 1]]),
    "draws": lambda: tiny_dbn().log_likelihood_bound(ROWS, 0),
    "log Z": lambda: DBN([ds.boltzmann.RBM(3, 26), ds.boltzmann.RBM(26, 27)]).log_likelihood_bound(ROWS),
    "samples": lambda: tiny_dbn().sample(0),
    "imputations": lambda: tiny_dbn().impute(ROWS, num_imputations=0),
    "a call": lambda: tiny_dbn()(ROWS),
    "exact draws": lambda: ds.boltzmann.exact_draws(ds.boltzmann.RBM(3, 2), 2.5, 0),
    "no exact draws": lambda: ds.boltzmann.exact_draws(ds.boltzmann.RBM(3, 2), 0, 0),
    "runs": lambda: tiny_dbn().annealed_log_likelihood(ROWS, num_runs=0),
    "schedule": lambda: tiny_dbn().annealed_log_likelihood(ROWS, schedule="published"),
    "probabilities": lambda: tiny_dbn().sample(2, steps=2, probabilities="no"),
    "a batch": lambda: tiny_dbn().train_on_batch(ROWS),
    "evaluate": lambda: tiny_dbn().evaluate(ROWS, num_samples=3),
    "targets": lambda: tiny_dbn().fit(ROWS, ROWS),
    "tied": lambda: tiny_dbn().fit(ROWS, tied="no"),
    "own recognition": lambda: DBN([ds.boltzmann.RBM(3, 2)], own_recognition="no"),
    "not compiled": lambda: tiny_dbn().fine_tune(ROWS),
    "a kernel that samples": lambda: tiny_dbn().compile(ds.mcmc.SGHMC(learning_rate=0.1)),
    "estimator": lambda: tiny_dbn().compile(estimator=ds.boltzmann.ContrastiveDivergence()),
    "a single machine": lambda: tiny_dbn((3, 2)).compile(),
    "steps": lambda: ds.boltzmann.ContrastiveWakeSleep(0),
    "jit": lambda: tiny_dbn().compile(jit_compile="no"),
    "jit of a machine": lambda: ds.boltzmann.RBM(3, 2).compile(jit_compile="no"),
    "jit of a mixture": lambda: ds.boltzmann.MixtureOfBernoullis(3, 2).compile(jit_compile="no"),
    "one by one with recognition of its own": lambda: tiny_dbn(own_recognition=True).fit(ROWS),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()


def test_what_cannot_be_tied_is_refused_before_anything_learns():
    lower, upper = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 2)
    dbn = ds.boltzmann.DBN([lower, upper])
    before = lower.kernel.numpy()
    with pytest.raises(ValueError, match="tied machine.*Received: 2"):
        dbn.fit(np.zeros((4, 4)), tied=True, verbose=0)
    np.testing.assert_array_equal(lower.kernel.numpy(), before)


def test_a_machine_of_another_network_is_named():
    lower, upper, other = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(4, 3)
    first = ds.boltzmann.DBN([lower, upper])
    ds.boltzmann.DBN([other, upper])
    with pytest.raises(ValueError, match="Received: the machine at place 1"):
        first.fit(np.zeros((4, 4)), verbose=0)


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


def test_all_chains_are_tied():
    lower, upper = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 4)
    upper.compile(num_chains=2, jit_compile=False)
    ds.boltzmann.DBN([lower, upper]).tie(1)
    for kernel, *_ in upper.run.weights:
        np.testing.assert_array_equal(kernel, lower.kernel.numpy().T)
