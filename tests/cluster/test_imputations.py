"""Imputations in shards: the same whoever makes them, observed entries as they are, each shard's as made by itself."""

import joblib
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.cluster.models import COLLECTOR, ROWS, make

X = np.where(np.random.default_rng(3).random(ROWS.shape) < 0.3, np.nan, ROWS)[:20]
OPTIONS = {"num_imputations": 2, "burn_in": 2, "num_samples": 4, "posterior_weights": "equal"}


@pytest.mark.slow
def test_shards(tmp_path):
    ds.cluster.fit_chains(make, ROWS, tmp_path, 1, 2, collector=COLLECTOR, batch_size=20)
    found = ds.cluster.impute(tmp_path, make, X, seed=4, shard_rows=8, **OPTIONS)
    assert found.x.shape == (2, 20, 6) and np.isfinite(found.x).all()
    np.testing.assert_array_equal(np.where(np.isnan(X), np.nan, found.x[1]), X)
    with joblib.parallel_config("threading", n_jobs=2):
        again = ds.cluster.impute(tmp_path, make, X, seed=4, shard_rows=8, **OPTIONS)
    np.testing.assert_array_equal(again.x, found.x)
    np.testing.assert_array_equal(again.probabilities, found.probabilities)
    seed = ds.random.fold(ds.random.stream(4, "imputations of shards"), 8)
    posterior = ds.posterior.load(tmp_path)
    part = ds.imputation.impute(make(0), X[8:16], seed=seed, posterior=posterior, **OPTIONS)
    np.testing.assert_array_equal(found.x[:, 8:16], part.x)
    assert not np.array_equal(ds.cluster.impute(tmp_path, make, X, seed=5, shard_rows=8, **OPTIONS).x, found.x)
    with pytest.raises(ValueError, match="shard_rows must be.*Received: "):
        ds.cluster.impute(tmp_path, make, X, shard_rows=0)
