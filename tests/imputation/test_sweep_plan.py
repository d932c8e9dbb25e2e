"""A plan of sweeps beside the same chain run by hand, draw for draw."""

import numpy as np
import pytest
import tensorflow as tf

from tests.imputation.support import MASKS, ROW, copies, pair
from tfdsmcmc import random
from tfdsmcmc.imputation.kernels import NetworkKernel
from tfdsmcmc.imputation.settings import Settings
from tfdsmcmc.imputation.sweep_plan import plan_sweeps
from tfdsmcmc.rows import Rows


@pytest.mark.parametrize("name", ["SBN", "DARN"])
@pytest.mark.parametrize("kernel", ["gibbs", "metropolis"])
@pytest.mark.parametrize(
    ("imputations", "samples", "burn_in", "thinning", "chains"), [(1, 1, 0, 1, 1), (1, 1, 3, 1, 2), (5, 2, 4, 3, 2)]
)
def test_a_plan_is_the_chain_run_by_hand(name, kernel, imputations, samples, burn_in, thinning, chains):
    networks, kernel = pair(name), NetworkKernel(kernel)
    parts = networks.generative, networks.recognition
    rows, seed = Rows(copies(ROW, 3), copies(MASKS["some"], 3)), tf.constant([1, 2])
    plan = plan_sweeps(kernel, Settings(imputations, samples, burn_in, thinning, chains))
    kept, mean, accepted, trace = (part.numpy() for part in plan(*parts, rows, seed))

    start_seed, burn_seed, keep_seed = tf.unstack(random.split(seed, 3))
    state, z = kernel.start(*parts, rows.map(lambda part: tf.tile(part, [chains, 1])), start_seed)
    for i in range(burn_in):
        state, z, *_ = kernel.sweep(*parts, state, z, random.fold(burn_seed, i))
    states, means, shares, densities = [], [], [], []
    for i in range(plan.states * plan.spacing):
        state, z, share, told = kernel.sweep(*parts, state, z, random.fold(keep_seed, i))
        states.append(state.values.numpy())
        means.append((kernel.expected(*parts, state, z) if told is None else told).numpy())
        shares.append(np.zeros(3 * chains) if share is None else share.numpy())
        densities.append(kernel.log_density(*parts, state, z).numpy())
    by_chain = (chains, 3, -1)
    last = states[plan.spacing - 1 :: plan.spacing]
    np.testing.assert_array_equal(kept, np.concatenate([part.reshape(by_chain) for part in last]))
    np.testing.assert_allclose(mean, np.sum(means, 0, np.float64).reshape(by_chain).sum(0), rtol=1e-6)
    np.testing.assert_allclose(accepted, np.sum(shares, 0, np.float64).reshape(chains, 3).sum(0), rtol=1e-6)
    np.testing.assert_allclose(trace, np.reshape(densities, (-1, chains, 3)), rtol=1e-5)
