"""The demo: a two-layer sigmoid belief network learnt on handwritten digits by three chains of DSGNHT-NAIS.

    make demo

It prints test log-likelihoods, leaves pictures, posterior samples and the model at the mean of a chain in runs/digits,
and a SavedModel in saved_models/digits/1. A second start goes on where learning was interrupted.
"""

import argparse
import warnings

import keras
import numpy as np

import tfdsmcmc as ds


def line(name, estimate):
    mean = estimate.mean()
    errors = f"± {mean.standard_error:.2f} ± {mean.row_standard_error:.2f}"
    print(f"  {name:<31}{mean:8.2f} {errors}   effective samples {mean.effective_sample_size:.0f}", flush=True)


def report(model, data, folder, draws, steps):
    """Leaves the model at the mean of the weights of a chain, and returns what it is worth."""
    print("\nTest log-likelihood, nats a digit (± Monte Carlo error, ± error over the test digits):")
    p, posterior = np.clip(data.train.mean(0), 1e-3, 1 - 1e-3), ds.posterior.load(f"{folder}/posterior")
    independent = ds.models.from_name("SBN", units=64, data_logits=np.log(p / (1 - p)))
    line("independent pixels", independent.log_likelihood(data.test))
    line("last weights", model.log_likelihood(data.test, draws))
    for average in dict.fromkeys(("weights", "units", "draws", posterior.average)):
        chosen, each = " (chosen)" * (average == posterior.average), draws // (1 if average == "weights" else 10)
        line(f"average over {average}{chosen}", posterior.log_likelihood(model, data.test, each, average=average))
    posterior.chain(0).apply_mean(model, data.train, refit_epochs=20)  # hidden units play other roles in other chains
    worth = model.log_likelihood(data.test, draws)
    line("mean of the weights of a chain", worth)
    print("100 digits that the model has drawn, by annealed importance sampling:")
    bounds = ds.likelihood.sandwich(model, num_rows=100, num_steps=steps, num_runs=8, path="recognition")
    line("from below", bounds.lower)
    line("from above", bounds.upper)
    print(f"  {'gap':<31}{bounds.gap:8.2f} ± {bounds.gap.row_standard_error:.2f}")
    return {"test log-likelihood in nats": round(float(worth.mean()), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three epochs and few draws, to see that it runs")
    quick = parser.parse_args().quick
    epochs, samples, draws, steps = (3, 2, 20, 5) if quick else (1000, 50, 2000, 200)
    folder, served = (f"{root}/digits{'_quick' * quick}" for root in ("runs", "saved_models"))
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # the bounds from both sides tell more
    data = ds.datasets.load("digits")
    print(f"Learning a sigmoid belief network, 100-50, from {len(data.train):,} digits of 8 x 8 pixels:")
    keras.utils.set_random_seed(0)
    generative = ds.GenerativeNetwork([ds.layers.SBN(50), ds.layers.SBN(100), ds.layers.SBN(64)])
    recognition = ds.RecognitionNetwork([ds.layers.SBN(100), ds.layers.SBN(50)])
    model = ds.DeepGenerativeModel(generative, recognition, seed=0)
    model.compile(**ds.methods.dsgnht_nais(num_chains=3), steps_per_execution=12)
    last_part = ds.posterior.last_part(epochs, samples, share=0.25)
    collector = ds.posterior.Collector(f"{folder}/posterior", samples, overwrite=True, **last_part)
    callbacks = [collector, keras.callbacks.BackupAndRestore(f"{folder}/backup"), ds.diagnostics.Progress()]
    history = model.fit(data.train, epochs=epochs, validation_data=data.valid, callbacks=callbacks, verbose=0)

    figures, truth, mask = report(model, data, folder, draws, steps), data.test[::30], np.arange(64) < 32
    completed = model.impute(np.where(mask, truth, np.nan), num_imputations=6)
    grid = np.stack([truth, np.where(mask, truth, 0.25), *completed], 1).reshape(-1, 64)
    for name, figure in (
        ("samples", ds.plots.samples(model.sample(100, probabilities=True), data.shape)),
        ("features", ds.plots.features(model.generative.layers[-1].kernel.numpy(), data.shape)),
        ("learning_curve", ds.plots.learning_curves(history)),
        ("completions", ds.plots.samples(grid, data.shape, columns=8)),
    ):
        print("wrote", ds.plots.save(figure, f"{folder}/{name}.png"))
    model.save(f"{folder}/model.keras")
    ds.serving.export(model, served, overwrite=True, data_shape=data.shape, figures=figures)
    print(f"To see it complete what you erase: .venv/bin/python -m tfdsmcmc serve {served}")


if __name__ == "__main__":
    main()
