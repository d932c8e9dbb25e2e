"""Sigmoid belief networks by mean-field and online variational Bayes, beside the published bounds.

    python -m experiments.augmentation.variational_bayes --dataset ocr_letters --model "SBN/SBN 200"
    python -m experiments.augmentation.variational_bayes --dataset binarized_mnist --rows 10000
    python -m experiments.augmentation.variational_bayes --dataset binarized_mnist --method online --batch-size 5000

Learning is from training and validation rows together, as published, or from --rows of them, spread evenly. A run can
be interrupted and started again with the same arguments: it goes on where it was. It leaves in --output

    log.jsonl        one line an epoch: the bound on log p(X)/N, with the weights integrated out, and the time
    model.keras      the model; its weights are the means of q
    results.jsonl    one line when all epochs are over: the bound of the test and of as many training rows, units in
                     use, seconds an epoch

The published figures are bounds at the means of the weights; `experiments.augmentation.table` puts them beside.
"""

import json
import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.augmentation.networks import model_for, units_in_use
from experiments.augmentation.results import bound_of, record
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.epoch_log import EpochLog
from experiments.common.rows import spread_rows


def parse(arguments=None):
    parser = parser_of("experiments.augmentation.variational_bayes", __doc__)
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


def method_of(args):
    rounds = {} if args.rounds is None else {"rounds": args.rounds}
    if args.method == "vb":
        return ds.methods.vb(args.covariance, **rounds)
    return ds.methods.online_vb(args.rate, args.covariance, **rounds)


def bounds_of(model, splits, args):
    """The bound of some rows of each split, at the means of the weights and with the weights integrated out."""
    found = {}
    for split, rows in splits.items():
        x = spread_rows(rows, args.test_rows)
        for weights in ("means", "integrated"):
            bound = bound_of(model, x, weights, args, initial=args.initial, num_starts=args.starts)
            found[f"{split}_{weights}"] = bound
    return found


def main(arguments=None):
    args = parse(arguments)
    name = f"{args.dataset}_{args.model.split()[-1]}_{args.method}_{args.covariance}"
    output = pathlib.Path(args.output or f"runs/vb_{name}")
    if args.starts > 1 and args.initial == "half":
        raise ValueError(f"Several starts need --initial recognition. Received: --starts {args.starts} at half")
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = spread_rows(data.train_and_valid.astype(np.uint8), args.rows)
    output.mkdir(parents=True, exist_ok=True)
    model = model_for(train.shape[1], args)
    model.compile(**method_of(args))
    callbacks = [
        EpochLog(output / "log.jsonl", args.hours, each=True),
        keras.callbacks.BackupAndRestore(output / "backup", delete_checkpoint=False),
    ]
    model.fit(train, batch_size=args.batch_size, epochs=args.epochs, callbacks=callbacks, verbose=0)
    if int(model.run.epochs) < args.epochs:
        print(f"{int(model.run.epochs)} of {args.epochs} epochs are over: the same call goes on")
        return
    if args.initial == "recognition":
        ds.augmentation.teach_recognition(model, train)  # the fit of rows begins near what similar ones have
    model.save(output / "model.keras")
    lines = files.lines(output / "log.jsonl")
    line = {
        "model": name,
        "epochs": int(model.run.epochs),
        "training_rows": len(train),
        "bound": lines[-1]["bound"],
        "seconds_an_epoch": float(np.median([part["seconds"] for part in lines])),
        "units_in_use": units_in_use(model),
        **bounds_of(model, {"test": data.test, "train": train}, args),
    }
    record(output / "results.jsonl", {**line, "arguments": vars(args)})
    print(json.dumps(line, indent=2))


if __name__ == "__main__":
    main()
