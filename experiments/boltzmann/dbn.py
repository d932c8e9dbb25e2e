"""A deep belief network on fixed binarized MNIST: greedy learning, and a bound of its log-likelihood with its errors.

    python -m experiments.boltzmann.dbn --widths 500 2000 --steps 25
    python -m experiments.boltzmann.dbn --lowest "runs/rbm_mnist/PCD1(500)/rbm.keras" --persistent --steps 1 --tied
    python -m experiments.boltzmann.dbn --table

The machines learn one after the other from training and validation rows together, as those of
`experiments.boltzmann.rbm` do, or the lowest is one of these; the published networks of 500 and 2,000 hidden units are
DBN-CD1, DBN-CD3 and DBN-CD25. With persistent chains the rate rises in the first epoch, while the chains find the
machine, and falls to 0 as a cosine.
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

import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.boltzmann.dbn_results import measured
from experiments.boltzmann.dbn_table import table
from experiments.boltzmann.machines import BATCH, DECAY, GROWN, machine_for, persistent_machine_for, rising
from experiments.boltzmann.results import measured_already
from experiments.common import files, run_settings
from experiments.common.arguments import parser_of
from experiments.common.epoch_log import EpochLog

RATE = 0.03  # the largest, of machines with persistent chains


def parse(arguments=None):
    parser = parser_of("experiments.boltzmann.dbn", __doc__)
    add = parser.add_argument
    add("--widths", type=int, nargs="+", default=[500, 2000], help="hidden units, bottom first (default 500 2000)")
    add("--steps", type=int, default=25, help=f"of contrastive divergence; {GROWN} are grown to (default)")
    add("--epochs", type=int, default=100, help="of each machine, where steps do not grow (default 100)")
    add("--every", type=int, default=20, help="epochs between two growths of the steps (default 20: 500 epochs)")
    add("--tied", action="store_true", help="each machine begins as the one below upside down: widths must allow it")
    add("--persistent", action="store_true", help="persistent chains")
    add("--decay", type=float, default=None, help=f"of W in each update, with these (default {DECAY})")
    add("--rate", type=float, default=None, help=f"the largest, with these (default {RATE})")
    add("--lowest", default=None, help="file of a machine that has learnt, such as those of experiments.boltzmann.rbm")
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
    args = parser.parse_args(arguments)
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
            return persistent_machine_for(
                units, len(train), args.steps, hidden, rate=rate, decay=settings["decay"], seed=seed
            )
    else:

        def machine(units, hidden, seed):
            return machine_for(units, len(train), args.steps, hidden, every=args.every, seed=seed)

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
    return [EpochLog(output / f"log_{part}.jsonl", args.hours), backup]


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
    files.append(results if finished else output / "unfinished.jsonl", line)
    print(table([line]) if finished else f"cut short by --hours\n{table([line])}", flush=True)
    drawn = dbn.sample(100, args.seed, steps=10_000, probabilities=True)
    ds.plots.save(ds.plots.samples(drawn, data.shape, title="p(v given h)"), output / "samples.png")


def main(arguments=None):
    args = parse(arguments)
    output = pathlib.Path(args.output or f"runs/dbn_mnist_{name_of(args)}")
    if not args.table:
        run_settings.check(output, settings_of(args))
        with ds.files.claimed(output / "backup_0") as mine:
            if mine:
                make(output, args)
            else:
                print(f"{output}: another process is at it", flush=True)
    print(table(files.lines(output / "results.jsonl")))


if __name__ == "__main__":
    main()
