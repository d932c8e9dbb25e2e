"""Sigmoid belief networks on fixed binarized MNIST by DSGNHT-NAIS.

    python -m experiments.mnist --architecture 200 --epochs 1000 --hours 1.2

Architectures: 200, 200-200, 200-200-200, nearest to the data first. The run can be interrupted and started again with
the same arguments: it goes on where it was. It leaves in --output

    log.jsonl           one line an epoch: steps, seconds, training and validation log-likelihood
    posterior/          the posterior samples
    results.json        the test log-likelihood by importance sampling, of the last weights, of the mean of the
                        weights, and of the posterior predictive average
    *.png               learning curve, samples, features
"""

import json
import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.epoch_log import EpochLog
from experiments.common.plain_figures import named_figures
from experiments.common.rows import random_rows


def parse(arguments=None):
    parser = parser_of("experiments.mnist", __doc__)
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
    return parser.parse_args(arguments)


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


class Log(EpochLog):
    """Its lines have the steps too."""

    def more(self):
        return {"steps": int(self.model.run.steps)}


def evaluate(model, output, x, num_samples):
    """Test log-likelihoods; each with its Monte Carlo error and its error over rows."""
    last = named_figures(model.log_likelihood(x, num_samples))
    results = {"rows": len(x), "samples": num_samples, "last_weights": last}
    if list((output / "posterior").glob("sample_*.h5")):
        posterior, weights = ds.posterior.load(output / "posterior"), model.get_weights()
        few = max(1, num_samples // 10)
        results["posterior_samples"] = len(posterior.samples)
        results["predictive"] = named_figures(posterior.log_likelihood(model, x, few, average="draws"))
        results["mean_of_weights"] = named_figures(posterior.apply_mean(model).log_likelihood(x, num_samples))
        model.set_weights(weights)
    return results


def learn(model, data, output, args):
    """Goes on where an interrupted run was; the model is left beside its log and its posterior samples."""
    collector = ds.posterior.Collector(
        output / "posterior",
        args.posterior_samples,
        patience=args.patience,
        burn_in=args.burn_in,
        every=args.every,
    )
    backup = keras.callbacks.BackupAndRestore(output / "backup", delete_checkpoint=False)
    model.fit(
        data.train,
        batch_size=args.batch_size,
        epochs=args.epochs,
        validation_data=data.valid[::10],
        callbacks=[collector, Log(output / "log.jsonl", args.hours), backup],
    )
    model.save(output / "model.keras")


def draw(model, data, output, args):
    """The pictures."""
    # an epoch that was cut off and run again stands there twice, with the same values
    lines = {line["epoch"]: line for line in files.lines(output / "log.jsonl")}
    history = {name: [line.get(name, np.nan) for _, line in sorted(lines.items())] for name in lines[1]}
    drawn = model.sample(100, seed=args.seed, probabilities=True)
    kernel = model.generative.layers[-1].kernel.numpy()
    figures = {
        "learning_curve": ds.plots.learning_curves(history, title=f"SBN {args.architecture}"),
        "samples": ds.plots.samples(drawn, data.shape, title="samples (probabilities)"),
        "features": ds.plots.features(kernel, data.shape, title="features", limit=100),
    }
    for name, figure in figures.items():
        ds.plots.save(figure, output / f"{name}.png")


def main(arguments=None):
    args = parse(arguments)
    output = pathlib.Path(args.output or f"runs/mnist_sbn_{args.architecture}")
    data = ds.datasets.load("binarized_mnist", args.data_dir)
    rows = random_rows(data.test, args.test_rows, args.seed)  # the test split is sorted by digit

    keras.utils.set_random_seed(args.seed)
    model = build([int(width) for width in args.architecture.split("-")], args.seed)
    compile_model(model, args)
    output.mkdir(parents=True, exist_ok=True)
    learn(model, data, output, args)
    draw(model, data, output, args)
    results = {"arguments": vars(args), "steps": int(model.run.steps)}
    results |= evaluate(model, output, rows, args.test_samples)
    files.write_json(output / "results.json", results, indent=2)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
