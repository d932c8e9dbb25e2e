"""A deep belief network on fixed binarized MNIST: greedy learning, and a bound of its log-likelihood with its errors.

    python recipes/dbn_mnist.py --widths 500 2000 --steps 25
    python recipes/dbn_mnist.py --lowest "runs/rbm_mnist/PCD1(500)/rbm.keras" --persistent --steps 1 --tied --epochs 50
    python recipes/dbn_mnist.py --table

The machines learn one after the other from training and validation rows together, as those of rbm_mnist.py do, or the
lowest is one of these; the published networks of 500 and 2,000 hidden units are DBN-CD1, DBN-CD3 and DBN-CD25. With
persistent chains the rate rises in the first epoch, while the chains find the machine, and falls to 0 as a cosine.
With --fine-tune all layers learn together in the end, by contrastive wake-sleep. A run can be interrupted and started
again with the same arguments: it goes on where it was, and what is finished is not run again. Other arguments are
refused: they need another --output. It leaves there

    arguments.json      what the network learns with
    log_LEVEL.jsonl     one line an epoch of each machine; log_fine_tuning.jsonl of all
    dbn.keras           the network
    samples.png         p(v given h) below the ends of long chains of the topmost machine
    results.jsonl       one line: the bound on test and training rows, an importance sampling estimate on test rows,
                        log Z of the topmost machine with its errors; of a network whose learning --hours has cut
                        short the line is in unfinished.jsonl
"""

import argparse
import pathlib

import keras
import numpy as np
import run_settings
import table_file
from boltzmann_machines import BATCH, DECAY, GROWN, machine_for, persistent_machine_for, rising
from rbm_mnist import Log, measured_already

import tfdsmcmc as ds

RATE = 0.03  # the largest, of machines with persistent chains
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
    add("--persistent", action="store_true", help="persistent chains")
    add("--decay", type=float, default=None, help=f"of W in each update, with these (default {DECAY})")
    add("--rate", type=float, default=None, help=f"the largest, with these (default {RATE})")
    add("--lowest", default=None, help="file of a machine that has learnt, such as those of rbm_mnist.py")
    add("--fine-tune", type=int, default=0, metavar="EPOCHS", help="of all layers together, in the end (default 0)")
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
    args = parser.parse_args()
    for name in ("decay", "rate"):
        if (value := getattr(args, name)) is not None and not args.persistent:
            parser.error(f"--{name} is of machines with --persistent. Received: --{name} {value}")
    return args


def name_of(args):
    kind = f"{'p' if args.persistent else ''}cd{args.steps}{'_tied' if args.tied else ''}"
    return f"{'-'.join(map(str, args.widths))}_{kind}{'_tuned' if args.fine_tune else ''}"


def settings_of(args):
    """What the network learns with."""
    own = ("widths", "steps", "tied", "persistent", "lowest", "fine_tune", "dataset", "seed")
    settings = {name: getattr(args, name) for name in own}
    if args.persistent:
        settings["decay"] = DECAY if args.decay is None else args.decay
        settings["rate"] = RATE if args.rate is None else args.rate
    grows = args.steps == GROWN and not args.persistent
    return settings | ({"every": args.every} if grows else {"epochs": args.epochs})


def network(train, args):
    """The compiled network, not yet learnt but for a lowest machine that has."""
    widths = [train.shape[1], *args.widths]
    if args.persistent:
        settings = settings_of(args)

        def machine(units, hidden, seed):
            rate = rising(settings["rate"], args.epochs, len(train))
            return persistent_machine_for(units, len(train), args.steps, hidden, rate, settings["decay"], seed)
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


def callbacks_of(part, output, args):
    """What logs a part of the run and backs it up."""
    backup = keras.callbacks.BackupAndRestore(output / f"backup_{part}", delete_checkpoint=False)
    return [Log(output / f"log_{part}.jsonl", args.hours), backup]


def learn(dbn, train, output, args):
    """Whether the network has learnt all the epochs that it was to learn."""
    callbacks = [callbacks_of(level, output, args) for level in range(len(dbn.rbms))]
    wanted = wanted_epochs(args)
    dbn.fit(train, epochs=wanted, batch_size=BATCH, callbacks=callbacks, tied=args.tied, verbose=0)
    if any(int(rbm.run.epochs) < epochs for rbm, epochs in zip(dbn.rbms, wanted)):
        return False
    if args.fine_tune:
        dbn.compile(steps_per_execution=100)
        callbacks = callbacks_of("fine_tuning", output, args)
        dbn.fine_tune(train, epochs=args.fine_tune, batch_size=BATCH, callbacks=callbacks, verbose=0)
    return not args.fine_tune or int(dbn.run.epochs) >= args.fine_tune


def figures(estimate):
    mean = estimate.mean()
    return {"value": float(mean), "standard_error": mean.standard_error, "row_standard_error": mean.row_standard_error}


def measured(dbn, train, test, args):
    """Every figure of the network; the path to log Z begins at the rates of the topmost machine's data."""
    lift = dbn.lift_to(len(dbn.rbms) - 1)
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


def label(line):
    """The first cell of a network's row."""
    arguments, epochs = line["arguments"], "+".join(map(str, line["epochs"]))
    about = [line["model"], f"{epochs} epochs"]
    if line.get("fine_tuning"):
        about.append(f"{line['fine_tuning']} of all layers")
    if arguments["persistent"]:
        names = ("rate", "decay")  # older lines have no rate
        about += [f"{name} {arguments[name]:g}" for name in names if name in arguments]
    if arguments["lowest"]:
        about.append(f"the lowest {arguments['lowest']}")
    return ", ".join(about)


def table(lines):
    """The published bounds beside ours, as text.

    Each ± is over rows alone: the error of log Z is the same for all rows, and in a column of its own. An estimate of
    log Z from below is too low on average, and a bound with it too high.
    """
    head = (
        "| network | log Z below (3 errors) | above | bound, test ± over rows, without the error of log Z; with log Z "
        "from below too high on average | training | by importance, test | published |"
    )
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
            f"| {label(line)} | {below:.2f} ({low}, {high}) | "
            f"{line['log_partition_above']:.2f} ({line['starts_above']}) | {' | '.join(cells)} | {published} |"
        )
    return "\n".join(rows)


def make(output, args):
    """Learns and measures the network and adds it to the results, unless they have it."""
    settings, results = settings_of(args), output / "results.jsonl"
    run_settings.note(output, settings)
    measuring = ("runs", "annealing_steps", "draws", "importance")
    arguments = settings | {name: getattr(args, name) for name in measuring}
    if measured_already(results, arguments):
        return
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = data.train_and_valid.astype(np.uint8)
    dbn = network(train, args)
    finished = learn(dbn, train, output, args)
    dbn.save(output / "dbn.keras")
    line = {"model": name_of(args), "epochs": [int(rbm.run.epochs) for rbm in dbn.rbms], "arguments": arguments}
    line["fine_tuning"] = int(dbn.run.epochs) if dbn.run else 0
    line |= measured(dbn, train, data.test, args)
    table_file.append(results if finished else output / "unfinished.jsonl", line)
    print(table([line]) if finished else f"cut short by --hours\n{table([line])}", flush=True)
    drawn = dbn.sample(100, args.seed, steps=10_000, probabilities=True)
    ds.plots.save(ds.plots.samples(drawn, data.shape, title="p(v given h)"), output / "samples.png")


def main():
    args = parse()
    output = pathlib.Path(args.output or f"runs/dbn_mnist_{name_of(args)}")
    if not args.table:
        run_settings.check(output, settings_of(args))
        with table_file.claimed(output / "backup_0") as mine:
            if mine:
                make(output, args)
            else:
                print(f"{output}: another process is at it", flush=True)
    print(table(table_file.lines(output / "results.jsonl")))


if __name__ == "__main__":
    main()
