"""What may happen to a task: an error, no memory or room, a worker that dies or hangs, another scheduler."""

import errno
import functools
import os
import pathlib
import signal
import threading
import time

import joblib
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.cluster.models import COLLECTOR, ROWS, make
from tests.cluster.test_chains import assert_same, fitted
from tfdsmcmc import files
from tfdsmcmc.cluster import ChainFailed, TasksFailed, chains, estimates, work
from tfdsmcmc.cluster.digest import digest_of
from tfdsmcmc.model import DeepGenerativeModel


def dies_once(folder, number):
    """The task 1 kills its process, at its first start."""
    mark = pathlib.Path(folder) / str(number)
    begun = mark.exists()
    mark.write_text("begun")
    if number == 1 and not begun:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies(number):
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(number):
    time.sleep(600 * number)
    return number


def named(*arguments):
    return [(f"task {each[-1]}", each) for each in arguments]


def test_errors_stop_no_other_task():
    done = []

    def task(number):
        if number == 1:
            raise MemoryError("of 80 GB")
        done.append(number)

    with pytest.raises(TasksFailed, match="1 of 3 tasks failed. Received: task 1: MemoryError: of 80 GB$"):
        work.run(task, named((0,), (1,), (2,)), False, "tasks")
    assert done == [0, 2]
    with pytest.raises(ValueError, match="no number"):
        work.run(lambda number: checked(number), named((0,), (1,)), False, "tasks")
    with pytest.raises(TasksFailed, match="12 of 12 tasks failed.*task 7: OSError: 7; and 4 others$"):
        work.run(lambda number: fails(number), named(*((i,) for i in range(12))), False, "tasks")
    with pytest.raises(ValueError, match="timeout must be.*Received: "):
        work.run(task, named((0,)), False, "tasks", timeout=0)


def checked(number):
    raise ValueError("no number")


def fails(number):
    raise OSError(str(number))


@pytest.mark.slow
def test_a_workers_death_costs_no_task(tmp_path):
    """That of task 1 takes the pool with it; a fresh one goes on. Who dies whenever it begins is told."""
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        done = work.run(dies_once, named(*((str(tmp_path), i) for i in range(4))), False, "tasks")
        assert done == [0, 1, 2, 3]
        with pytest.raises(TasksFailed, match="1 of 1 tasks failed. Received: task 0: the worker died, killed or"):
            work.run(dies, named((0,)), False, "tasks")


@pytest.mark.slow
def test_a_hanging_task_is_told():
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        work.run(hangs, named((0,), (0,)), False, "tasks")  # workers have begun
        with pytest.raises(TasksFailed, match="1 of 2 tasks failed. Received: task 1: no task was done for 20 seconds"):
            work.run(hangs, named((0,), (1,)), False, "tasks", timeout=20)


def test_a_scheduler_out_of_reach_is_told(monkeypatch):
    class CommClosedError(OSError):
        __module__ = "distributed.comm.core"

    def broken(*arguments):
        yield 0, "done"
        raise CommClosedError("in <TCP>")

    monkeypatch.setattr(work, "_results", broken)
    with pytest.raises(TasksFailed, match=r"1 of 2 tasks.*task 1: the scheduler is out of reach \(CommClosedError: in"):
        work.run(divmod, named((0,), (1,)), False, "tasks")


@pytest.fixture
def full_disk(monkeypatch):
    """No room from the third file of weights on, and again room."""
    state, check = {"files": 0, "full": True}, files.check_room

    def check_room(folder, size):
        state["files"] += 1
        if state["full"] and state["files"] > 3:
            raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {size:,} bytes are needed", str(folder))
        check(folder, size)

    monkeypatch.setattr(files, "check_room", check_room)
    return state


@pytest.mark.slow
def test_a_full_disk_costs_no_draw(tmp_path, full_disk):
    """The chain fails by name, the other too; with room it goes on to the same samples as those that had room."""
    with pytest.raises(ChainFailed, match=r"2 of 2 chains failed.*chain 0: OSError: \[Errno 28\] .*bytes are needed"):
        fitted(tmp_path / "full", 2)
    assert full_disk["files"] > 3
    full_disk["full"] = False
    found, whole = fitted(tmp_path / "full", 2), fitted(tmp_path / "whole", 2)
    for one, other in zip(found.samples, whole.samples, strict=True):
        assert_same(one, other)


def test_no_room_for_results(tmp_path, monkeypatch):
    """Estimates that cannot be kept are told by their rows; those that could are kept."""
    ds.cluster.fit_chains(make, ROWS, tmp_path / "runs", 1, 2, collector=COLLECTOR, batch_size=20)
    options = {"num_samples": 5, "batch_size": 10, "shard_rows": 20, "folder": tmp_path / "kept"}
    savez = np.savez

    def full(stream, **arrays):
        if "00000020" in stream.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        savez(stream, **arrays)

    with monkeypatch.context() as patch:
        patch.setattr(estimates.np, "savez", full)
        with pytest.raises(TasksFailed, match=r"1 of 3 tasks failed.* rows 20 to 39: OSError: \[Errno 28\]"):
            ds.cluster.log_likelihood(tmp_path / "runs", make, ROWS, **options)
    assert len(list(tmp_path.rglob("*.npz"))) == 2
    found = ds.cluster.log_likelihood(tmp_path / "runs", make, ROWS, **options)
    whole = ds.posterior.load(tmp_path / "runs").log_likelihood(make(0), ROWS, 5, batch_size=10)
    np.testing.assert_array_equal(found.value, whole.value)


@pytest.mark.slow
def test_two_schedulers_learn_each_chain_once(tmp_path, monkeypatch):
    """Side by side, of three chains: each passes over what the other is at, and both end with all done."""
    learnt, fit = [], DeepGenerativeModel.fit

    def counted(model, *arguments, **options):
        learnt.append(threading.get_ident())
        return fit(model, *arguments, **options)

    monkeypatch.setattr(DeepGenerativeModel, "fit", counted)
    whole = fitted(tmp_path / "whole", 3, epochs=2)
    learnt.clear()
    arguments = (make, ROWS, tmp_path / "shared", 3, 2)
    fit_chains = functools.partial(ds.cluster.fit_chains, *arguments, collector=COLLECTOR, batch_size=20)
    other = threading.Thread(target=fit_chains)
    other.start()
    fit_chains()
    other.join()
    assert len(learnt) == 3
    for one, two in zip(ds.posterior.load(tmp_path / "shared").samples, whole.samples, strict=True):
        assert_same(one, two)


def test_a_chain_that_another_scheduler_is_at_is_waited_for(tmp_path, monkeypatch):
    """Not at once: the others are learnt first."""
    order = []
    monkeypatch.setattr(chains, "_fit_here", lambda *arguments: order.append(arguments[1]))
    (tmp_path / "chain_0000").mkdir()
    claimed, done = threading.Event(), threading.Event()

    def hold():
        with files.claimed(tmp_path / "chain_0000"):
            claimed.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    claimed.wait()
    plain_run = work.run

    def run(task, tasks, verbose, what, **options):
        if what != "chains":
            assert order == [1] and [name for name, _ in tasks] == ["chain 0"]
            done.set()
        return plain_run(task, tasks, verbose, what, **options)

    monkeypatch.setattr(work, "run", run)
    ds.cluster.fit_chains(make, ROWS, tmp_path, 2, 2, collector=COLLECTOR, batch_size=20)
    holder.join()
    assert order == [1, 0]


def test_a_chain_that_could_not_be_saved_is_not_learnt_again(tmp_path, monkeypatch):
    """Its samples stay, and a further call has no more to do than to save."""
    save = DeepGenerativeModel.save

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(DeepGenerativeModel, "save", full)
    with pytest.raises(ChainFailed, match="No space left"):
        ds.cluster.fit_chains(make, ROWS, tmp_path, 1, 4, collector=COLLECTOR)
    own = tmp_path / "chain_0000"
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (own / "samples").glob("*.h5")}
    monkeypatch.setattr(DeepGenerativeModel, "save", save)
    ds.cluster.fit_chains(make, ROWS, tmp_path, 1, 4, collector=COLLECTOR)
    after = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (own / "samples").glob("*.h5")}
    assert before and after == before
    assert (own / "model.keras").exists() and not (own / "backup").exists()


def test_chains_of_other_weights_of_rows_are_no_posterior(tmp_path):
    weights = np.linspace(0.5, 2.0, len(ROWS))
    for seed, (name, fit) in enumerate((("plain", {}), ("weighted", {"sample_weight": weights}))):
        ds.cluster.fit_chains(make, ROWS, tmp_path / name, 1, 3, seed, collector=COLLECTOR, **fit)
    with pytest.raises(ValueError, match="differs in row_weights"):
        ds.posterior.load([tmp_path / "plain", tmp_path / "weighted"])
    other = weights.copy()
    other[30] += 0.1
    with pytest.raises(ChainFailed, match="differs in .*row_weights"):
        ds.cluster.fit_chains(make, ROWS, tmp_path / "weighted", 1, 3, 1, collector=COLLECTOR, sample_weight=other)


def test_long_columns_of_numbers_differ_by_any_entry():
    pandas = pytest.importorskip("pandas")
    one, other = pandas.Series(np.ones(1000)), pandas.Series(np.ones(1000))
    other[500] = 2.0
    assert digest_of(one) != digest_of(other) and digest_of(one) == digest_of(one.copy())
