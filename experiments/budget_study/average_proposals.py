"""What proposes z for an average unit by unit, by effective sample size: a line of docs/study_appendix.md.

    python -m experiments.budget_study.average_proposals runs/budget_study/dna_SBN-SBN_100-50_150_flat_T1_0

Of the first chain of a finished run of the study: the mean φ of the draws, the last φ, the average of the
recognition networks unit by unit, and the mean φ fitted to the average by wake-sleep updates, a few passes over the
training rows.
"""

import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.rows import random_rows


def proposals(model, posterior, train, epochs):
    """Pairs (name, (model of the average, its weights))."""
    samples = list(posterior.samples)
    (part,) = posterior.components(model, "units")
    average, theta = part.model, part.theta
    yield "mean φ", (average, part.weights)
    yield "last φ", (average, (theta, samples[-1].phi))
    layers = [ds.layers.UnitAverage(layer, len(samples)) for layer in model.recognition.layers]
    above = [ds.layers.UnitAverage(layer, len(samples)) for layer in model.generative.layers]
    both = model.with_networks(ds.GenerativeNetwork(above), ds.RecognitionNetwork(layers))
    yield "average of the φ", (both, (theta, [np.stack(parts) for parts in zip(*(s.phi for s in samples))]))
    for variables, values in ((average.theta_variables, theta), (average.phi_variables, part.phi)):
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)
    average.compile(kernel="sgld", latents=ds.latents.NAIS(5), proposal="wake", steps_per_execution=10)
    fitting = ds.proposals.WakeSleep(keras.optimizers.Adam(1e-3))
    average.refit_recognition(train, epochs, latents=ds.latents.NAIS(10), proposal=fitting)
    yield f"mean φ, fitted for {epochs} epochs", (average, None)


def main(arguments=None):
    parser = parser_of("experiments.budget_study.average_proposals", __doc__)
    add = parser.add_argument
    add("run", type=pathlib.Path)
    add("--data-dir")
    add("--epochs", type=int, default=5)
    add("--test-rows", type=int, default=60)
    add("--test-samples", type=int, default=500)
    args = parser.parse_args(arguments)
    about = files.read_json(args.run / "result.json")
    data = ds.datasets.load(about["dataset"].split("[")[0], args.data_dir)
    x = random_rows(data.test, args.test_rows, seed=0)
    model = ds.models.from_name(about["architecture"], x.shape[1])
    posterior = ds.posterior.load(args.run / "posterior").chain(0)
    print("| proposal | nats a test row | effective samples, median |\n| --- | --- | --- |")
    for name, (own, weights) in proposals(model, posterior, data.train, args.epochs):
        estimate = ds.likelihood.importance_sampling(own, x, args.test_samples, weights=weights, warn=False)
        print(f"| {name} | {estimate.value.mean():.2f} | {np.median(estimate.effective_sample_size):.1f} |", flush=True)


if __name__ == "__main__":
    main()
