"""Of bits that depend on each other a sweep knows the probabilities that it drew them with."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.imputation.support import MASKS, NETWORKS, ROW, copies, missing, pair
from tests.oracles import randomize
from tfdsmcmc.imputation.kernels import NetworkKernel, gibbs
from tfdsmcmc.imputation.settings import Settings
from tfdsmcmc.imputation.sweep_plan import plan_sweeps
from tfdsmcmc.rows import Rows
from tfdsmcmc.sweeps.averaged import sweep_averaged
from tfdsmcmc.sweeps.gibbs import generative_factors, sweep_all, sweep_all_and_mean, sweep_any

DEPENDENT = ["DARN", "NADE", "mixed", "no latent layers"]
COUNT = 64


def start(name, mask):
    """(networks, rows with random values in their gaps, random z)."""
    networks, rng = pair(name), np.random.default_rng(0)
    noise = rng.integers(0, 2, (COUNT, 4)).astype(np.float32)
    x = tf.where(mask, copies(ROW, COUNT), noise)
    z = [tf.constant(rng.integers(0, 2, (COUNT, width)), tf.float32) for width in networks.generative.latent_units]
    return networks, Rows(x, copies(mask, COUNT)), z


@pytest.mark.parametrize("mask", ["some", "all missing"])
@pytest.mark.parametrize("name", DEPENDENT)
def test_probabilities_are_those_given_all_else_when_a_bit_was_drawn(name, mask):
    """Unit by unit, from log p(x, z): the units before it are as after the sweep, those behind it as before."""
    networks, rows, z = start(name, MASKS[mask])
    x, z, mean = sweep_all_and_mean(networks.generative, rows, z, [3, 4])
    old, new = rows.values.numpy(), x.numpy()
    for d in range(4):
        if MASKS[mask][d]:
            np.testing.assert_array_equal(mean[:, d], ROW[d])
            continue
        then = np.concatenate([new[:, :d], old[:, d:]], 1)
        zero, one = (np.where(np.arange(4) == d, bit, then).astype(np.float32) for bit in (0, 1))
        difference = networks.generative.log_joint(one, z) - networks.generative.log_joint(zero, z)
        np.testing.assert_allclose(mean[:, d], tf.sigmoid(difference), rtol=2e-4)


def test_averages_over_draws_of_the_weights_know_them_too():
    """Beside the plain form of the sweep, where the same uniform draws gave the same units."""
    networks, rows, z = start("DARN", MASKS["some"])
    factor = generative_factors(networks.generative)[0]
    layer = ds.layers.UnitAverage(factor.layer, 3)
    layer.build((None, factor.layer.parent_units))
    randomize(layer, seed=1, scale=1.5)
    arguments = [factor._replace(layer=layer)], [rows.values, *z], 0, [5, 6], tf.logical_not(rows.observed), True
    (fast, found), (plain, exact) = sweep_averaged(*arguments), sweep_any(*arguments)
    same = np.all(fast == plain, 1)
    assert same.mean() > 0.9 and np.std(exact[same], 0).min() > 0.01
    np.testing.assert_allclose(found[same], exact[same], atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_to_ask_for_them_changes_no_draw(name):
    networks, rows, z = start(name, MASKS["some"])
    x, moved, mean = sweep_all_and_mean(networks.generative, rows, z, [3, 4])
    plain, plain_z = sweep_all(networks.generative, rows, z, [3, 4])
    for one, other in zip([x, *moved], [plain, *plain_z]):
        np.testing.assert_array_equal(one, other)
    assert (mean is None) == (name not in DEPENDENT)
    assert gibbs(networks.generative, networks.recognition, rows, z, [3, 4]).mean is not None or name not in DEPENDENT


@pytest.mark.parametrize("name", DEPENDENT)
def test_their_mean_is_the_exact_one_and_scatters_less_than_that_of_the_bits(name):
    """Chains of 4 sweeps of many copies of a row: the mean over all within five of its errors."""
    networks, mask = pair(name), MASKS["some"]
    completions, probabilities, _ = missing(networks.generative, ROW, mask)
    exact = (probabilities @ completions)[~mask]
    rows = Rows(copies(ROW, 4000), copies(mask, 4000))
    plan = plan_sweeps(NetworkKernel("gibbs"), Settings(4, 4, 20, 1, 1))
    kept, sums, *_ = plan(networks.generative, networks.recognition, rows, tf.constant([5, 6]))
    means, bits = (sums.numpy() / 4)[:, ~mask], kept.numpy().mean(0)[:, ~mask]
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    assert np.all(np.abs(means.mean(0) - exact) < 5 * error)
    assert np.all(means.std(0) < 0.8 * bits.std(0))
