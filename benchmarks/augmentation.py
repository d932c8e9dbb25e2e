"""Gibbs sampling by Pólya-Gamma augmentation: draws a second, and seconds a sweep of SBN 200 on 10,000 × 784 with its
parts, of the processor (all threads together) and elapsed.

Draws are of PG(1, c) for normal c of standard deviation 2, beside those of the package `polyagamma` where it is
installed. The parts are compiled programs on blocks of 500 rows, times 20; the products alone are Σ_n γ_nj r_n r_nᵀ for
all j by NumPy, one product of 784 × 500 by 500 × 201², and the last line is how many times as long a sweep takes. Each
line takes turns with the others, in a process of its own.
"""

import json
import statistics
import sys
import time

from benchmarks.processes import run

ROWS, BLOCK, UNITS, HIDDEN = 10_000, 500, 784, 200
DRAWS = {"ours": "PG draws, million a processor second", "polyagamma": "the same, package polyagamma"}
PARTS = {
    "sweep": "a sweep, by `fit`",
    "units": "units of the latent layer",
    "gammas": "Pólya-Gamma draws",
    "sums": "sums of products",
    "weights": "weights, once a sweep",
    "products": "the products alone, NumPy",
}


def main(args):
    found = {name: [] for name in (*DRAWS, *PARTS)}
    for _ in range(args.rounds):
        for name, values in found.items():
            value = run([sys.executable, "-m", "benchmarks.augmentation", name])["value"]
            values.extend([value] if value is not None else [])
    print("\nPólya-Gamma augmentation, SBN 200 on 10,000 × 784 (best / median over rounds)\n")
    print("| what | processor | elapsed |\n| --- | --- | --- |")
    for name, what in DRAWS.items():
        print(f"| {what} | {_show(found[name], max) if found[name] else 'not installed'} | |")
    for name, what in PARTS.items():
        print(f"| {what} | {' | '.join(f'{_show(values, min)} s' for values in zip(*found[name]))} |")
    ratios = [[a / b for a, b in zip(*pair)] for pair in zip(found["sweep"], found["products"])]
    print(f"| a sweep over the products | {' | '.join(_show(values, min) for values in zip(*ratios))} |", flush=True)


def _show(values, best):
    return f"{best(values):.2f} / {statistics.median(values):.2f}"


def measure(name):
    if name in DRAWS:
        return draws(name)
    return {"sweep": sweep, "products": products}[name]() if name in ("sweep", "products") else part(name)


def clocks():
    """Seconds of the processor so far, and elapsed."""
    return time.process_time(), time.perf_counter()


def least(function, calls=5):
    """The least seconds of some calls, of the processor and elapsed, after one that compiles."""
    function()
    times = []
    for _ in range(calls):
        begun = clocks()
        function()
        times.append([now - before for now, before in zip(clocks(), begun)])
    return [min(each) for each in zip(*times)]


def draws(name):
    import numpy as np

    tilt = np.random.default_rng(0).normal(0, 2, (1000, UNITS)).astype(np.float32)
    if name == "polyagamma":
        try:
            from polyagamma import random_polyagamma
        except ImportError:
            return None
        return tilt.size / least(lambda: random_polyagamma(1, tilt.astype(np.float64), random_state=0))[0] / 1e6
    import tensorflow as tf

    import tfdsmcmc as ds

    tilt = tf.constant(tilt)
    draw = tf.function(lambda seed: ds.distributions.PolyaGamma(1.0, tilt).sample(seed=seed), jit_compile=True)
    return tilt.shape.num_elements() / least(lambda: draw(ds.random.as_seed(1)).numpy())[0] / 1e6


def products():
    import numpy as np

    rng = np.random.default_rng(0)
    gamma, both = rng.random((BLOCK, UNITS), np.float32), rng.random((BLOCK, (HIDDEN + 1) ** 2), np.float32)
    return [ROWS / BLOCK * seconds for seconds in least(lambda: gamma.T @ both)]


def model_and_rows(rows):
    import numpy as np

    import tfdsmcmc as ds

    x = (np.random.default_rng(0).random((rows, UNITS)) < 0.2).astype(np.float32)
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(HIDDEN), ds.layers.SBN(UNITS)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(HIDDEN)]),
        prior={"bias": ds.priors.Horseshoe(1.0), "": ds.priors.ColumnThreeParameterBetaNormal()},
    )
    model.compile(**ds.methods.polya_gamma_gibbs(), steps_per_execution=20)
    return model, x


def sweep():
    """Seconds of an epoch, of the processor and elapsed: the medians of five, after two."""
    import keras

    times = []

    class Clock(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            times.append(clocks())

    model, x = model_and_rows(ROWS)
    model.fit(x, batch_size=BLOCK, epochs=7, verbose=0, callbacks=[Clock()])
    ends = list(zip(*times))
    return [statistics.median(b - a for a, b in zip(each[1:], each[2:])) for each in ends]


def part(name):
    import numpy as np
    import tensorflow as tf

    import tfdsmcmc as ds
    from tfdsmcmc.augmentation.gibbs.regressions import gammas
    from tfdsmcmc.rows import Rows
    from tfdsmcmc.sweeps.gibbs import generative_factors, sweep

    model, x = model_and_rows(BLOCK)
    z = tf.constant(np.random.default_rng(1).random((BLOCK, HIDDEN)) < 0.5, tf.float32)
    top, data = model.run.step.regressions
    seed, x = ds.random.as_seed(1), tf.constant(x)
    factors = generative_factors(model.generative)
    logits = [top.logits(z, tf.zeros([BLOCK, 0])), data.logits(x, z)]
    gamma = gammas(logits, seed)[1]
    sums = data.added(data.no_sums(), x, z, tf.ones([BLOCK, 1]), gamma)
    programs = {
        "units": lambda seed: sweep(factors, [Rows(x), z], 1, seed),
        "gammas": lambda seed: gammas(logits, seed)[1],
        "sums": lambda seed: data.added(sums, x, z, tf.ones([BLOCK, 1]), gamma).precision,
        "weights": lambda seed: data.draw(sums, [(0.0, 1.0), (0.0, 1.0)], seed)[0],
    }
    program = tf.function(programs[name], jit_compile=True, autograph=False)
    count = 1 if name == "weights" else ROWS / BLOCK
    return [count * seconds for seconds in least(lambda: program(seed).numpy())]


if __name__ == "__main__":
    print(json.dumps({"value": measure(sys.argv[1])}))
