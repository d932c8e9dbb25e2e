"""Seconds an iteration, SBN 200: Gibbs sampling by augmentation beside doubly stochastic gradients with Gibbs sampling.

An iteration of the first is a sweep over the weights and all rows, of the second a minibatch of 100 rows with ten
updates of the weights, as published (`methods.dsghmc_gibbs(as_published=True)`): what it takes does not grow with the
data. How long it takes to go through all rows stands beside it. Rows are random bits of the data sets' sizes. Seconds
of the processor are of all threads together; the median over the epochs after the first, which compiles.

Published are seconds by MATLAB on 8 cores: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic
MCMC", 2015, table 4.
"""

import json
import sys

from benchmarks.processes import run

BATCH, STEPS, HIDDEN = 100, 2, 200
SETS = {  # rows, units, published seconds of both
    "binarized MNIST": (50_000, 784, 405.6, 25.4),
    "Caltech 101 silhouettes": (4_100, 784, 36.1, 25.4),
    "OCR letters": (32_152, 128, 45.8, 5.44),
}
METHODS = ("augmentation", "doubly stochastic")


def main(args):
    print("\nSeconds an iteration, SBN 200: processor / elapsed, the minimum over rounds\n")
    print("| rows | a sweep by augmentation | a doubly stochastic minibatch | … all rows once | published: both |")
    print("|" + " --- |" * 5)
    for name, (rows, units, *published) in SETS.items():
        found = {method: [] for method in METHODS}
        for _ in range(args.rounds):
            for method in METHODS:
                command = [sys.executable, "-m", "benchmarks.iterations", method, str(rows), str(units)]
                found[method].append(run(command))
        sweep, minibatch = ([min(r[clock] for r in found[m]) for clock in ("processor", "elapsed")] for m in METHODS)
        whole = [seconds * rows / BATCH for seconds in minibatch]
        cells = [_show(part) for part in (sweep, minibatch, whole)]
        print(f"| {name}, {rows:,} × {units} | {' | '.join(cells)} | {published[0]}, {published[1]} |", flush=True)


def _show(pair):
    return " / ".join(f"{seconds:.3g}" for seconds in pair)


def measure(method, rows, units):
    """Seconds an iteration in this process, {"processor": …, "elapsed": …}."""
    import time

    import keras
    import numpy as np
    import tensorflow_probability as tfp

    import tfdsmcmc as ds

    ends, own = [], method == "doubly stochastic"
    rows = BATCH * STEPS if own else rows
    x = (np.random.default_rng(0).random((rows, units), np.float32) < 0.2).astype(np.uint8)
    prior = tfp.distributions.StudentT(df=2.2, loc=0.0, scale=0.09)
    model = ds.models.from_name(f"SBN/SBN {HIDDEN}", units, prior=prior)
    chosen = ds.methods.dsghmc_gibbs(as_published=True) if own else ds.methods.polya_gamma_gibbs()
    model.compile(**chosen, steps_per_execution=STEPS if own else 10)

    class Clock(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            ends.append((time.process_time(), time.perf_counter()))

    epochs = 4 if own else 3
    model.fit(x, batch_size=BATCH if own else 500, epochs=epochs, verbose=0, callbacks=[Clock()])
    gaps = np.median(np.diff(ends, axis=0), axis=0) / (STEPS if own else 1)
    return dict(zip(("processor", "elapsed"), gaps.tolist()))


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
