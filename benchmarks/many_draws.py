"""A posterior of many chains of many draws: seconds and memory of loading it, and of each average over it.

Each chain has a folder, as `cluster.fit_chains` leaves it; its weights are random, since only their number counts. A
line of the table is a process of its own. Peak memory is what the process has at its end beyond what it had when the
package was imported and the posterior of one of the chains was averaged in the same way, which compiles the programs.

    python -m benchmarks.many_draws --chains 200 --draws 100
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

from benchmarks.processes import run

NAME, UNITS, ROWS, SAMPLES = "SBN/SBN 100-50", 64, 20, 20
WHAT = ("load", "weights", "draws", "units")


def write(folder, chains, draws):
    """Folders of chains, each with so many samples; returns {"bytes": of all}"""
    import numpy as np

    import tfdsmcmc as ds
    from tfdsmcmc.posterior import store

    model, rng = ds.models.from_name(NAME, UNITS), np.random.default_rng(0)
    parts = [[v.shape for v in part.trainable_variables] for part in (model.generative, model.recognition)]
    size = 0
    for chain in range(chains):
        own = pathlib.Path(folder) / f"chain_{chain:04d}" / "samples"
        own.mkdir(parents=True)
        for step in range(1, draws + 1):
            theta, phi = ([rng.normal(0, 0.1, shape).astype(np.float32) for shape in part] for part in parts)
            store.write_draw(own, [store.Sample(theta, phi, step)])
        size += sum(path.stat().st_size for path in own.iterdir())
    return {"bytes": size}


def measure(what, few, many):
    """{"seconds": of loading, or of an average over what is loaded, "mib": more than with few draws}"""
    import numpy as np

    import tfdsmcmc as ds

    model, x = ds.models.from_name(NAME, UNITS), np.random.default_rng(0).random((ROWS, UNITS)) < 0.3

    def work(folder):
        begun = time.perf_counter()
        posterior = ds.posterior.load(folder)
        if what != "load":
            begun = time.perf_counter()
            posterior.log_likelihood(model, x, SAMPLES, 0, average=what)
        return time.perf_counter() - begun

    work(few)
    before = _peak_mib()
    return {"seconds": work(many), "mib": _peak_mib() - before}


def show(chains, draws):
    with tempfile.TemporaryDirectory() as folder:
        few, many = (os.path.join(folder, name) for name in ("few", "many"))
        sizes = [_measured("write", path, count, draws)["bytes"] for path, count in ((few, 1), (many, chains))]
        print(f"\n{chains} chains of {draws} draws, {NAME}, {UNITS} columns: {sizes[1] / 2**20:,.0f} MiB of samples")
        print(f"\n{ROWS} rows, K = {SAMPLES}\n\n| what | seconds | peak memory, MiB more |\n| --- | --- | --- |")
        for what in WHAT:
            found = _measured(what, few, many)
            print(f"| {what} | {found['seconds']:.1f} | {found['mib']:.0f} |", flush=True)


def main(args=None):
    show(chains=20, draws=20)


def _peak_mib():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _measured(*values):
    return run([sys.executable, "-m", "benchmarks.many_draws", "--measure", json.dumps(values)])


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_draws", description=__doc__, formatter_class=raw)
    parser.add_argument("--chains", type=int, default=200, help="default 200")
    parser.add_argument("--draws", type=int, default=100, help="of each chain (default 100)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        what, *values = json.loads(given.measure)
        print(json.dumps(write(*values) if what == "write" else measure(what, *values)))
    else:
        show(given.chains, given.draws)
