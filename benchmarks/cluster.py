"""Chains and estimates over workers: what two workers of two cores make of them, and what a cluster would.

(a) Chains an hour: two workers with a thread each, one process with two chains side by side, and one chain after the
other; the seconds to a chain's first step, and what a task costs that does nothing. (b) Weak scaling of estimates: n
rows on one worker, 2n on two, a thread each. (c) By arithmetic from these parts, and not measured: 1,000 chains on 8.1
million rows, and 10,000 rows annealed at 1,000 draws of the weights: hours, bytes, and the first bottleneck.

    python -m benchmarks.cluster --epochs 20
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import pickle
import sys
import tempfile
import time

from benchmarks.processes import run

WAYS = ("one after the other", "two workers", "two chains of one process")
FOLDER_RATE = 1e9  # bytes a second that a shared folder is taken to give
DRAWS = {"num_samples": 20, "burn_in": 0, "every": 1, "stop": False}


def make(seed, num_chains=1):
    import tfdsmcmc as ds

    model = ds.models.from_name("SBN/SBN 200-100", units=64, seed=seed)
    model.compile(**ds.methods.dsgnht_nais(num_chains=num_chains), steps_per_execution=10)
    return model


def nothing(number):
    """A task that does nothing, but for importing the package in a fresh worker."""
    return number


def chains(way, epochs, folder):
    """{"seconds": of two chains, "to_first_step": of a chain, "updates": of it, "bytes": that it leaves}"""
    import contextlib

    import joblib
    import keras

    import tfdsmcmc as ds

    folder, rows = pathlib.Path(folder), ds.datasets.load("digits").train
    two = joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1)
    with two if way == "two workers" else contextlib.nullcontext():
        if way == "two workers":
            ds.cluster.run(nothing, [(str(i), (i,)) for i in range(2)], False, "tasks")  # workers are there
        begun, first = time.perf_counter(), []

        def noting(batch, logs):
            first.append(time.perf_counter())

        if way == "two chains of one process":
            noted = keras.callbacks.LambdaCallback(on_train_batch_end=noting)
            collector = ds.posterior.Collector(folder / "samples", **DRAWS)
            backup = keras.callbacks.BackupAndRestore(folder / "backup")  # as `fit_chains` has it
            model = make(0, 2)
            model.fit(rows, epochs=epochs, batch_size=100, verbose=0, callbacks=[noted, collector, backup])
            model.save(folder / "model.keras")
        else:
            ds.cluster.fit_chains(make, rows, folder, 2, epochs, collector=DRAWS, batch_size=100)
        seconds = time.perf_counter() - begun
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2
    updates = epochs * -(-len(rows) // 100)
    return {"seconds": seconds, "to_first_step": first[0] - begun if first else None, "updates": updates, "bytes": size}


def tasks(count):
    """{"seconds": that a task costs which does nothing, in two workers that are there}"""
    import joblib

    import tfdsmcmc as ds

    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        ds.cluster.run(nothing, [(str(i), (i,)) for i in range(2)], False, "tasks")
        begun = time.perf_counter()
        ds.cluster.run(nothing, [(str(i), (i,)) for i in range(count)], False, "tasks")
    return {"seconds": (time.perf_counter() - begun) / count}


def estimates(workers, rows, annealed, folder):
    """{"seconds": of so many rows a worker, whose programs are there; "first": of half as many, tracing included;
    "bytes": of a draw's weights}"""
    import joblib
    import numpy as np

    import tfdsmcmc as ds

    x = np.tile(ds.datasets.load("digits").test, (1 + workers * rows // 300, 1))[: workers * rows]
    path = ds.datasets.pack(pathlib.Path(folder) / "rows.npy", x)
    more = {"num_steps": 100, "num_runs": 5} if annealed else {"num_samples": 200}
    function = ds.cluster.annealed_log_likelihood if annealed else ds.cluster.log_likelihood
    shard, seconds, posterior = rows // 4, [], ds.posterior.present(make(0))
    with joblib.parallel_config("loky", n_jobs=workers, inner_max_num_threads=1):
        ds.cluster.run(nothing, [(str(i), (i,)) for i in range(workers)], False, "tasks")  # workers are there
        for size in (2 * shard, 4 * shard):  # of each worker, which keeps its programs
            part = ds.datasets.open(path)[: size * workers]
            begun = time.perf_counter()
            function(posterior, make, part, batch_size=min(100, shard), shard_rows=shard, **more)
            seconds.append(time.perf_counter() - begun)
    return {"seconds": seconds[1], "first": seconds[0], "bytes": len(pickle.dumps(posterior))}


def simulated(name, count, seconds, task_bytes, folder_bytes, overhead, workers):
    """A line of part (c).

    Args:
      name: of what is done.
      count: of tasks.
      seconds: of a task on a worker.
      task_bytes: that go to a worker with a task.
      folder_bytes: that a task reads from and writes into the shared folder.
      overhead: seconds of the scheduler for a task.
      workers: how many.

    Returns:
      dict: `hours`, `scheduler_gb` and `folder_gb` in all, and `bottleneck`: what is used up first as workers grow in
      number, with the number at which it is.
    """
    limits = {"scheduler": seconds / overhead, "shared folder": seconds * FOLDER_RATE / folder_bytes, "tasks": count}
    first = min(limits, key=limits.get)
    own = max(seconds, workers * overhead, workers * folder_bytes / FOLDER_RATE)
    return {
        "name": name,
        "hours": -(-count // workers) * own / 3600,
        "scheduler_gb": count * task_bytes / 1e9,
        "folder_gb": count * folder_bytes / 1e9,
        "bottleneck": f"{first}, from {limits[first]:,.0f} workers on",
    }


def show(epochs, rows, workers):
    found = {way: _measured("chains", way, epochs) for way in WAYS}
    print(f"\nTwo chains of {found[WAYS[0]]['updates']:,} updates, SBN 200-100, digits\n")
    print("| how | seconds | chains an hour |\n| --- | --- | --- |")
    for way, one in found.items():
        print(f"| {way} | {one['seconds']:.1f} | {2 * 3600 / one['seconds']:.0f} |")
    cost = _measured("tasks", 1000)["seconds"]
    print(f"\nto the first step {found[WAYS[2]]['to_first_step']:.1f} s; a task that does nothing {1e3 * cost:.2f} ms")
    scaled = [_measured("estimates", count, rows, False, threads=1) for count in (1, 2)]
    print("\n| workers | rows | seconds | rows a second |\n| --- | --- | --- | --- |")
    for count, one in enumerate(scaled, 1):
        print(f"| {count} | {count * rows:,} | {one['seconds']:.1f} | {count * rows / one['seconds']:.0f} |")
    print(f"\nweak scaling {2 * scaled[0]['seconds'] / scaled[1]['seconds']:.2f}")
    annealed = _measured("estimates", 1, max(8, rows // 20), True, threads=1)
    one, short = found[WAYS[0]], _measured("chains", WAYS[0], epochs // 4)
    update = (one["seconds"] - short["seconds"]) / 2 / (one["updates"] - short["updates"])
    start = one["seconds"] / 2 - one["updates"] * update
    if update <= 0 or start <= 0:
        raise SystemExit(f"--epochs are too few to be timed. Received: {epochs}")
    print(f"\nan update {1e3 * update:.1f} ms; a chain beside its updates {start:.1f} s")
    steps = 8_100_000 // 100 * 10
    parts = [
        ("1,000 chains, 8.1 million rows, 10 epochs", 1000, start + steps * update, 2000, one["bytes"] + 8.1e6 * 98),
        ("10,000 rows annealed at 1,000 draws", 1000 * 100, annealed["seconds"] * 100 / max(8, rows // 20), 2000,
         annealed["bytes"] + 100 * 98),
    ]  # fmt: skip
    print(f"\nBy arithmetic from these, {workers} workers\n")
    print("| what | hours | GB through the scheduler | GB of the shared folder | first bottleneck |")
    print("| --- | --- | --- | --- | --- |")
    for part in parts:
        line = simulated(*part, cost, workers)
        shown = f"{line['hours']:.1f} | {line['scheduler_gb']:.2f} | {line['folder_gb']:.1f}"
        print(f"| {line['name']} | {shown} | {line['bottleneck']} |")


def main(args=None):
    show(epochs=20, rows=2000, workers=100)


def _measured(what, *values, threads=None):
    """Of a process of its own; the folder that some ask for is temporary. One worker is that process itself, which
    takes no more threads than is said."""
    limits = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS") if threads else ()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.cluster", "--measure", json.dumps([what, *values, folder])]
        return run(["env", *(f"{name}={threads}" for name in limits), *command])


def _measure(what, *values):
    values, folder = values[:-1], values[-1]
    if what == "tasks":
        return print(json.dumps(tasks(*values)))
    print(json.dumps({"chains": chains, "estimates": estimates}[what](*values, folder)))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__, formatter_class=raw)
    parser.add_argument("--epochs", type=int, default=20, help="of a chain, 4 at least (default 20)")
    parser.add_argument("--rows", type=int, default=2000, help="of estimates, for each worker (default 2000)")
    parser.add_argument("--workers", type=int, default=100, help="of part (c) (default 100)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.epochs < 4:
        parser.error(f"--epochs must be 4 at least. Received: {given.epochs}")
    if given.measure:
        from benchmarks import cluster  # whose functions workers find by its name

        cluster._measure(*json.loads(given.measure))
    else:
        show(given.epochs, given.rows, given.workers)
