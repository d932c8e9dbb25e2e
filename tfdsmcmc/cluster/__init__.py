"""Many machines: independent chains, and estimates over shards of rows, by `joblib` and whatever engine it is given.

    import joblib
    with joblib.parallel_config("loky", n_jobs=8):        # fresh processes on this machine; or "dask", a cluster's
        ds.cluster.fit_chains(make_model, "digits", "runs/x", num_chains=16, epochs=200, seed=0)
        posterior = ds.posterior.load("runs/x")
        ds.cluster.log_likelihood(posterior, make_model, "digits:test")

There is no engine of its own: chains are independent, and of shards there are sums. Rows that have a name are opened
where the work is; rows in memory travel, a shard with each task.
"""

from tfdsmcmc.cluster.chains import ChainFailed, fit_chain, fit_chains
from tfdsmcmc.cluster.estimates import annealed_log_likelihood, log_likelihood
from tfdsmcmc.cluster.imputations import impute
from tfdsmcmc.cluster.rows import opened
from tfdsmcmc.cluster.work import TasksFailed, run

__all__ = [
    "ChainFailed",
    "TasksFailed",
    "annealed_log_likelihood",
    "fit_chain",
    "fit_chains",
    "impute",
    "log_likelihood",
    "opened",
    "run",
]
