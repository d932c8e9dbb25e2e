"""Chains that go on from one posterior sample to the next: where they start, and what their law is."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.imputation.support import MASKS, ROW, Pair, missing, pair
from tests.imputation.test_posterior import Sample, Samples, ensemble
from tests.oracles import binary_states
from tfdsmcmc.imputation.continued import Chains
from tfdsmcmc.imputation.plans import run
from tfdsmcmc.imputation.settings import Settings
from tfdsmcmc.imputation.sweep_plan import Move, plan_sweeps
from tfdsmcmc.imputer import choices
from tfdsmcmc.rows import Rows

MASK = MASKS["some"]
BURN_IN, CONTINUED, CHAINS = 7, 2, 2


class Counting:
    """A kernel whose sweeps are counted in z and, of that, in the gaps."""

    proposes = False

    def start(self, rows, seed):
        return rows._replace(values=tf.where(rows.observed, rows.values, 0.0)), [tf.zeros_like(rows.values)]

    def sweep(self, rows, z, seed):
        return Move(rows._replace(values=tf.where(rows.observed, rows.values, z[0] + 1.0)), [z[0] + 1.0])

    def expected(self, rows, z):
        return rows.values

    def log_density(self, rows, z):
        return tf.reduce_sum(rows.values, 1)


class Density:
    def program(self, plan):
        return plan


@pytest.mark.parametrize("imputations, samples", [(1, 4), (3, 4), (4, 1)])
def test_chains_go_on_where_they_ended(imputations, samples):
    """Five rows in batches of two, at three samples: the number of each sweep is known."""
    plan = plan_sweeps(Counting(), Settings(imputations, samples, BURN_IN, 1, CHAINS))
    known = np.arange(15).reshape(5, 3) % 2 == 0
    rows, chains = Rows(np.where(known, 100.0, np.nan).astype(np.float32), known), Chains(CONTINUED)
    counted, before = plan.states * plan.spacing, 0
    for burn_in in (BURN_IN, CONTINUED, CONTINUED):
        part = run(Density(), plan, rows, tf.constant([1, 2]), 2, chains=chains)
        before += burn_in
        mean = before + (counted + 1) / 2
        np.testing.assert_allclose(part.probabilities, np.where(known, 100.0, mean))
        ends = before + plan.spacing * (1 + np.arange(imputations) // CHAINS)
        np.testing.assert_array_equal(part.x, np.where(known[:, None], 100.0, ends[None, :, None]))
        before += counted


def hard_to_tell(data_layer):
    """Two layers of six units that hold together, and a recognition network that knows nothing of them."""
    found = Pair(
        ds.GenerativeNetwork([ds.layers.SBN(1), ds.layers.SBN(6), data_layer]),
        ds.RecognitionNetwork([ds.layers.SBN(6), ds.layers.SBN(1)]),
    )
    top, middle, data = found.generative.layers
    middle.kernel.assign(np.full((1, 6), 3.2))
    middle.bias.assign(np.full(6, -1.6))
    data.kernel.assign(4.0 * np.eye(6))
    data.bias.assign(np.full(6, -2.0))
    for variable in found.recognition.trainable_variables:
        variable.assign(0.0 * variable)
    return found


@pytest.mark.parametrize("layer", [ds.layers.SBN, ds.layers.DARN])
@pytest.mark.parametrize("lengths", [choices._LENGTHS_OF_SOME, choices._LENGTHS_OF_MANY], ids=["some", "many"])
def test_the_default_lengths_forget_their_start(layer, lengths):
    """At ten equal samples, against sums over all states: the latent units go on too. Without them the mean is 0.1 off.
    512 rows: its standard error is 0.005 at most."""
    networks, row = hard_to_tell(layer(6)), np.array([1, 1, 1, 0, 0, 0], np.float32)
    mask = np.arange(6) < 3
    completions, p, _ = missing(networks.generative, row, mask)
    sample = sample_of(networks)
    x = np.repeat(np.where(mask, row, np.nan)[None], 512, 0)
    options = {**lengths, "batch_size": 512, "posterior_weights": "equal", "method": "gibbs"}
    found = ds.imputation.impute(networks, x, posterior=Samples([sample] * 10), **options).probabilities
    np.testing.assert_allclose(found[:, 3:].mean(), (p @ completions)[3:].mean(), atol=0.025)


def sample_of(networks):
    """The weights of networks as a sample."""
    return Sample(
        *([v.numpy() for v in net.trainable_variables] for net in (networks.generative, networks.recognition))
    )


def test_independent_draws_have_nothing_to_go_on_from():
    """Those of a mixture of Bernoulli distributions, whose z is no state but log p(c given v_observed)."""
    mixture = ds.boltzmann.MixtureOfBernoullis(4, 2, seed=1)
    samples = Samples([Sample([v.numpy() + 0.5 * m for v in mixture.theta_variables], []) for m in range(3)])
    x = np.array([np.where(MASK, ROW, np.nan)] * 5)
    options = {"posterior": samples, "posterior_weights": "equal", "burn_in": 2, "num_samples": 3}
    plain = ds.imputation.impute(mixture, x, **options)
    told = ds.imputation.impute(mixture, x, continued_burn_in=0, **options)
    for part, own in zip(told, plain, strict=True):
        np.testing.assert_array_equal(part, own)


def test_machines_go_on():
    """At twenty equal samples of one sweep each, against sums over all completions: one unit holds eight together, and
    chains that start anew find it on too often. 512 rows: the standard error of a mean is 0.005."""
    rbm, shown = ds.boltzmann.RBM(8, 1, seed=2), np.arange(8) < 2
    for variable, value in zip(rbm.theta_variables, (2.0, -1.8, -8.0), strict=True):
        variable.assign(np.full(variable.shape, value))
    rows = np.concatenate([np.ones((64, 2)), binary_states(6)], 1).astype(np.float32)
    log_p = rbm.density().machine.unnormalized_log_prob(rows).numpy().astype(np.float64)
    exact = (np.exp(log_p - np.logaddexp.reduce(log_p)) @ rows)[2:].mean()
    same = Samples([Sample([v.numpy() for v in rbm.theta_variables], [])] * 20)
    x = np.repeat(np.where(shown, 1.0, np.nan)[None], 512, 0)
    options = {"posterior": same, "posterior_weights": "equal", "num_samples": 1, "thinning": 1, "num_chains": 1}
    options["batch_size"] = 512
    anew = ds.imputation.impute(rbm, x, burn_in=0, **options).probabilities
    on = ds.imputation.impute(rbm, x, burn_in=30, continued_burn_in=0, **options).probabilities
    assert abs(anew[:, 2:].mean() - exact) > 0.05
    np.testing.assert_allclose(on[:, 2:].mean(), exact, atol=0.025)


@pytest.mark.parametrize("method", ["gibbs", "metropolis"])
def test_one_sample_is_as_it_was(method):
    """The first chains start anew, and importance sampling has none: options of chains that go on change nothing."""
    networks = pair("DARN")
    posterior, *_ = ensemble(networks)
    one, x = Samples(posterior.samples[:1]), np.array([np.where(MASK, ROW, np.nan)] * 5)
    options = {"method": method, "burn_in": 3, "num_samples": 4, "num_imputations": 3, "batch_size": 2}
    plain = ds.imputation.impute(networks, x, posterior=one, **options)
    told = ds.imputation.impute(networks, x, posterior=one, continued_burn_in=1, **options)
    for part, own in zip(told, plain, strict=True):
        np.testing.assert_array_equal(part, own)
    options["method"] = "resampling"
    plain = ds.imputation.impute(networks, x, posterior=posterior, **options)
    told = ds.imputation.impute(networks, x, posterior=posterior, continued_burn_in=1, **options)
    np.testing.assert_array_equal(told.x, plain.x)


def test_a_long_chain_at_one_point_is_what_samples_alike_have():
    """At thirty equal samples of one sweep each, with no sweep lost between them, chains that go on are beyond the
    start; those that start anew have its bias. 512 rows: means of a mean have a standard error of some 0.005."""
    networks = pair("DARN", scale=2.0)
    posterior, laws, _ = ensemble(networks)
    exact = laws[0] @ missing(networks.generative, ROW, MASK)[0]
    same, x = Samples(posterior.samples[:1] * 30), np.repeat(np.where(MASK, ROW, np.nan)[None], 512, 0)
    options = {"posterior": same, "posterior_weights": "equal", "num_samples": 1, "num_chains": 1, "thinning": 1}
    options |= {"batch_size": 512, "method": "metropolis"}
    anew = ds.imputation.impute(networks, x, burn_in=0, **options).probabilities.mean(0)
    on = ds.imputation.impute(networks, x, burn_in=20, continued_burn_in=0, **options).probabilities.mean(0)
    assert np.abs(anew - exact).max() > 0.05
    np.testing.assert_allclose(on, exact, atol=0.02)


@pytest.mark.parametrize("value", [-1, 1.5, "x"])
def test_numbers_of_sweeps_that_are_none_are_refused(value):
    with pytest.raises(ValueError, match="continued_burn_in.*Received: "):
        ds.imputation.impute(pair("SBN"), [[1.0, 0, 0, np.nan]], continued_burn_in=value)
