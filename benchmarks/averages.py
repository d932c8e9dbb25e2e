"""The averages over M = 20 draws of one chain beside each other: time and peak memory at the same K and rows.

784 pixels, random weights, compiled with XLA; a process for each line, whose peak resident memory includes TensorFlow
itself. The time is of a second call, without compiling, in the processor's seconds; the last column has seconds of a
Gibbs sweep over the latent units of 100 rows, by which annealing goes.
"""

import json
import sys

from benchmarks.processes import run

DRAWS = 20
CASES = {
    "SBN 200": ("SBN/SBN 200", 100, 200),
    "SBN 200-200": ("SBN/SBN 200-200", 100, 100),
    "DARN 200": ("DARN/DARN 200", 100, 100),
    "NADE/NADE 150": ("NADE/NADE 150", 20, 20),
    "VAE 50": ("VAE 50", 100, 100),
}


def main(args):
    print(f"\nAverages over {DRAWS} draws, 784 pixels\n")
    print("| model | average | rows | K | seconds | peak memory, MiB | a sweep of 100 rows, s |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for title, (name, rows, samples) in CASES.items():
        for average in ("weights", "draws", "units"):
            command = [sys.executable, "-m", "benchmarks.averages", name, average, str(rows), str(samples)]
            found = run(command)
            sweep = "" if found["sweep"] is None else f"{found['sweep']:.3f}"
            cells = title, average, rows, samples, f"{found['seconds']:.2f}", f"{found['peak_mib']:.0f}", sweep
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


def measure(name, average, rows, samples):
    """Times the estimate, and a sweep, in this process."""
    import resource
    import time
    import warnings

    import numpy as np

    import tfdsmcmc as ds
    from tfdsmcmc.posterior.store import Sample

    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)
    model, rng = ds.models.from_name(name, 784), np.random.default_rng(0)

    def draw(network):
        return [rng.normal(0, 0.05, v.shape).astype(np.float32) for v in network.trainable_variables]

    drawn = [Sample(draw(model.generative), draw(model.recognition), m) for m in range(DRAWS)]
    posterior, x = ds.posterior.Posterior(None, drawn), rng.random((rows, 784)) < 0.2
    seconds = []
    for seed in range(2):
        begun = time.process_time()
        posterior.log_likelihood(model, x, samples, seed, average=average)
        seconds.append(time.process_time() - begun)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    swept = "SBN" in name or "DARN" in name
    print(json.dumps({"seconds": seconds[1], "peak_mib": peak, "sweep": _sweep(posterior, model, average, swept)}))


def _sweep(posterior, model, average, swept):
    """Seconds of a sweep of 100 rows, from runs of 3 and of 13 steps; of all components together."""
    import time

    import numpy as np

    if not swept:
        return None
    x = np.random.default_rng(1).random((100, 784)) < 0.2
    found = []
    for steps in (3, 13):
        how = {"num_steps": steps, "num_runs": 1, "schedule": "linear", "average": average}
        posterior.annealed_log_likelihood(model, x, 0, **how)
        begun = time.process_time()
        posterior.annealed_log_likelihood(model, x, 1, **how)
        found.append(time.process_time() - begun)
    return (found[1] - found[0]) / 10


if __name__ == "__main__":
    measure(*sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]))
