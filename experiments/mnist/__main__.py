"""Sigmoid belief networks on fixed binarized MNIST by DSGNHT-NAIS.

    python recipes/mnist_sbn.py --architecture 200 --epochs 1000 --hours 1.2

Architectures: 200, 200-200, 200-200-200, nearest to the data first. The run can be interrupted and started again with
the same arguments: it goes on where it was. It leaves in --output

    log.jsonl           one line an epoch: steps, seconds, training and validation log-likelihood
    posterior/          the posterior samples
    results.json        the test log-likelihood by importance sampling, of the last weights, of the mean of the
                        weights, and of the posterior predictive average
    *.png               learning curve, samples, features
"""

import argparse
import json
import pathlib
import time

import keras
import numpy as np

import tfdsmcmc as ds


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--architecture", default="200", help="widths of the latent layers, nearest to the data first (default 200)")
    add("--epochs", type=int, default=100, help="epochs of 500 steps (default 100)")
    add("--hours", type=float, default=None, help="stop learning after this many hours, in this call")
    add("--batch-size", type=int, default=100)
    add("--num-samples", type=int, default=5, help="importance samples a row in training (default 5)")
    add("--learning-rate", type=float, default=0.3, help="of the kernel, for a minibatch (default 0.3)")
    add("--decay-steps", type=float, default=None, help="rates decay as (1 + step/DECAY_STEPS)^-0.55")
    add("--friction", type=float, default=0.1)
    add("--thermostat-mass", default="1", help="a number (the papers' is 1) or auto (default 1)")
    add("--integrator", default="splitting", choices=["splitting", "euler"])
    add("--proposal-learning-rate", type=float, default=3e-3, help="of Adam on φ (default 0.003)")
    add("--burn-in", type=int, default=None, help="collect after this many epochs; by default once validation stalls")
    add("--patience", type=int, default=1000, help="updates over which validation settles (default 1000)")
    add("--posterior-samples", type=int, default=50)
    add("--every", type=int, default=1, help="epochs between posterior samples")
    add("--test-rows", type=int, default=10000, help="random rows of the test set to evaluate (default all)")
    add("--test-samples", type=int, default=1000, help="importance samples a row in the test (default 1000)")
    add("--data-dir", default=None, help="folder of binarized_mnist.npz; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default=None, help="default runs/mnist_sbn_ARCHITECTURE")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def build(widths, seed):
    layers = ds.layers.SBN
    return ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([*[layers(units) for units in reversed(widths)], layers(784)]),
        recognition=ds.RecognitionNetwork([layers(units) for units in widths]),
        seed=seed,
    )


def compile_model(model, args):
    mass = args.thermostat_mass if args.thermostat_mass == "auto" else float(args.thermostat_mass)
    rate, proposal_rate = args.learning_rate, args.proposal_learning_rate
    if args.decay_steps:
        rate, proposal_rate = (ds.mcmc.PolynomialDecay(r, args.decay_steps, 0.55) for r in (rate, proposal_rate))
    model.compile(
        kernel=ds.mcmc.SGNHT(
            learning_rate=rate, friction=args.friction, thermostat_mass=mass, integrator=args.integrator
        ),
        latents=ds.latents.NAIS(args.num_samples),
        proposal=ds.proposals.Wake(keras.optimizers.Adam(proposal_rate)),
        steps_per_execution=100,
    )


class Log(keras.callbacks.Callback):
    """Appends a line an epoch to a file, and stops after some hours."""

    def __init__(self, path, hours):
        super().__init__()
        self.path, self.limit = path, hours
        self.begun = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.monotonic() - self.begun
        line = {"epoch": epoch + 1, "steps": int(self.model.run.steps), "seconds": round(seconds, 1), **logs}
        with open(self.path, "a") as file:
            file.write(json.dumps(line) + "\n")
        if self.limit is not None and seconds > 3600 * self.limit:
            self.model.stop_training = True


def evaluate(model, output, x, num_samples):
    """Test log-likelihoods; each with its Monte Carlo error and its error over rows."""

    def figures(estimate):
        mean = estimate.mean()
        return {
            "log_likelihood": float(mean),
            "monte_carlo_standard_error": mean.standard_error,
            "row_standard_error": mean.row_standard_error,
            "effective_sample_size": mean.effective_sample_size,
        }

    results = {"rows": len(x), "samples": num_samples, "last_weights": figures(model.log_likelihood(x, num_samples))}
    if (output / "posterior").exists() and list((output / "posterior").glob("sample_*.h5")):
        posterior = ds.posterior.load(output / "posterior")
        results["posterior_samples"] = len(posterior.samples)
        results["predictive"] = figures(posterior.log_likelihood(model, x, max(1, num_samples // 10), average="draws"))
        last = model.get_weights()
        results["mean_of_weights"] = figures(posterior.apply_mean(model).log_likelihood(x, num_samples))
        model.set_weights(last)
    return results


def main():
    args = parse()
    widths = [int(width) for width in args.architecture.split("-")]
    output = pathlib.Path(args.output or f"runs/mnist_sbn_{args.architecture}")
    data = ds.datasets.load("binarized_mnist", args.data_dir)
    # the test split is sorted by digit
    rows = np.random.default_rng(args.seed).permutation(len(data.test))[: args.test_rows]

    keras.utils.set_random_seed(args.seed)
    model = build(widths, args.seed)
    compile_model(model, args)
    output.mkdir(parents=True, exist_ok=True)
    collector = ds.posterior.Collector(
        output / "posterior", args.posterior_samples, args.patience, args.burn_in, args.every
    )
    model.fit(
        data.train,
        batch_size=args.batch_size,
        epochs=args.epochs,
        validation_data=data.valid[::10],
        callbacks=[
            collector,
            Log(output / "log.jsonl", args.hours),
            keras.callbacks.BackupAndRestore(output / "backup", delete_checkpoint=False),
        ],
    )
    model.save(output / "model.keras")

    # an epoch that was cut off and run again stands there twice, with the same values
    lines = {line["epoch"]: line for line in map(json.loads, (output / "log.jsonl").read_text().splitlines())}
    history = {name: [line.get(name, np.nan) for _, line in sorted(lines.items())] for name in lines[1]}
    ds.plots.save(ds.plots.learning_curves(history, title=f"SBN {args.architecture}"), output / "learning_curve.png")
    drawn = model.sample(100, seed=args.seed, probabilities=True)
    ds.plots.save(ds.plots.samples(drawn, data.shape, title="samples (probabilities)"), output / "samples.png")
    kernel = model.generative.layers[-1].kernel.numpy()
    ds.plots.save(ds.plots.features(kernel, data.shape, title="features", limit=100), output / "features.png")

    results = {"arguments": vars(args), "steps": int(model.run.steps)}
    results.update(evaluate(model, output, data.test[rows], args.test_samples))
    ds.files.write_json(output / "results.json", results, indent=2)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
