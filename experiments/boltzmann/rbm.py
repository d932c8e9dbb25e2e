"""Boltzmann machines on fixed binarized MNIST: the published table of partition functions and log-likelihoods, anew.

    python -m experiments.boltzmann.rbm --models "CD1(25)" "CD3(25)" "CD25(500)"
    python -m experiments.boltzmann.rbm --models "PCD1(500)" --epochs 300
    python -m experiments.boltzmann.rbm --table

CDk(M) is a machine of M hidden units that has learnt by contrastive divergence with k steps, from training and
validation rows together; with 25 the steps grow from 1 to 25 in the course of learning, and the rate falls as 1/steps.
PCDk(M), of which nothing is published, has persistent chains of k steps in each update, visible biases that begin at
the rates of the data, no momentum, and a rate that falls to 0 along a line. It can begin at a machine that has learnt,
--start, with another --decay of the weights and another --rate, which rises in the first epoch, while the chains find
the machine, and falls to 0 as a cosine.
log Z is estimated by annealing from below and from above, and enumerated where there are at most 25 hidden units. Rates
and the rest of what learning needs are not published; those here are of the program that its authors made public, with
one momentum throughout and a smaller first rate in place of a smaller first momentum.

A run can be interrupted and started again with the same arguments: it goes on where it was, and what is finished is not
run again. Other arguments for a machine of the same name are refused: they need another --output. It leaves there

    NAME/arguments.json what the machine learns with
    NAME/log.jsonl      one line an epoch
    NAME/rbm.keras      the machine
    NAME/*.png          features, samples, annealing runs on their way, log Z from both sides against runs and steps
    results.jsonl       one line a finished machine
"""

import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.boltzmann.machines import BATCH, DECAY, GROWN, machine_for, persistent_machine_for, rising, updates
from experiments.boltzmann.rbm_results import measured, pictures
from experiments.boltzmann.rbm_table import PUBLISHED, finished, parts, table
from experiments.boltzmann.results import measured_already
from experiments.common import files, run_settings
from experiments.common.arguments import parser_of
from experiments.common.epoch_log import EpochLog

PERSISTENT_RATE = 0.15


def parse(arguments=None):
    parser = parser_of("experiments.boltzmann.rbm", __doc__)
    add = parser.add_argument
    add("--models", nargs="+", default=list(PUBLISHED), help=f"CDk(M) or PCDk(M), by default {' '.join(PUBLISHED)}")
    add("--epochs", type=int, default=100, help="of 600 steps, of machines whose steps do not grow (default 100)")
    add("--every", type=int, default=20, help="epochs between two growths of the steps (default 20: 500 epochs)")
    add("--rate", type=float, default=None, help=f"the largest, of PCDk(M) (default {PERSISTENT_RATE})")
    add("--decay", type=float, default=None, help=f"of W in each update, of PCDk(M) (default {DECAY})")
    add("--start", default=None, help="file of a machine at whose weights PCDk(M) begins")
    add("--runs", type=int, default=100, help="annealing runs (default 100)")
    add("--annealing-steps", type=int, default=14_500)
    add("--hours", type=float, default=None, help="stop learning after this many hours, in this call")
    add("--dataset", default="binarized_mnist")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default="runs/rbm_mnist")
    add("--seed", type=int, default=0)
    add("--table", action="store_true", help="print the table of what is finished, and nothing else")
    args = parser.parse_args(arguments)
    own = [name for name in args.models if not parts(name)[0]]
    given = [name for name in ("rate", "decay", "start") if getattr(args, name) is not None]
    if own and given and not args.table:
        parser.error(f"--{given[0]} is of PCDk(M) alone. Received: --models {' '.join(own)}")
    return args


def settings_of(name, args):
    """What a machine learns with."""
    persistent, steps, _ = parts(name)
    if persistent:
        rate, decay = (given if given is not None else own for given, own in
                       ((args.rate, PERSISTENT_RATE), (args.decay, DECAY)))  # fmt: skip
        learning = {"epochs": args.epochs, "rate": rate, "decay": decay, "start": args.start}
    else:
        learning = {"every": args.every} if steps == GROWN else {"epochs": args.epochs}
    return {"model": name, "dataset": args.dataset, "seed": args.seed, **learning}


def machine_of(settings, train, args):
    """(the machine, not yet learnt; the epochs of the one that it begins at)."""
    persistent, steps, hidden_units = parts(settings["model"])
    if not persistent:
        return machine_for(train.shape[1], len(train), steps, hidden_units, every=args.every, seed=args.seed), 0
    rate, epochs, before, weights, bias = settings["rate"], settings["epochs"], 0, None, None
    if settings["start"]:
        begun = keras.saving.load_model(settings["start"])
        before, weights = int(begun.run.epochs) if begun.run else 0, begun.get_weights()
        schedule = rising(rate, epochs, len(train))
    else:
        bias = ds.boltzmann.base_rates(train)
        schedule = keras.optimizers.schedules.PolynomialDecay(rate, updates(epochs, len(train)), 0.0)
    machine = persistent_machine_for(
        train.shape[1],
        len(train),
        steps,
        hidden_units,
        rate=schedule,
        decay=settings["decay"],
        seed=args.seed,
        weights=weights,
        bias=bias,
    )
    return machine, before


def learnt(settings, train, folder, args):
    """(the machine, the epochs of the one that it began at, those that it was to learn)."""
    epochs = settings.get("epochs", args.every * GROWN)
    rbm, before = machine_of(settings, train, args)
    backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
    callbacks = [EpochLog(folder / "log.jsonl", args.hours), backup]
    rbm.fit(train, batch_size=BATCH, epochs=epochs, callbacks=callbacks, verbose=0)
    rbm.save(folder / "rbm.keras")
    return rbm, before, epochs


def make(name, train, data, output, args):
    """Learns and measures a machine and adds it to the results, unless they have it."""
    folder, settings = output / name, settings_of(name, args)
    run_settings.note(folder, settings)
    arguments = {**settings, "runs": args.runs, "annealing_steps": args.annealing_steps}
    if measured_already(output / "results.jsonl", arguments):
        return
    rbm, before, wanted = learnt(settings, train, folder, args)
    epochs = int(rbm.run.epochs)
    found, both = measured(rbm, train, data.test, args)
    line = {"model": name, "epochs": epochs, "epochs_before": before, "arguments": arguments, **found}
    # what a limit of hours has cut short is shown, and goes on in the next call
    files.append(output / "results.jsonl" if epochs >= wanted else folder / "unfinished.jsonl", line)
    print(table({name: line}), flush=True)
    pictures(rbm, both, train, data.shape, folder, args)


def main(arguments=None):
    args = parse(arguments)
    output = pathlib.Path(args.output)
    if not args.table:
        for name in args.models:
            run_settings.check(output / name, settings_of(name, args))
        data = ds.datasets.load(args.dataset, args.data_dir)
        train = data.train_and_valid.astype(np.uint8)
        for name in args.models:
            with ds.files.claimed(output / name / "backup") as mine:
                if mine:
                    make(name, train, data, output, args)
                else:
                    print(f"{name}: another process is at it", flush=True)
    print(table(finished(output / "results.jsonl")))


if __name__ == "__main__":
    main()
