"""Sigmoid belief networks by mean-field and online variational Bayes, beside the published bounds.

    python recipes/variational_bayes.py --dataset ocr_letters --model "SBN/SBN 200"
    python recipes/variational_bayes.py --dataset binarized_mnist --rows 10000
    python recipes/variational_bayes.py --dataset binarized_mnist --method online --batch-size 5000

Learning is from training and validation rows together, as published, or from --rows of them, spread evenly. A run can
be interrupted and started again with the same arguments: it goes on where it was. It leaves in --output

    log.jsonl        one line an epoch: the bound on log p(X)/N, with the weights integrated out, and the time
    model.keras      the model; its weights are the means of q
    results.jsonl    one line when all epochs are over: the bound of the test and of as many training rows, units in
                     use, seconds an epoch

The published figures are bounds at the means of the weights; `recipes/augmentation_table.py` puts them beside.
"""

import argparse
import json
import pathlib
import time

import keras
import numpy as np
import tensorflow_probability as tfp

import tfdsmcmc as ds

_OF_A_CALL = ("hours", "output", "data_dir")  # arguments that change no result
IN_USE = 0.1  # of the root mean square of a unit's outgoing weights


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dataset", default="ocr_letters")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--model", default="SBN/SBN 200", help="as in models.from_name")
    add("--method", choices=["vb", "online"], default="vb")
    add("--covariance", choices=["full", "diagonal"], default="full")
    add("--rounds", type=int, default=None, help="over the factors of a row; default 1, online 4")
    add("--rate", type=float, default=0.1, help="of online learning")
    add("--batch-size", type=int, default=500, help="rows at a time; online the rows of a step")
    add("--epochs", type=int, default=50)
    add("--hours", type=float, default=None, help="stop learning after this many hours, in this call")
    add("--rows", type=int, default=None, help="training rows; default all")
    add("--test-rows", type=int, default=1000, help="spread evenly over the test rows (default 1000)")
    add("--draws", type=int, default=10, help="of each row, for the bound")
    add("--initial", choices=["recognition", "half"], default="recognition", help="where the fit of new rows begins")
    add("--starts", type=int, default=1, help="of the fit of a row, of which the best counts (default 1)")
    add("--output", default=None, help="default runs/vb_DATASET_MODEL_METHOD_COVARIANCE")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


class Log(keras.callbacks.Callback):
    """A line an epoch, and an end after some hours."""

    def __init__(self, path, hours):
        super().__init__()
        self.path, self.hours = path, hours

    def on_train_begin(self, logs=None):
        self._begun = time.time()

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch_begun = time.time()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.time() - self._epoch_begun
        append(self.path, {"epoch": epoch + 1, "seconds": round(seconds, 2), **logs})
        if self.hours is not None and time.time() - self._begun > 3600 * self.hours:
            self.model.stop_training = True


def append(path, line):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def record(path, line):
    """Appends a line, unless a run that was finished already has left the very same, wherever its files were."""

    def known(line):
        line = json.loads(json.dumps(line))
        return {**line, "arguments": {k: v for k, v in line["arguments"].items() if k not in _OF_A_CALL}}

    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if known(line) not in [known(json.loads(each)) for each in lines]:
        append(path, line)


def spread(rows, count):
    """So many of the rows, evenly spaced; all where there are fewer."""
    if count is None or count >= len(rows):
        return rows
    return rows[np.linspace(0, len(rows) - 1, count).round().astype(int)]


def model_for(units, args):
    keras.utils.set_random_seed(args.seed)
    prior = {"bias": tfp.distributions.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal()}
    return ds.models.from_name(args.model, units, prior=prior, seed=args.seed)


def method_of(args):
    rounds = {} if args.rounds is None else {"rounds": args.rounds}
    if args.method == "vb":
        return ds.methods.vb(args.covariance, **rounds)
    return ds.methods.online_vb(args.rate, args.covariance, **rounds)


def figures(model, x, weights, args, **start):
    """The bound of some rows with its errors; `start` as `variational_bound` takes it."""
    mean = ds.augmentation.variational_bound(model, x, args.draws, weights=weights, seed=args.seed, **start).mean()
    return {"value": float(mean), "standard_error": mean.standard_error, "row_standard_error": mean.row_standard_error}


def units_in_use(model, threshold=IN_USE):
    """How many units of each latent layer have outgoing weights that count, nearest to the data first."""
    kernels = [layer.kernel.numpy().astype(np.float64) for layer in model.generative.layers[:0:-1]]
    return [int((np.sqrt((kernel**2).mean(1)) > threshold).sum()) for kernel in kernels]


def main(arguments=None):
    args = parse(arguments)
    name = f"{args.dataset}_{args.model.split()[-1]}_{args.method}_{args.covariance}"
    output = pathlib.Path(args.output or f"runs/vb_{name}")
    if args.starts > 1 and args.initial == "half":
        raise ValueError(f"Several starts need --initial recognition. Received: --starts {args.starts} at half")
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = spread(data.train_and_valid.astype(np.uint8), args.rows)
    output.mkdir(parents=True, exist_ok=True)
    model = model_for(train.shape[1], args)
    model.compile(**method_of(args))
    callbacks = [
        Log(output / "log.jsonl", args.hours),
        keras.callbacks.BackupAndRestore(output / "backup", delete_checkpoint=False),
    ]
    model.fit(train, batch_size=args.batch_size, epochs=args.epochs, callbacks=callbacks, verbose=0)
    if int(model.run.epochs) < args.epochs:
        print(f"{int(model.run.epochs)} of {args.epochs} epochs are over: the same call goes on")
        return
    if args.initial == "recognition":
        ds.augmentation.teach_recognition(model, train)  # the fit of rows begins near what similar ones have
    model.save(output / "model.keras")
    lines = [json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()]
    line = {
        "model": name,
        "epochs": int(model.run.epochs),
        "training_rows": len(train),
        "bound": lines[-1]["bound"],
        "seconds_an_epoch": float(np.median([part["seconds"] for part in lines])),
        "units_in_use": units_in_use(model),
    }
    start = {"initial": args.initial, "num_starts": args.starts}
    for split, rows in (("test", data.test), ("train", train)):
        for weights in ("means", "integrated"):
            line[f"{split}_{weights}"] = figures(model, spread(rows, args.test_rows), weights, args, **start)
    record(output / "results.jsonl", {**line, "arguments": vars(args)})
    print(json.dumps(line, indent=2))


if __name__ == "__main__":
    main()
