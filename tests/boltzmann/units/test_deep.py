"""Deep belief networks whose visible units are not binary: bounds, estimates and draws against all hidden states."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated
from tests.boltzmann.oracle import tiny_rbm as binary_rbm
from tests.boltzmann.units.oracle import layer_table, products
from tests.boltzmann.units.oracle import tiny_rbm as rbm_of
from tests.chance import assert_means
from tests.oracles import log_sum, sigmoid


def network(visible):
    return ds.boltzmann.DBN([rbm_of(visible, "binary", seed=1), binary_rbm(3, 2, seed=2)])


class Truth:
    """Of each row log p(v) and the bound; all states of v with the weights of grids, and p(v)."""

    def __init__(self, dbn, rows):
        bottom, top = dbn.rbms
        machine, above = bottom.machine, Enumerated(top.machine)
        weights = machine.visible_weights
        self.v, _ = layer_table(machine.visible, weights)
        log_p = above.log_unnormalized - above.log_z  # of h
        self.law = np.exp(log_sum(self._given(machine, self.v, above.v, True) + log_p, 1))
        joint = self._given(machine, rows, above.v, False) + log_p
        self.log_p = log_sum(joint, 1)
        q = sigmoid(rows @ np.float64(machine.kernel) + np.float64(machine.hidden_bias))
        log_q = (above.v * np.log(q)[:, None] + (1 - above.v) * np.log1p(-q)[:, None]).sum(2)
        self.bound = (np.exp(log_q) * (joint - log_q)).sum(1)

    def _given(self, machine, v, h, grid):
        """log p(v given h), (n, S), by a table of v for each h."""
        bias, *further = map(np.float64, machine.visible_weights)
        found = []
        for each in h:
            field = bias + np.float64(machine.kernel) @ each
            states, log_u = layer_table(machine.visible, [field, *further])
            inside = machine.visible.log_measure(tf.constant(v), machine.visible.natural(tf.constant(field), *further))
            step = log_u[0] - machine.visible.log_measure(
                tf.constant(states[:1]), machine.visible.natural(tf.constant(field), *further)
            )
            found.append(inside - log_sum(log_u) + (step if grid else 0.0))
        return np.stack(found, 1)


@pytest.mark.parametrize("visible", [
    "learnt gaussian", *(pytest.param(name, marks=pytest.mark.slow) for name in ("spin", "categorical"))
])  # fmt: skip
def test_bounds_and_estimates(visible):
    """The bound within five standard errors and below log p(v); importance sampling at log p(v) itself."""
    dbn = network(visible)
    rows = ds.boltzmann.exact_draws(dbn.rbms[0], 4, seed=1)
    truth = Truth(dbn, np.float64(rows))
    assert truth.law.sum() == pytest.approx(1.0, abs=1e-6)
    bound = dbn.log_likelihood_bound(rows, num_samples=4000)
    assert np.all(np.abs(bound.value - truth.bound) < 5.5 * bound.standard_error)
    assert np.all(truth.bound < truth.log_p)
    found = dbn.log_likelihood(rows, num_samples=4000)
    assert np.all(np.abs(found.value - truth.log_p) < 5.5 * found.standard_error + 1e-3)
    drawn = dbn.sample(20_000, seed=3, steps=30)
    mean, second = (truth.law @ products(truth.v) ** power for power in (1, 2))
    assert_means(products(drawn), mean, np.sqrt(np.maximum(second - mean**2, 0)))
    means = dbn.sample(20_000, seed=3, steps=30, probabilities=True)
    assert_means(means, truth.law @ truth.v)


def tied(visible, more=0):
    """A network whose upper machine, with so many more hidden units, began as the lower one upside down."""
    below = rbm_of(visible, "binary", seed=1)
    rbm = ds.boltzmann.RBM(3, below.units + more, hidden=below.visible)
    rbm.kernel.assign(np.random.default_rng(2).normal(0.3, 0.3, rbm.kernel.shape))
    dbn = ds.boltzmann.DBN([below, rbm])
    for each in dbn.rbms:
        each.compile(jit_compile=False)
    dbn.tie(1)
    return dbn


@pytest.mark.parametrize("visible", ["spin", "categorical", "gaussian", "learnt gaussian"])
def test_a_tied_start_changes_nothing(visible):
    """Each weight of importance sampling is p*(v) of the machine below, whatever the draw."""
    dbn = tied(visible)
    rows = ds.boltzmann.exact_draws(dbn.rbms[0], 4, seed=1)
    below = dbn.rbms[0].log_likelihood(rows).value
    np.testing.assert_allclose(dbn.log_likelihood(rows, 1).value, below, atol=1e-4)


@pytest.mark.parametrize("visible", ["spin", "gaussian", "learnt gaussian"])
def test_a_tie_takes_off_what_more_hidden_units_add_to_one_unit(visible):
    states = np.concatenate([np.zeros([1, 3]), np.eye(3)]).astype(np.float32)
    wider, exact = (tied(visible, more).rbms[1].machine.unnormalized_log_prob(states) for more in (4, 0))
    np.testing.assert_allclose(wider - exact, np.full(4, wider[0] - exact[0]), atol=1e-5)


def test_a_greedy_fit_and_what_takes_binary_units_alone():
    rows = ds.boltzmann.exact_draws(rbm_of("gaussian", "binary"), 20, seed=1)
    dbn = network("gaussian")
    for rbm in dbn.rbms:
        rbm.compile(jit_compile=False)
    before = [rbm.kernel.numpy() for rbm in dbn.rbms]
    dbn.fit(rows, epochs=1, batch_size=5, verbose=0)
    assert all(np.any(rbm.kernel.numpy() != kernel) for rbm, kernel in zip(dbn.rbms, before))
    assert np.isfinite(dbn.evaluate(rows, verbose=0))
    for use in (
        dbn.compile, lambda: dbn.impute(rows), lambda: dbn.annealed_log_likelihood(rows, 3, 2),
        lambda: dbn.fit(np.full((2, 2), np.inf)), lambda: dbn.evaluate(rows[:, :1]),
        lambda: ds.serving.export_machines(dbn, "nowhere", verbose=False),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="Received: "):
            use()
    with pytest.raises(ValueError, match="Received: Gaussian"):
        dbn.impute(rows)


def test_units_between_machines_are_binary():
    for below, above in (("spin", "spin"), ("spin", "binary"), ("binary", "spin")):
        rbms = [ds.boltzmann.RBM(2, 3, hidden=below), ds.boltzmann.RBM(3, 2, visible=above)]
        with pytest.raises(ValueError, match="units between machines are binary.*Received: "):
            ds.boltzmann.DBN(rbms)
    dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(2, 3, visible="spin"), ds.boltzmann.RBM(3, 4)])
    with pytest.raises(ValueError, match="Received: Binary"):
        dbn.tie(1)
