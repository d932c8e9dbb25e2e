"""Tasks by joblib: one after the other here, or wherever `joblib.parallel_config` says."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf


def run(task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], verbose: bool, what: str) -> list[Any]:
    """The results of a task at each of some arguments, in their order.

    Args:
      task: function; it and its arguments travel to workers.
      arguments: tuples.
      verbose: whether a line says how many are done.
      what: what is counted, in the plural.
    """
    import joblib

    arguments = list(arguments)
    jobs = (joblib.delayed(_at_home)(task, number, *each) for number, each in enumerate(arguments))
    found = [None] * len(arguments)
    parallel = joblib.Parallel(return_as="generator_unordered", pre_dispatch="all")
    for done, (number, result) in enumerate(parallel(jobs), 1):
        found[number] = result
        if verbose:
            end = "\n" if done == len(arguments) else ""
            print(f"\r{done} of {len(arguments)} {what}", end=end, file=sys.stderr, flush=True)
    return found


def _at_home(task, number, *arguments):
    """The task in a worker, whose TensorFlow uses the worker's share of the cores."""
    share = os.environ.get("OMP_NUM_THREADS", "")  # which joblib sets for the processes that it starts
    if share.isdigit() and int(share) > 0:
        with contextlib.suppress(RuntimeError):  # TensorFlow has begun already
            tf.config.threading.set_intra_op_parallelism_threads(int(share))
            tf.config.threading.set_inter_op_parallelism_threads(int(share))
    return number, task(*arguments)
