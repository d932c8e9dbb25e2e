"""Rows × samples a second of the importance-sampling estimate, and peak memory at K = 1,000 and 100,000.

SBN 200-200 on 784 pixels, compiled with XLA, and once not, where random words are made op by op. Each line is a process
of its own, whose peak resident memory includes TensorFlow itself; the time does not include compiling.
"""

import json
import sys

from benchmarks.processes import run

CASES = ((1000, 500, "XLA"), (100_000, 5, "XLA"), (1000, 100, "op by op"))


def main(args):
    print("\nEvaluation, SBN 200-200, 784 pixels\n")
    print("| K | rows | run by | rows × samples a second | peak memory, MiB |\n| --- | --- | --- | --- | --- |")
    for samples, rows, how in CASES:
        result = run([sys.executable, "-m", "benchmarks.evaluation", str(samples), str(rows), how])
        print(f"| {samples:,} | {rows} | {how} | {result['rate']:,.0f} | {result['peak_mib']:.0f} |", flush=True)


def measure(samples, rows, how):
    """Times the estimate in this process."""
    import resource
    import time
    import warnings

    import numpy as np

    import tfdsmcmc as ds

    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(200), ds.layers.SBN(200), ds.layers.SBN(784)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(200), ds.layers.SBN(200)]),
    )
    model.compile(jit_compile=how == "XLA")
    x = np.random.default_rng(0).random((rows, 784)) < 0.2
    model.log_likelihood(x[:rows], samples, batch_size=min(rows, 100))
    begun = time.perf_counter()
    model.log_likelihood(x, samples, seed=1, batch_size=min(rows, 100))
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rate": rows * samples / seconds, "peak_mib": peak}))


if __name__ == "__main__":
    measure(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
