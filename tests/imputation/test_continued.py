"""Chains that go on from one posterior sample to the next: where they start, and what their law is."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.imputation.support import MASKS, ROW, copies, missing, pair
from tests.imputation.test_posterior import Samples, ensemble
from tfdsmcmc.boltzmann.imputation import MachineKernel, StackKernel
from tfdsmcmc.imputation import kernels
from tfdsmcmc.imputation.continued import Chains, ContinuedPlan
from tfdsmcmc.imputation.plans import run
from tfdsmcmc.imputation.settings import Settings
from tfdsmcmc.imputation.sweep_plan import Move, filled, plan_sweeps
from tfdsmcmc.rows import Rows

MASK = MASKS["some"]
BURN_IN, CONTINUED, CHAINS = 7, 2, 2


class Counting:
    """A kernel whose sweeps are counted in the gaps, where a new chain has 0."""

    proposes = False

    def start(self, rows, seed, fresh=True):
        return rows._replace(values=filled(rows, tf.zeros_like(rows.values), fresh)), []

    def sweep(self, rows, z, seed):
        return Move(rows._replace(values=tf.where(rows.observed, rows.values, rows.values + 1.0)), z)

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
    rows, chains = Rows(np.where(known, 100.0, np.nan).astype(np.float32), known), Chains(CHAINS)
    counted, before = plan.states * plan.spacing, 0
    for burn_in in (BURN_IN, CONTINUED, CONTINUED):
        part = run(Density(), ContinuedPlan(plan, CONTINUED), rows, tf.constant([1, 2]), 2, chains=chains)
        before += burn_in
        mean = before + (counted + 1) / 2
        np.testing.assert_allclose(part.probabilities, np.where(known, 100.0, mean))
        ends = before + plan.spacing * (1 + np.arange(imputations) // CHAINS)
        np.testing.assert_array_equal(part.x, np.where(known[:, None], 100.0, ends[None, :, None]))
        before += counted


@pytest.mark.parametrize("name", ["SBN", "DARN", "no latent layers"])
def test_a_network_starts_where_it_is_told_to(name):
    """No noise, no passes, no draw from the model: not even where nothing is observed."""
    networks = pair(name)
    for mask in (MASK, MASKS["all missing"]):
        rows = Rows(copies(ROW, 50), copies(mask, 50))
        for fresh in (False, tf.constant(False)):
            begun, z = kernels.start(networks.generative, networks.recognition, rows, [1, 2], fresh=fresh)
            np.testing.assert_array_equal(begun.values, rows.values)
            told = networks.recognition.sample(rows, 1, tf.unstack(ds.random.split([1, 2], 4))[1])
            for part, own in zip(z, told, strict=True):
                np.testing.assert_array_equal(part, own[0])
        anew, _ = kernels.start(networks.generative, networks.recognition, rows, [1, 2], fresh=tf.constant(True))
        as_ever, _ = kernels.start(networks.generative, networks.recognition, rows, [1, 2])
        np.testing.assert_array_equal(anew.values, as_ever.values)
        assert np.any(anew.values != rows.values)


def test_machines_start_where_they_are_told_to():
    machine, stack = (
        ds.boltzmann.RBM(4, 3).density(),
        ds.boltzmann.DBN([ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 2)]).density(),
    )
    rows = Rows(copies(ROW, 50), copies(MASK, 50))
    for kernel, parts in ((MachineKernel(), machine.parts), (StackKernel(), stack.parts)):
        np.testing.assert_array_equal(kernel.start(*parts, rows, [1, 2], tf.constant(False))[0].values, rows.values)
        assert np.any(kernel.start(*parts, rows, [1, 2])[0].values != rows.values)


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
