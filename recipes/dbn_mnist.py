"""A deep belief network on fixed binarized MNIST: greedy learning, and a bound of its log-likelihood with its errors.

    python recipes/dbn_mnist.py --widths 500 2000 --steps 25
    python recipes/dbn_mnist.py --lowest "runs/rbm_mnist/PCD1(500)/rbm.keras" --persistent --steps 1 --tied --epochs 50
    python recipes/dbn_mnist.py --table

The machines learn one after the other from training and validation rows together, as those of rbm_mnist.py do, or the
lowest is one of these; the published networks of 500 and 2,000 hidden units are DBN-CD1, DBN-CD3 and DBN-CD25. With
persistent chains the rate rises in the first epoch, while the chains find the machine, and falls to 0 as a cosine. A
run can be interrupted and started again with the same arguments: it goes on where it was. It leaves in --output

    log_LEVEL.jsonl     one line an epoch of each machine
    dbn.keras           the network
    samples.png         p(v given h) below the ends of long chains of the topmost machine
    results.jsonl       one line: the bound on test and training rows, an importance sampling estimate on test rows,
                        log Z of the topmost machine with its errors; of a network whose learning --hours has cut
                        short the line is in unfinished.jsonl
"""

import argparse
import json
import pathlib

import keras
import numpy as np
from rbm_mnist import BATCH, DECAY, GROWN, Log, append, machine_for, persistent_machine_for, updates

import tfdsmcmc as ds

# nats a row by the bound of 500-2000: test, training
RATE = 0.03  # the largest, of machines with persistent chains
PUBLISHED = {1: (-100.64, -97.67), 3: (-98.29, -94.86), 25: (-86.22, -82.47)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--widths", type=int, nargs="+", default=[500, 2000], help="hidden units, bottom first (default 500 2000)")
    add("--steps", type=int, default=25, help=f"of contrastive divergence; {GROWN} are grown to (default)")
    add("--epochs", type=int, default=100, help="of each machine, where steps do not grow (default 100)")
    add("--every", type=int, default=20, help="epochs between two growths of the steps (default 20: 500 epochs)")
    add("--tied", action="store_true", help="each machine begins as the one below upside down: widths must allow it")
    add("--persistent", action="store_true", help="persistent chains")
    add("--decay", type=float, default=DECAY, help=f"of W in each update, with these (default {DECAY})")
    add("--lowest", default=None, help="file of a machine that has learnt, such as those of rbm_mnist.py")
    add("--runs", type=int, default=500, help="annealing runs (default 500)")
    add("--annealing-steps", type=int, default=15_000)
    add("--draws", type=int, default=5, help="from the recognition model, of each row, for the bound (default 5)")
    add("--importance", type=int, default=100, help="importance samples of each test row (default 100)")
    add("--hours", type=float, default=None, help="stop a machine's learning after this many hours, in this call")
    add("--dataset", default="binarized_mnist")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default=None, help="default runs/dbn_mnist_WIDTHS_cdSTEPS")
    add("--seed", type=int, default=0)
    add("--table", action="store_true", help="print the table of what is finished, and nothing else")
    return parser.parse_args()


def network(train, args):
    """The compiled network, not yet learnt but for a lowest machine that has."""
    widths = [train.shape[1], *args.widths]
    if args.persistent:
        count = updates(args.epochs, len(train))
        first = updates(1, len(train))

        def machine(units, hidden, seed):
            rate = keras.optimizers.schedules.CosineDecay(0.0, count, warmup_target=RATE, warmup_steps=first)
            return persistent_machine_for(units, len(train), args.steps, hidden, rate, args.decay, seed)
    else:

        def machine(units, hidden, seed):
            return machine_for(units, len(train), args.steps, hidden, args.every, seed)

    rbms = [machine(*pair, args.seed + level) for level, pair in enumerate(zip(widths, widths[1:]))]
    if args.lowest:
        rbms[0] = keras.saving.load_model(args.lowest)
    return ds.boltzmann.DBN(rbms)


def wanted_epochs(args):
    """Of each machine, in this run."""
    epochs = args.every * GROWN if args.steps == GROWN and not args.persistent else args.epochs
    return [0 if args.lowest and not level else epochs for level in range(len(args.widths))]


def learn(dbn, train, output, args):
    """Whether the machines have learnt all the epochs that they were to learn."""
    callbacks = [
        [
            Log(output / f"log_{level}.jsonl", args.hours),
            keras.callbacks.BackupAndRestore(output / f"backup_{level}", delete_checkpoint=False),
        ]
        for level in range(len(dbn.rbms))
    ]
    wanted = wanted_epochs(args)
    dbn.fit(train, epochs=wanted, batch_size=BATCH, callbacks=callbacks, tied=args.tied, verbose=0)
    return all(int(rbm.run.epochs) >= epochs for rbm, epochs in zip(dbn.rbms, wanted))


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
    found["test"]["importance"] = figures(dbn.log_likelihood(test, args.importance, lower, args.seed))
    return found


def table(lines):
    """The published bounds beside ours, as text."""
    head = "| network | log Z below (3 errors) | above | bound, test | training | by importance, test | published |"
    rows = [head, "|" + " --- |" * 7]
    for line in lines:
        below = line["log_partition"]
        low, high = ("−∞" if e is None else f"{below + e:.2f}" for e in line["interval_less_value"])
        bounds = [line["test"], line["train"], line["test"]["importance"]]
        cells = [f"{part['value']:.2f} ± {part['row_standard_error']:.2f}" for part in bounds]
        arguments = line["arguments"]
        known = arguments["widths"] == [500, 2000] and not arguments["persistent"] and PUBLISHED.get(arguments["steps"])
        published = ", ".join(f"{number:.2f}" for number in known) if known else "–"
        rows.append(
            f"| {line['model']}, {'+'.join(map(str, line['epochs']))} epochs | {below:.2f} ({low}, {high}) | "
            f"{line['log_partition_above']:.2f} ({line['starts_above']}) | {' | '.join(cells)} | {published} |"
        )
    return "\n".join(rows)


def main():
    args = parse()
    kind = f"{'p' if args.persistent else ''}cd{args.steps}{'_tied' if args.tied else ''}"
    name = f"{'-'.join(map(str, args.widths))}_{kind}"
    output = pathlib.Path(args.output or f"runs/dbn_mnist_{name}")
    if not args.table:
        data = ds.datasets.load(args.dataset, args.data_dir)
        train = data.train_and_valid.astype(np.uint8)
        output.mkdir(parents=True, exist_ok=True)
        dbn = network(train, args)
        finished = learn(dbn, train, output, args)
        dbn.save(output / "dbn.keras")
        drawn = dbn.sample(100, args.seed, steps=10_000, probabilities=True)
        ds.plots.save(ds.plots.samples(drawn, data.shape, title="p(v given h)"), output / "samples.png")
        line = {"model": name, "epochs": [int(rbm.run.epochs) for rbm in dbn.rbms], "arguments": vars(args)}
        line |= measured(dbn, train, data.test, args)
        append(output / ("results.jsonl" if finished else "unfinished.jsonl"), line)
        print(table([line]) if finished else f"cut short by --hours\n{table([line])}", flush=True)
    path = output / "results.jsonl"
    print(table(map(json.loads, path.read_text().splitlines() if path.exists() else ())))


if __name__ == "__main__":
    main()
