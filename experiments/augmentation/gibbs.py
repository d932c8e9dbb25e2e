"""Sigmoid belief networks by Pólya-Gamma augmentation: the published table of Gibbs sampling, anew.

    python -m experiments.augmentation.gibbs --dataset ocr_letters --architectures 200
    python -m experiments.augmentation.gibbs --dataset binarized_mnist --architectures 200 200-200
    python -m experiments.augmentation.gibbs --dataset caltech101_silhouettes_28 --without-validation
    python -m experiments.augmentation.table runs/augmentation/results.jsonl

40 sweeps of burn-in and 100 that are kept, as published, from training and validation rows: of binarized MNIST 10,000
random ones, of the other data sets all. Networks of several layers learn layer by layer first, as published. The test
log-likelihood is estimated by annealed importance sampling, at the mean of the kept weights and at their last draw. The
harmonic mean over the kept sweeps, which the publication has, is given beside it as history: its variance is infinite
in practice, and it lies far above the truth.

A run can be interrupted and started again with the same arguments: it goes on where it was, and what is finished is not
run again. It leaves in --output, for each DATASET_ARCHITECTURE_PRIOR,

    NAME/layers.weights.h5    the weights after learning layer by layer, of several layers
    NAME/log.jsonl      one line a sweep
    NAME/posterior/     the kept weights
    NAME/model.keras    the model at its last draw
    results.jsonl       one line a finished network
"""

import json
import pathlib
import time

import keras
import numpy as np
import tensorflow_probability as tfp

import tfdsmcmc as ds
from experiments.augmentation.harmonic_mean import harmonic_mean
from experiments.augmentation.networks import units_in_use
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.epoch_log import EpochLog

tfd = tfp.distributions
_BLOCK = 10  # steps in a call
ROWS = {"binarized_mnist": 10_000}
PRIORS = {
    "column": lambda: ds.priors.ColumnThreeParameterBetaNormal(),
    # of the authors' program: precisions from Gamma(1.1, 0.01)
    "student": lambda: tfd.StudentT(2.2, 0.0, (0.01 / 1.1) ** 0.5),
}


def parse(arguments=None):
    parser = parser_of("experiments.augmentation.gibbs", __doc__)
    add = parser.add_argument
    add("--dataset", default="binarized_mnist")
    add("--architectures", nargs="+", default=["200"], help="widths, nearest to the data first (default 200)")
    add("--prior", default="column", choices=sorted(PRIORS), help="of the weights (default column)")
    add("--burn-in", type=int, default=40, help="sweeps (default 40)")
    add("--sweeps", type=int, default=100, help="that are kept (default 100)")
    add("--layer-sweeps", type=int, default=40, help="for each of several layers beforehand (default 40)")
    add("--rows", type=int, default=None, help="random training rows; by default as published")
    add("--without-validation", action="store_true", help="of the training rows alone, as other methods learn")
    add("--batch-size", type=int, default=500, help="rows that are worked off at a time (default 500)")
    add("--test-rows", type=int, default=500, help="random rows for annealing (default 500)")
    add("--runs", type=int, default=5, help="annealing runs a row (default 5)")
    add("--annealing-steps", type=int, default=1000)
    add("--hours", type=float, default=None, help="stop learning after this many hours, in this call")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default="runs/augmentation")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def model_for(units, architecture, prior, seed):
    """Weights and biases start at N(0, 0.1²), as published."""
    widths = [int(width) for width in architecture.split("-")]
    start = keras.initializers.RandomNormal(stddev=0.1)

    def layer(width, place):
        return ds.layers.SBN(width, kernel_initializer=start, bias_initializer=start, seed=seed * 100 + place)

    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([layer(width, i) for i, width in enumerate([*reversed(widths), units])]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(width, seed=seed) for width in widths]),
        prior={"bias": tfd.Normal(0.0, 1.0), "": PRIORS[prior]()},
        seed=seed,
    )
    return model


def learnt(model, train, folder, args):
    """Collects the posterior samples; whether all of them are there."""
    layers = folder / "layers.weights.h5"
    several = len(model.generative.latent_units) > 1 and args.layer_sweeps
    if several and layers.exists():
        model.load_weights(layers)
    elif several:
        ds.pretrain(model, train, args.layer_sweeps, batch_size=args.batch_size, steps_per_execution=_BLOCK)
        model.save_weights(layers)
    model.compile(**ds.methods.polya_gamma_gibbs(burn_in=10 if several else 0), steps_per_execution=_BLOCK)
    collector = ds.posterior.Collector(folder / "posterior", args.sweeps, burn_in=args.burn_in, every=1)
    backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
    callbacks = [collector, EpochLog(folder / "log.jsonl", args.hours, unit="sweep"), backup]
    epochs = args.burn_in + args.sweeps
    model.fit(train, batch_size=args.batch_size, epochs=epochs, callbacks=callbacks, verbose=0)
    whole = int(model.run.epochs) >= epochs
    if whole:
        model.save(folder / "model.keras")
    return whole


def measured(model, posterior, test, args):
    """Every figure of a network, at the last draw and at the mean of the weights."""
    rng = np.random.default_rng(args.seed)
    found = {"harmonic_mean": harmonic_mean(model, posterior, rng.permutation(test)[:1000], args.seed)}
    rows = rng.permutation(test)[: args.test_rows]
    for name in ("last", "mean"):
        if name == "mean":
            posterior.apply_mean(model)
        begun = time.monotonic()
        estimate = ds.likelihood.annealed_importance_sampling(
            model, rows, args.annealing_steps, args.runs, seed=args.seed, batch_size=50
        ).mean()
        found[name] = {
            "log_likelihood": float(estimate),
            "standard_error": estimate.standard_error,
            "row_standard_error": estimate.row_standard_error,
            "effective_sample_size": estimate.effective_sample_size,
            "seconds": round(time.monotonic() - begun, 1),
        }
    found["units_in_use"] = units_in_use(model)
    return found


def seconds_a_sweep(path):
    """The median time between two sweeps of one call."""
    seconds = [line["seconds"] for line in files.lines(path)]
    gaps = np.diff(seconds)
    return float(np.median(gaps[gaps > 0]))


def main(arguments=None):
    args = parse(arguments)
    output = pathlib.Path(args.output)
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = data.train if args.without_validation else data.train_and_valid
    count = args.rows or ROWS.get(args.dataset, len(train))
    train = train[np.sort(np.random.default_rng(args.seed).permutation(len(train))[:count])].astype(np.uint8)
    results = output / "results.jsonl"
    for architecture in args.architectures:
        name = f"{args.dataset}_{architecture}_{args.prior}{'_training_rows' * args.without_validation}"
        if name in {line["name"] for line in files.lines(results)}:
            continue
        folder = output / name
        folder.mkdir(parents=True, exist_ok=True)
        model = model_for(train.shape[1], architecture, args.prior, args.seed)
        if not learnt(model, train, folder, args):
            print(f"{name}: not finished")  # what a limit of hours has cut short goes on in the next call
            continue
        found = measured(model, ds.posterior.load(folder / "posterior"), data.test, args)
        line = {"name": name, "architecture": architecture, "rows": len(train), "arguments": vars(args), **found}
        line["seconds_a_sweep"] = seconds_a_sweep(folder / "log.jsonl")
        files.append(results, line)
        print(json.dumps(line, indent=2), flush=True)


if __name__ == "__main__":
    main()
