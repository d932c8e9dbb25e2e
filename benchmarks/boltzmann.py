"""Boltzmann machines of 784 × 500 units: a step of annealing and a step of contrastive divergence, in milliseconds.

Annealing is 100 runs of `log_partition`, beside its two matrix products alone, by NumPy. Contrastive divergence is CD-1
with momentum on a batch of 100 rows, a fit's compiled steps, beside the same step written out in NumPy and, where it is
installed, scikit-learn's BernoulliRBM, whose chains are persistent: the same products. Each line takes turns with the
others, in a process of its own.
"""

import json
import statistics
import sys
import time

from benchmarks.processes import run

UNITS, HIDDEN, ROWS = 784, 500, 100
PARTS = {
    "annealing": "annealing, 100 runs",
    "products": "its two matrix products alone, NumPy",
    "ours": "CD-1",
    "numpy": "CD-1 by hand, NumPy",
    "sklearn": "persistent CD-1, scikit-learn",
}


def main(args):
    found = {name: [] for name in PARTS}
    for _ in range(args.rounds):
        for name, times in found.items():
            result = run([sys.executable, "-m", "benchmarks.boltzmann", name])
            times.extend([result["ms"]] if result["ms"] is not None else [])
    print("\nBoltzmann machines, 784 × 500: milliseconds a step (minimum / median over rounds)\n")
    print("| what | ms |\n| --- | --- |")
    for name, times in found.items():
        cell = f"{min(times):.2f} / {statistics.median(times):.2f}" if times else "not installed"
        print(f"| {PARTS[name]} | {cell} |", flush=True)


def annealing():
    """ms a step, by the difference of two lengths: neither compiling nor the start counts."""
    import tfdsmcmc as ds

    rbm = ds.boltzmann.RBM(UNITS, HIDDEN)
    schedules = {steps: [i / steps for i in range(steps + 1)] for steps in (520, 1020)}

    def seconds(steps, seed):
        begun = time.perf_counter()
        ds.boltzmann.log_partition(rbm, ROWS, schedule=schedules[steps], seed=seed)
        return time.perf_counter() - begun

    # both lengths are padded to one, and share a program
    for steps in schedules:
        seconds(steps, 0)
    return min(seconds(1020, i) - seconds(520, i) for i in range(1, 4)) / 500 * 1e3


def products():
    import numpy as np

    rng = np.random.default_rng(0)
    w = rng.normal(0, 0.01, (UNITS, HIDDEN)).astype(np.float32)
    v, h = (rng.integers(0, 2, (ROWS, n)).astype(np.float32) for n in w.shape)

    def step():
        np.matmul(v, w)
        np.matmul(h, w.T)

    return timed(step)


def ours():
    """An epoch of a fit of 60,000 rows, 100 compiled steps in a call."""
    import keras
    import numpy as np

    import tfdsmcmc as ds

    rbm = ds.boltzmann.RBM(UNITS, HIDDEN)
    kernel = ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
    rbm.compile(kernel, ds.boltzmann.ContrastiveDivergence(1), steps_per_execution=100)
    x = (np.random.default_rng(0).random((60_000, UNITS), np.float32) < 0.2).astype(np.uint8)
    rbm.fit(x, batch_size=ROWS, epochs=1, verbose=0)
    begun = time.perf_counter()
    rbm.fit(x, batch_size=ROWS, epochs=2, initial_epoch=1, verbose=0)
    return (time.perf_counter() - begun) / 600 * 1e3


def numpy():
    """What a careful hand writes: every draw and product in float32."""
    import numpy as np

    rng = np.random.default_rng(0)
    w, b, a = (np.zeros(shape, np.float32) for shape in ((UNITS, HIDDEN), UNITS, HIDDEN))
    w += rng.normal(0, 0.01, w.shape).astype(np.float32)
    x = (rng.random((ROWS, UNITS)) < 0.2).astype(np.float32)
    moved = [np.zeros_like(part) for part in (w, b, a)]

    def sigmoid(logits):
        return 1 / (1 + np.exp(-logits))

    def step():
        p = sigmoid(x @ w + a)
        h = (rng.random(p.shape, np.float32) < p).astype(np.float32)
        v = (rng.random(x.shape, np.float32) < sigmoid(h @ w.T + b)).astype(np.float32)
        q = sigmoid(v @ w + a)
        gradients = (x.T @ p - v.T @ q) / ROWS, (x - v).mean(0), (p - q).mean(0)
        for part, moment, gradient in zip((w, b, a), moved, gradients):
            moment *= 0.9
            moment += 0.05 * gradient
            part += moment

    return timed(step)


def sklearn():
    try:
        from sklearn.neural_network import BernoulliRBM
    except ImportError:
        return None
    import numpy as np

    x = (np.random.default_rng(0).random((ROWS, UNITS)) < 0.2).astype(np.float32)
    machine = BernoulliRBM(HIDDEN, learning_rate=0.05, batch_size=ROWS, random_state=0)
    return timed(lambda: machine.partial_fit(x))


def timed(step):
    """The median ms of 200 calls, after ten."""
    times = []
    for _ in range(210):
        begun = time.perf_counter()
        step()
        times.append(time.perf_counter() - begun)
    return statistics.median(times[10:]) * 1e3


if __name__ == "__main__":
    print(json.dumps({"ms": globals()[sys.argv[1]]()}))
