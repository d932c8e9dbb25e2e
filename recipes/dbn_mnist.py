"""A deep belief network on fixed binarized MNIST: greedy learning, and a bound of its log-likelihood with its errors.

    python recipes/dbn_mnist.py --widths 500 2000 --steps 25

The machines learn one after the other from training and validation rows together, as those of rbm_mnist.py do; the
published networks of 500 and 2,000 hidden units are DBN-CD1, DBN-CD3 and DBN-CD25. A run can be interrupted and started
again with the same arguments: it goes on where it was. It leaves in --output

    log_LEVEL.jsonl     one line an epoch of each machine
    dbn.keras           the network
    samples.png         p(v given h) below the ends of long chains of the topmost machine
    results.jsonl       one line: the bound on test and training rows, log Z of the topmost machine with its errors
"""

import argparse
import json
import pathlib

import keras
import numpy as np
from rbm_mnist import BATCH, GROWN, Log, append, machine_for

import tfdsmcmc as ds

# nats a row by the bound of 500-2000: test, training
PUBLISHED = {1: (-100.64, -97.67), 3: (-98.29, -94.86), 25: (-86.22, -82.47)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--widths", type=int, nargs="+", default=[500, 2000], help="hidden units, bottom first (default 500 2000)")
    add("--steps", type=int, default=25, help=f"of contrastive divergence; {GROWN} are grown to (default)")
    add("--epochs", type=int, default=100, help="of each machine, where steps do not grow (default 100)")
    add("--every", type=int, default=20, help="epochs between two growths of the steps (default 20: 500 epochs)")
    add("--tied", action="store_true", help="each machine begins as the one below upside down: widths must allow it")
    add("--runs", type=int, default=500, help="annealing runs (default 500)")
    add("--annealing-steps", type=int, default=15_000)
    add("--draws", type=int, default=5, help="from the recognition model, of each row, for the bound (default 5)")
    add("--hours", type=float, default=None, help="stop a machine's learning after this many hours, in this call")
    add("--dataset", default="binarized_mnist")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default=None, help="default runs/dbn_mnist_WIDTHS_cdSTEPS")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def network(train, args):
    """The compiled network, not yet learnt."""
    widths = [train.shape[1], *args.widths]
    return ds.boltzmann.DBN([
        machine_for(units, len(train), args.steps, hidden, args.every, args.seed + level)
        for level, (units, hidden) in enumerate(zip(widths, widths[1:]))
    ])  # fmt: skip


def learn(dbn, train, output, args):
    epochs = args.every * GROWN if args.steps == GROWN else args.epochs
    callbacks = [
        [
            Log(output / f"log_{level}.jsonl", args.hours),
            keras.callbacks.BackupAndRestore(output / f"backup_{level}", delete_checkpoint=False),
        ]
        for level in range(len(dbn.rbms))
    ]
    dbn.fit(train, epochs=epochs, batch_size=BATCH, callbacks=callbacks, tied=args.tied, verbose=0)


def figures(estimate):
    mean = estimate.mean()
    return {"value": float(mean), "standard_error": mean.standard_error, "row_standard_error": mean.row_standard_error}


def measured(dbn, train, test, args):
    """Every figure of the network; the path to log Z begins at the rates of the topmost machine's data."""
    lift = ds.boltzmann.Lift(dbn.rbms[:-1]) if len(dbn.rbms) > 1 else None
    rows = train[:: max(1, len(train) // 10_000)].astype(np.float32)
    base = rows if lift is None else lift(rows, ds.random.as_seed(args.seed)).numpy()
    both = ds.boltzmann.sandwich(dbn.rbms[-1], args.runs, args.annealing_steps, base=base, seed=args.seed)
    lower, upper = both
    found = {
        "log_partition": lower.value,
        "interval_less_value": [end - lower.value if np.isfinite(end) else None for end in lower.interval],
        "effective_sample_size": lower.effective_sample_size,
        "log_partition_above": upper.value,
        "starts_above": upper.starts,
    }
    for split, x in (("test", test), ("train", train)):
        bound = dbn.log_likelihood_bound(x, args.draws, lower, args.seed)
        found[split] = figures(bound)
    return found


def main():
    args = parse()
    name = f"{'-'.join(map(str, args.widths))}_cd{args.steps}{'_tied' if args.tied else ''}"
    output = pathlib.Path(args.output or f"runs/dbn_mnist_{name}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = data.train_and_valid.astype(np.uint8)
    output.mkdir(parents=True, exist_ok=True)
    dbn = network(train, args)
    learn(dbn, train, output, args)
    dbn.save(output / "dbn.keras")
    drawn = dbn.sample(100, args.seed, steps=10_000, probabilities=True)
    ds.plots.save(ds.plots.samples(drawn, data.shape, title="p(v given h)"), output / "samples.png")
    line = {"model": name, "epochs": [int(rbm.run.epochs) for rbm in dbn.rbms], "arguments": vars(args)}
    line |= measured(dbn, train, data.test, args)
    append(output / "results.jsonl", line)
    print(json.dumps(line, indent=2))
    if args.widths == [500, 2000] and args.steps in PUBLISHED:
        print("published: test {}, training {} nats a row".format(*PUBLISHED[args.steps]))


if __name__ == "__main__":
    main()
