"""The cells of a grid as tasks: one after the other, side by side, or wherever `joblib.parallel_config` says."""

import contextlib

import tfdsmcmc as ds

HELP = (  # of --jobs
    "cells at a time, each in a process with its share of the cores (default: one after the other here, or what an "
    "outer joblib.parallel_config says)"
)


def run(task, named, jobs):
    """Does the tasks.

    A task finds by itself what is done and what somebody else is at.

    Args:
      task: function, of a module that workers can import.
      named: pairs of a name and arguments, a tuple.
      jobs: how many at a time; None for one after the other, where the first error ends all, or an outer configuration.

    Raises:
      TasksFailed: of several at a time, when all others are done.
    """
    import joblib

    with contextlib.nullcontext() if jobs is None else joblib.parallel_config(n_jobs=jobs):
        ds.cluster.run(task, named, False, "cells", refused=(Exception,) if jobs is None else ())
