"""The demo: a two-layer sigmoid belief network learnt on handwritten digits by DSGNHT-NAIS, with defaults alone.

    make demo

Three parts: learning with posterior samples; the test log-likelihood of each average over them, and from both sides on
digits that the model has drawn; and what it leaves behind: runs/digits/*.png, among them test digits whose lower half
the model has completed, the posterior samples in runs/digits/posterior, the model at the mean of a chain in
runs/digits/model.keras, and a SavedModel in saved_models/digits/1.
A second start goes on from a run that was interrupted, and begins anew after one that was finished.
"""

import argparse
import os
import pathlib
import shutil
import sys
import time
import warnings

from quiet import quiet_start

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
with quiet_start():
    import keras
    import numpy as np
    import tensorflow as tf

    import tfdsmcmc as ds

    tf.config.list_logical_devices()  # starts them

OUTPUT = pathlib.Path("runs/digits")
SERVED = pathlib.Path("saved_models/digits")


def build():
    return ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(50), ds.layers.SBN(100), ds.layers.SBN(64)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(100), ds.layers.SBN(50)]),
        seed=0,
    )


def learn(model, data, epochs, samples):
    model.compile(**ds.methods.dsgnht_nais(), steps_per_execution=12)
    return model.fit(
        data.train,
        batch_size=100,
        epochs=epochs,
        validation_data=data.valid,
        callbacks=[
            ds.posterior.Collector(OUTPUT / "posterior", samples, **ds.posterior.last_part(epochs, samples, 0.25)),
            keras.callbacks.BackupAndRestore(OUTPUT / "backup"),
            ds.diagnostics.Progress(),
        ],
        verbose=0,
    )


def report(model, data):
    """Prints the test log-likelihood of the last weights, of the mean of the weights, and of the predictive average.

    Leaves the model at the mean of the weights and returns what it is worth.
    """
    print("\nTest log-likelihood, nats a digit (± Monte Carlo error, ± error over the test digits):")

    def line(name, estimate):
        mean = estimate.mean()
        errors = f"± {mean.standard_error:.2f} ± {mean.row_standard_error:.2f}"
        print(f"  {name:<31}{mean:8.2f} {errors}   effective samples {mean.effective_sample_size:.0f}", flush=True)
        return float(mean)

    posterior = ds.posterior.load(OUTPUT / "posterior")
    independent = np.clip(data.train.mean(0), 1e-3, 1 - 1e-3)
    rows = (data.test * np.log(independent) + (1 - data.test) * np.log1p(-independent)).sum(1)
    print(f"  {'independent pixels':<31}{rows.mean():8.2f}        ± {rows.std(ddof=1) / len(rows) ** 0.5:.2f}")
    line("last weights", model.log_likelihood(data.test, num_samples=2000))
    for average in ("weights", "units", "draws"):
        chosen = " (chosen)" * (average == posterior.average)
        draws = 2000 if average == "weights" else 200
        line(f"average over {average}{chosen}", posterior.log_likelihood(model, data.test, draws, average=average))
    posterior.chain(0).apply_mean(model, data.train, refit_epochs=20)  # hidden units play other roles in other chains
    worth = line("mean of the weights of a chain", model.log_likelihood(data.test, num_samples=2000))
    bounds = ds.likelihood.sandwich(model, num_rows=100, num_steps=200, num_runs=8, path="recognition")
    print("100 digits that the model has drawn, by annealed importance sampling:")
    line("from below", bounds.lower)
    line("from above", bounds.upper)
    print(f"  {'gap':<31}{bounds.gap:8.2f} ± {bounds.gap.row_standard_error:.2f}")
    return worth


def draw(model, data, history):
    """Writes the pictures."""
    shown = {
        "samples": ds.plots.samples(model.sample(100, probabilities=True), data.shape, title="samples (probabilities)"),
        "data": ds.plots.samples(data.test[:100], data.shape, title="test data"),
        "features": ds.plots.features(
            model.generative.layers[-1].kernel.numpy(), data.shape, title="features of the first hidden layer"
        ),
        "learning_curve": ds.plots.learning_curves(history, title="digits, SBN 100-50"),
    }
    shown["completions"] = completions(model, data)
    return [ds.plots.save(figure, OUTPUT / f"{name}.png") for name, figure in shown.items()]


def completions(model, data):
    """A figure of test digits without their lower half, and what may stand there."""
    truth, mask = data.test[::30], np.arange(data.test.shape[1]) < data.test.shape[1] // 2
    drawn = model.impute(np.where(mask, truth, np.nan), num_imputations=6)
    columns = [truth, np.where(mask, truth, 0.25), *drawn]
    grid = np.stack(columns, 1).reshape(-1, truth.shape[1])
    return ds.plots.samples(grid, data.shape, columns=len(columns), title="test digits, what is seen, six completions")


def export(model, data, test_log_likelihood):
    """Writes a SavedModel and runs it as a server would, without this package."""
    path = ds.serving.export(
        model,
        SERVED,
        version=1,
        overwrite=True,
        data_shape=data.shape,
        figures={"test log-likelihood in nats": round(test_log_likelihood, 2)},
        verbose=False,
    )
    x = data.test[:3]
    served = tf.saved_model.load(path)
    seed = tf.constant([0, 1])
    value = served.signatures["log_likelihood"](x=tf.constant(x), num_samples=tf.constant(500), seed=seed)["value"]
    drawn = served.signatures["sample"](num_samples=tf.constant(4), seed=seed)["x"]
    print(f"log p(x) of three test digits by the SavedModel: {np.round(value.numpy(), 1)}; samples: {drawn.shape}")
    return os.path.relpath(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--posterior-samples", type=int, default=50)
    args = parser.parse_args()
    # what they say, the effective sample sizes and the bounds from both sides say too
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)
    begun = time.monotonic()

    if not (OUTPUT / "backup").exists():
        shutil.rmtree(OUTPUT, ignore_errors=True)
    data = ds.datasets.load("digits")
    keras.utils.set_random_seed(0)
    print(f"Learning a sigmoid belief network, 100-50, from {len(data.train):,} digits of 8 x 8 pixels:")
    model = build()
    history = learn(model, data, args.epochs, args.posterior_samples)
    worth = report(model, data)
    pictures = draw(model, data, history)
    model.save(OUTPUT / "model.keras")
    exported = export(model, data, worth)
    print(f"\nAfter {time.monotonic() - begun:.0f} seconds there are")
    for what, paths in (("pictures", pictures), ("the model", [OUTPUT / "model.keras"]), ("a SavedModel", [exported])):
        print(f"  {what:<14}", *paths)
    print(f"To see it complete what you erase: {os.path.relpath(sys.executable)} -m tfdsmcmc serve {SERVED}")


if __name__ == "__main__":
    main()
