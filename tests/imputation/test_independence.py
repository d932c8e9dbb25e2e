"""What must not depend on what: batches, states of one chain, rows with gaps and complete ones."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_means
from tests.imputation.support import MASKS, ROW, SBN, Pair, missing, pair
from tfdsmcmc.imputation import plans, resampling

METHODS = ("gibbs", "metropolis", "resampling")


@pytest.mark.parametrize("method", METHODS)
def test_copies_of_a_row_in_two_batches_draw_differently(method):
    """64 draws of three fair units for each of two batches: by chance they are the same ones once in 2^192 times."""
    networks = Pair(ds.GenerativeNetwork([SBN(4)]), ds.RecognitionNetwork([]))
    x = np.repeat([[1.0, np.nan, np.nan, np.nan]], 2, 0)
    arguments = {"num_imputations": 64, "num_chains": 64, "burn_in": 0, "batch_size": 1}
    arguments["num_samples"] = 64 if method == "resampling" else 1
    drawn = ds.imputation.impute(networks, x, method=method, **arguments).x
    assert np.any(drawn[:, 0] != drawn[:, 1])


@pytest.mark.slow
def test_states_of_one_chain_far_apart_are_independent():
    """The two states of a chain, 12 sweeps apart, of 2,048 chains agree as often as independent draws do: a z-test,
    false failures at most 1e-6. Sweeps with the seeds of those before the first state pull the second to it."""
    networks, mask = pair("SBN"), MASKS["some"]
    x = np.repeat(np.where(mask, ROW, np.nan)[None], 2**11, 0)
    lengths = {"burn_in": 12, "thinning": 12, "num_samples": 1, "num_chains": 1}
    result = ds.imputation.impute(networks, x, num_imputations=2, method="gibbs", seed=5, batch_size=2**11, **lengths)
    _, p, _ = missing(networks.generative, ROW, mask)
    one, other = result.x[:, :, ~mask]
    assert_means((one == other).all(1), (p**2).sum())


@pytest.mark.parametrize("method", METHODS)
def test_complete_rows_change_nothing(method):
    """Rows with gaps draw the same with and without complete ones beside them."""
    networks = pair("SBN")
    gaps = np.array([[1, np.nan, 0, np.nan], [np.nan, 1, 1, 0], [0, 0, np.nan, 1]])
    whole = np.random.default_rng(1).integers(0, 2, (97, 4))
    many = 2**13 if method == "resampling" else 2  # so many that a hundred rows have another chunk than four
    arguments = {"method": method, "num_imputations": many, "burn_in": 1, "num_samples": 2, "thinning": 1}
    alone = ds.imputation.impute(networks, gaps, **arguments)
    together = ds.imputation.impute(networks, np.concatenate([whole, gaps]), **arguments)
    np.testing.assert_array_equal(alone.x, together.x[:, 97:])
    np.testing.assert_array_equal(alone.probabilities, together.probabilities[97:])


def test_other_numbers_of_rows_seldom_need_another_program():
    generative = pair("SBN").generative
    chunks = {resampling.plan_resampling(generative, 1, 10**6, rows).chunk for rows in range(600, 1000, 7)}
    assert len(chunks) <= 2 and all(chunk & (chunk - 1) == 0 for chunk in chunks)
    assert [plans.rows_at_a_time(rows, 100) for rows in (1, 5, 8, 90)] == [1, 8, 8, 100]
