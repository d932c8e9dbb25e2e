"""Time of one Gibbs sweep over all latent layers, 784 pixels, 100 rows: the median of 20 calls of a compiled sweep.

The processor's time is that of all threads; with TF_NUM_INTRAOP_THREADS=1 it hardly depends on what runs beside it.
"""

import json
import statistics
import sys

from benchmarks.processes import run

NAMES = ("SBN/SBN 200", "SBN/SBN 200-200-200", "DARN/DARN 200")


def main(args):
    print("\nOne Gibbs sweep, 784 pixels, 100 rows: milliseconds (minimum / median over rounds of the medians)\n")
    print("| model | elapsed | of the processor |\n| --- | --- | --- |")
    for name in NAMES:
        runs = []
        for _ in range(args.rounds):
            runs.append(run([sys.executable, "-m", "benchmarks.gibbs", name])["ms"])
        cells = [f"{min(times):.1f} / {statistics.median(times):.1f}" for times in zip(*runs)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def time_sweep(name):
    """Times sweeps in this process."""
    import time

    import numpy as np
    import tensorflow as tf

    import tfdsmcmc as ds

    model = ds.models.from_name(name, units=784)
    x = tf.constant(np.random.default_rng(0).random((100, 784)) < 0.2, tf.float32)
    z = [part[0] for part in model.recognition.sample(x, 1, seed=0)]
    gibbs = ds.latents.Gibbs()
    sweep = tf.function(lambda z, seed: gibbs.sweep(model.generative, x, z, seed), jit_compile=True, autograph=False)
    times = []
    for i, seed in enumerate(tf.unstack(ds.random.split(0, 21))):
        begun = time.perf_counter(), time.process_time()
        z = sweep(z, seed)
        z[0].numpy()
        if i:  # the first call compiles
            times.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    print(json.dumps({"ms": [statistics.median(part) * 1e3 for part in zip(*times)]}))


if __name__ == "__main__":
    time_sweep(sys.argv[1])
