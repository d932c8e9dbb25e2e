"""SavedModels of SBN 200-200 on 784 pixels: of one sample of the weights and of 50, averaged in the two ways that keep
them all, as draws and unit by unit: size, cold load, latencies. With --small of SBN 10-10 on 64 and of 3 samples.

The weights are random, so that nothing need be learnt. Each line of the tables is a process of its own that has
TensorFlow alone, as a server does: it loads the SavedModel and calls each signature, the first time (TensorFlow then
plans its graph) and again; the median of the later calls is shown. Nothing is compiled by XLA.
"""

import json
import pathlib
import sys
import tempfile

from benchmarks.processes import run

CALLS = {
    "log_likelihood, 1 row, K = 1,000": ("log_likelihood", 1, {"num_samples": 1000}),
    "log_likelihood, 100 rows, K = 100": ("log_likelihood", 100, {"num_samples": 100}),
    "log_likelihood_rows, 8 rows, K = 100": ("log_likelihood_rows", 8, {"num_samples": [100] * 8}),
    "sample, 100 draws": ("sample", 0, {"num_samples": 100}),
    "reconstruct, 1 row, K = 100": ("reconstruct", 1, {"num_samples": 100}),
    "encode, 1 row, K = 100": ("encode", 1, {"num_samples": 100}),
    "impute, 1 row, half of it, 12 draws": ("impute", 1, {"num_imputations": 12}),
}


def main(args):
    layers, units, count = ("10-10", 64, 3) if args.small else ("200-200", 784, 50)
    models = {"M = 1": (1, "draws")} | {f"M = {count}, {average}": (count, average) for average in ("draws", "units")}
    print(f"\nSavedModels, SBN {layers}, {units} pixels\n")
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, (samples, average) in models.items():
            what = [folder, str(samples), average, layers, str(units)]
            path = run([sys.executable, "-m", "benchmarks.serving", "export", *what])["path"]
            found[name] = run([sys.executable, "-m", "benchmarks.serving", "call", path])
    print("| | " + " | ".join(models) + " |\n| --- |" + " --- |" * len(models))
    rows = {"size, MB": "megabytes", "cold load, s": "load"}
    for title, key in rows.items():
        print(f"| {title} | " + " | ".join(f"{found[name][key]:.1f}" for name in models) + " |")
    for title in CALLS:
        cells = [f"{later:.1f} (first {first:.0f})" for first, later in (found[m]["calls"][title] for m in models)]
        print(f"| {title}, ms | " + " | ".join(cells) + " |", flush=True)


def export(folder, samples, average, layers, units):
    """Exports an average over random weights."""
    import numpy as np

    import tfdsmcmc as ds
    from tfdsmcmc.posterior.store import Sample

    model = ds.models.from_name(f"SBN/SBN {layers}", int(units))
    rng = np.random.default_rng(0)

    def draw(network):
        return [rng.normal(0, 0.05, v.shape).astype(np.float32) for v in network.trainable_variables]

    drawn = [Sample(draw(model.generative), draw(model.recognition), m) for m in range(int(samples))]
    posterior = ds.posterior.Posterior(None, drawn)
    only = sorted({name for name, _, _ in CALLS.values()})
    target = pathlib.Path(folder) / f"{average}{samples}"
    path = ds.serving.export(model, target, posterior=posterior, average=average, only=only, verbose=False)
    print(json.dumps({"path": path}))


def call(path):
    """Loads and calls, with TensorFlow alone."""
    import time

    import numpy as np
    import tensorflow as tf

    size = sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file()) / 1e6
    begun = time.perf_counter()
    signatures = tf.saved_model.load(path).signatures
    found = {"megabytes": size, "load": time.perf_counter() - begun, "calls": {}}
    units = signatures["sample"].structured_outputs["x"].shape[-1]
    for title, (name, rows, counts) in CALLS.items():
        inputs = {key: tf.constant(value) for key, value in counts.items()}
        if rows:
            inputs["x"] = tf.constant(np.random.default_rng(0).random((rows, units)) < 0.2, tf.float32)
        if name == "impute":
            inputs["mask"] = tf.constant(np.tile(np.arange(units) < units // 2, [rows, 1]))
        seeds = np.arange(12 * max(rows, 1) * 2, dtype=np.int32).reshape(12, -1, 2)
        seconds, repeats = [], 3 if name == "impute" else 11
        for i in range(repeats + 1):
            seed = tf.constant(seeds[i] if name.endswith("_rows") else seeds[i, 0])
            begun = time.perf_counter()
            next(iter(signatures[name](seed=seed, **inputs).values())).numpy()
            seconds.append(1e3 * (time.perf_counter() - begun))
        found["calls"][title] = seconds[0], float(np.median(seconds[1:]))
    print(json.dumps(found))


if __name__ == "__main__":
    {"export": export, "call": call}[sys.argv[1]](*sys.argv[2:])
