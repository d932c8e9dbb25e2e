"""Tasks by joblib: one after the other here, or wherever `joblib.parallel_config` says.

A task that ends with an error stops no other. A worker that dies takes with it what is not on disk: joblib's pool of
processes breaks, its tasks are given to a fresh one, and each goes on by its files. Dask gives a dead worker's tasks to
another by itself.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import sys
from collections.abc import Callable, Iterable
from typing import Any

from tfdsmcmc import files
from tfdsmcmc._common import checks
from tfdsmcmc.cluster import devices

_LOSSES = 3  # of workers, one after the other without a task done between, after which it is no accident
_TOLD = 8  # tasks that an error names


class TasksFailed(RuntimeError):
    """Some tasks of several ended with an error, or with their worker; the others are done.

    What a task has left in a folder stands: a further call goes on with it.
    """


def run(
    task: Callable[..., Any],
    named: Iterable[tuple[str, tuple[Any, ...]]],
    verbose: bool,
    what: str,
    error: type[TasksFailed] = TasksFailed,
    refused: tuple[type[Exception], ...] = (ValueError,),
    timeout: float | None = None,
) -> list[Any]:
    """The results of a task at each of some arguments, in their order.

    Args:
      task: function; it and its arguments travel to workers.
      named: pairs of a name, which the error gives, and arguments, a tuple.
      verbose: whether a line says how many are done.
      what: what is counted, in the plural.
      error: what is raised in the end where some have failed.
      refused: errors of a task that are raised as they are, at once: what is wrong with the arguments.
      timeout: seconds after which, where no task is done meanwhile, those at work are taken for hanging; None to wait.

    Raises:
      TasksFailed: or `error`, naming the tasks without a result and why.
      ValueError: for a timeout that is none, or what a task refuses.
    """
    if timeout is not None:
        timeout = checks.positive_number("timeout", timeout)
    names, arguments = zip(*named, strict=True)
    found, lost = {}, 0
    while len(found) < len(names):
        before = len(found)
        try:
            for number, result in _results(task, arguments, set(found), refused, timeout):
                found[number] = result
                _tell(len(found), len(names), what, verbose)
        except Exception as loss:
            reason, lost = _loss(loss, timeout), lost + 1 if len(found) == before else 1
            if reason is None:
                raise
            if lost == _LOSSES or not isinstance(loss, concurrent.futures.BrokenExecutor):
                missing = [f"{name}: {reason}" for number, name in enumerate(names) if number not in found]
                raise error(_message(missing, len(names), what)) from loss
    failed = [f"{name}: {found[number].said}" for number, name in enumerate(names) if _failed(found[number])]
    if failed:
        raise error(_message(failed, len(names), what))
    return [found[number] for number in range(len(names))]


class _Failure:
    """What an error of a task said."""

    def __init__(self, error):
        self.said = f"{type(error).__name__}: {error}"


def _failed(result):
    return isinstance(result, _Failure)


def _results(task, arguments, done, refused, timeout):
    """Yields (number, result) of the tasks that are not done, as they end."""
    import joblib

    home = files.writer()
    jobs = [
        joblib.delayed(_at_home)(home, task, refused, number, *each)
        for number, each in enumerate(arguments)
        if number not in done
    ]
    return joblib.Parallel(return_as="generator_unordered", pre_dispatch="all", timeout=timeout)(jobs)


def _at_home(home, task, refused, number, *arguments):
    """The task where the work is; in another process than that which sent it, with a worker's share of the machine."""
    if files.writer() != home:
        devices.settle()
    try:
        return number, task(*arguments)
    except refused:
        raise
    except Exception as error:
        return number, _Failure(error)


def _loss(error, timeout):
    """What has become of workers, of an error that no task has raised; None for other errors."""
    if isinstance(error, (TimeoutError, multiprocessing.TimeoutError)):
        return f"no task was done for {timeout:g} seconds"
    if isinstance(error, concurrent.futures.BrokenExecutor) or type(error).__name__ == "KilledWorker":
        return "the worker died, killed or out of memory"
    if type(error).__module__.partition(".")[0] == "distributed":
        return f"the scheduler is out of reach ({type(error).__name__}: {error})"
    return None


def _message(failed, total, what):
    others = f"; and {len(failed) - _TOLD} others" if len(failed) > _TOLD else ""
    return f"{len(failed)} of {total} {what} failed. Received: {'; '.join(failed[:_TOLD])}{others}"


def _tell(done, total, what, verbose):
    if verbose:
        print(f"\r{done} of {total} {what}", end="\n" if done == total else "", file=sys.stderr, flush=True)
