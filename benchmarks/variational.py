"""Time of an update of all factors by variational Bayes, SBN 200, 10,000 rows of 784 pixels, beside its matrix product.

The product is that of the statistics alone: Σ_n γ_jn r_n r_nᵀ of 784 units with 201 regressors, N J P² multiplications.
An update with full covariances has three of half their size, for symmetric matrices, and the inverses of 784 matrices.
"""

import json
import statistics
import sys

from benchmarks.processes import run

ROWS, UNITS, HIDDEN, BLOCK = 10_000, 784, 200, 500
METHODS = ("full", "diagonal", "online diagonal")


def main(args):
    print(f"\nVariational Bayes, SBN 200, {ROWS} rows of 784 pixels: seconds (minimum / median over rounds)\n")
    print("| | seconds |\n| --- | --- |")
    for name in ("matrix product", *METHODS):
        found = [run([sys.executable, "-m", "benchmarks.variational", name])["s"] for _ in range(args.rounds)]
        print(f"| {name} | {min(found):.1f} / {statistics.median(found):.1f} |", flush=True)


def time_product():
    """Seconds of the product over all rows, in this process."""
    import time

    import tensorflow as tf

    width = HIDDEN + 1
    gamma, products = tf.random.uniform([BLOCK, UNITS]), tf.random.uniform([BLOCK, width**2])

    @tf.function(jit_compile=True)
    def product(gamma, products):
        return tf.matmul(gamma, products, transpose_a=True)

    product(gamma, products)
    begun = time.perf_counter()
    for _ in range(4):
        product(gamma, products)[0, 0].numpy()
    return (time.perf_counter() - begun) * ROWS / (4 * BLOCK)


def time_epoch(name):
    """Seconds of the second epoch, in this process."""
    import time

    import numpy as np

    import tfdsmcmc as ds

    x = (np.random.default_rng(0).random((ROWS, UNITS)) < 0.2).astype(np.uint8)
    prior = {"bias": ds.priors.Horseshoe(2.5), "": ds.priors.ColumnThreeParameterBetaNormal()}
    model = ds.models.from_name(f"SBN/SBN {HIDDEN}", UNITS, prior=prior)
    online = name.startswith("online")
    covariance = name.split()[-1]
    model.compile(**(ds.methods.online_vb(0.1, covariance, rounds=1) if online else ds.methods.vb(covariance)))
    model.fit(x, batch_size=BLOCK, epochs=1, verbose=0)  # compiles
    begun = time.perf_counter()
    model.fit(x, batch_size=BLOCK, epochs=1, verbose=0)
    return time.perf_counter() - begun


if __name__ == "__main__":
    what = sys.argv[1]
    print(json.dumps({"s": time_product() if what == "matrix product" else time_epoch(what)}))
