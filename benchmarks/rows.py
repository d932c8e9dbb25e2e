"""Rows beyond memory: `fit` from a file of 8,100,000 rows of 784 binary units beside `fit` from an array of 50,000.

Both learn the same model, SBN 200, from minibatches of 100 for the same number of steps, in turn, each in a process of
its own. The time of a step is that of a block of steps, over the steps in it; the first blocks, which compile, are not
counted. Process time is that of all threads, which other programs on the machine change less. Memory is the most that
was held at any time beside the pages that are mapped from files, and with them.

The rows are noisy patterns, bits of which some 6 in a hundred are turned; they are written a block at a time, and
deleted at the end. An order of all rows is drawn at the beginning of each epoch: its time is shown beside, and is
spread over 81,000 steps.
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time

from benchmarks.processes import run

ROWS, UNITS, IN_MEMORY = 8_100_000, 784, 50_000
TIMES = ("ms", "fast_ms", "process_ms", "order_ms")
STEPS, BLOCK, WARM_UP = 1500, 25, 12  # steps; steps in a block; blocks that are not counted


def main(args):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.npy"
        program = [sys.executable, "-m", "benchmarks.rows"]
        made = run([*program, "make", path])
        print(
            f"\nRows beyond memory: {ROWS:,} rows of {UNITS} units, {made['size_mb']:.0f} MB, "
            f"packed in {made['seconds']:.0f} s with {made['memory_mib']:.0f} MiB at most\n"
        )
        runs = {"array": [], "file": []}
        for _ in range(args.rounds):
            for kind, found in runs.items():
                found.append(run([*program, kind, path]))
    print("| rows | ms a step: median / fastest tenth | process time | MiB beside mapped files / with them | order |")
    print("| --- | --- | --- | --- | --- |")
    for kind, name in (("array", f"{IN_MEMORY:,} in an array"), ("file", f"{ROWS:,} in a file")):
        found = runs[kind]
        ms, fast, process, order = (_median(found, key) for key in TIMES)
        held, high = (max(one[key] for one in found) for key in ("memory_mib", "memory_with_files_mib"))
        print(f"| {name} | {ms:.2f} / {fast:.2f} | {process:.2f} | {held:.0f} / {high:.0f} | {order:.0f} ms |")
    ratios = [f"{_median(runs['file'], key) / _median(runs['array'], key):.3f}" for key in TIMES[:3]]
    more = max(one["memory_mib"] for one in runs["file"]) - max(one["memory_mib"] for one in runs["array"])
    print(f"\nFile beside array: {ratios[0]}, fastest tenth {ratios[1]}, process time {ratios[2]}, {more:+.0f} MiB")


def _median(runs, key):
    return statistics.median(one[key] for one in runs)


class Memory:
    """Samples, in a thread, the memory that this process holds beside the pages mapped from files."""

    def __init__(self):
        self.peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _watch(self):
        while not self._done.wait(0.01):
            status = _status()
            self.peak = max(self.peak, status["RssAnon"] + status["RssShmem"])


def _status():
    """The fields of /proc/self/status that are sizes, in MiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = [line.split() for line in file]
    return {field[0].rstrip(":"): int(field[1]) / 1024 for field in fields if field[2:] == ["kB"]}


def make(path):
    """Writes the rows, and prints what that took."""
    import numpy as np

    import tfdsmcmc as ds

    generator = np.random.default_rng(0)
    patterns = generator.integers(0, 256, (3000, UNITS // 8), np.uint8)

    def blocks(size=50_000):
        for first in range(0, ROWS, size):
            count = min(size, ROWS - first)
            noise = np.frombuffer(generator.bytes(4 * count * UNITS // 8), np.uint8).reshape(4, count, UNITS // 8)
            bits = patterns[generator.integers(0, len(patterns), count)] ^ np.bitwise_and.reduce(noise)
            yield np.unpackbits(bits, axis=1)

    with Memory() as memory:
        start = time.perf_counter()
        ds.datasets.pack(path, blocks())
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "size_mb": os.path.getsize(path) / 1e6, "memory_mib": memory.peak}))


def time_fit(kind, path):
    """Times `fit` in this process, from a file or from some of its rows in memory."""
    import keras
    import numpy as np

    import tfdsmcmc as ds
    from tfdsmcmc import random

    class Clock(keras.callbacks.Callback):
        """Stops after a number of steps; keeps (time, process time) at the end of each block."""

        ends = []

        def on_train_batch_end(self, batch, logs=None):
            self.ends.append((time.perf_counter(), time.process_time()))
            self.model.stop_training = int(self.model.run.steps) >= STEPS

    with Memory() as memory:
        rows = ds.datasets.open(path)
        if kind == "array":
            rows = np.asarray(rows[:IN_MEMORY])
        model = ds.models.from_name("SBN/SBN 200", units=UNITS)
        model.compile(
            kernel=ds.mcmc.SGNHT(learning_rate=0.01),
            proposal=ds.proposals.Wake(keras.optimizers.Adam(5e-4)),
            steps_per_execution=BLOCK,
        )
        model.fit(rows, batch_size=100, epochs=STEPS, verbose=0, callbacks=[Clock()])
    high_water = _status()["VmHWM"]
    times = np.diff(Clock.ends, axis=0)[WARM_UP:] / BLOCK * 1e3
    wall, process = np.median(times, axis=0)
    start = time.perf_counter()
    random.host_permutation(len(rows), 1)
    order = (time.perf_counter() - start) * 1e3
    fast = np.quantile(times[:, 0], 0.1)  # when other programs on the machine rest
    result = {"ms": wall, "fast_ms": fast, "process_ms": process, "order_ms": order}
    print(json.dumps({**result, "memory_mib": memory.peak, "memory_with_files_mib": high_water}))


if __name__ == "__main__":
    make(sys.argv[2]) if sys.argv[1] == "make" else time_fit(*sys.argv[1:])
