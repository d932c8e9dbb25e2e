"""Boltzmann machines on fixed binarized MNIST: the published table of partition functions and log-likelihoods, anew.

    python recipes/rbm_mnist.py --models "CD1(25)" "CD3(25)" "CD25(500)"
    python recipes/rbm_mnist.py --models "PCD1(500)" --epochs 300
    python recipes/rbm_mnist.py --table

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

import argparse
import os
import pathlib
import re
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import run_settings
import table_file
from boltzmann_machines import BATCH, DECAY, GROWN, machine_for, persistent_machine_for, rising, updates

import tfdsmcmc as ds

PERSISTENT_RATE = 0.15

# log Z, its estimate, and nats a row of test and training data by the exact log Z, where there is one, or the estimate
PUBLISHED = {
    "CD1(20)": (279.59, 279.57, -164.52, -164.89),
    "CD1(25)": (255.41, 256.52, -151.57, -152.35),
    "CD3(25)": (307.47, 307.63, -143.03, -143.94),
    "CD1(500)": (None, 350.15, -125.53, -122.86),
    "CD3(500)": (None, 280.09, -105.50, -102.81),
    "CD25(500)": (None, 451.28, -86.34, -83.10),
}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
    args = parser.parse_args()
    own = [name for name in args.models if not parts(name)[0]]
    given = [name for name in ("rate", "decay", "start") if getattr(args, name) is not None]
    if own and given and not args.table:
        parser.error(f"--{given[0]} is of PCDk(M) alone. Received: --models {' '.join(own)}")
    return args


def parts(name):
    """(whether the chains are persistent, k, M) of CDk(M) or PCDk(M)."""
    found = re.fullmatch(r"(P?)CD(\d+)\((\d+)\)", name)
    if not found:
        raise SystemExit(f"A machine is called CDk(M) or PCDk(M). Received: {name}")
    return bool(found[1]), int(found[2]), int(found[3])


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


class Log(keras.callbacks.Callback):
    """Appends a line an epoch to a file, and stops after some hours."""

    def __init__(self, path, hours):
        super().__init__()
        self.path, self.limit = path, hours

    def on_train_begin(self, logs=None):
        self.begun = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.monotonic() - self.begun
        table_file.append(self.path, {"epoch": epoch + 1, "seconds": round(seconds, 1), **logs})
        if self.limit is not None and seconds > 3600 * self.limit:
            self.model.stop_training = True


def learnt(settings, train, folder, args):
    """(the machine, the epochs of the one that it began at, those that it was to learn)."""
    persistent, steps, hidden_units = parts(settings["model"])
    epochs, before = settings.get("epochs", args.every * GROWN), 0
    if persistent:
        rate, start = settings["rate"], {"bias": ds.boltzmann.base_rates(train)}
        schedule = keras.optimizers.schedules.PolynomialDecay(rate, updates(epochs, len(train)), 0.0)
        if settings["start"]:
            begun = keras.saving.load_model(settings["start"])
            before, start = int(begun.run.epochs) if begun.run else 0, {"weights": begun.get_weights()}
            schedule = rising(rate, epochs, len(train))
        arguments = (steps, hidden_units, schedule, settings["decay"], args.seed)
        rbm = persistent_machine_for(train.shape[1], len(train), *arguments, **start)
    else:
        rbm = machine_for(train.shape[1], len(train), steps, hidden_units, args.every, args.seed)
    backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
    callbacks = [Log(folder / "log.jsonl", args.hours), backup]
    rbm.fit(train, batch_size=BATCH, epochs=epochs, callbacks=callbacks, verbose=0)
    rbm.save(folder / "rbm.keras")
    return rbm, before, epochs


def measured(rbm, train, test, args):
    """Every figure of a machine."""
    begun = time.monotonic()
    both = ds.boltzmann.sandwich(rbm, args.runs, args.annealing_steps, base=train, seed=args.seed)
    found = {"seconds_of_annealing": round(time.monotonic() - begun, 1), "starts_above": both.upper.starts}
    for side, bound in (("below", both.lower), ("above", both.upper)):
        found[side] = {
            "log_partition": bound.value,
            "one_error": [float(bound.value + np.log1p(k * bound.standard_error)) if k * bound.standard_error > -1
                          else None for k in (-1, 1)],
            "interval": [end if np.isfinite(end) else None for end in bound.interval],
            "standard_error": bound.standard_error,
            "effective_sample_size": bound.effective_sample_size,
            "largest_share": bound.largest_share,
        }  # fmt: skip
    if min(rbm.units, rbm.hidden_units) <= 25:
        found["exact"] = ds.boltzmann.exact_log_partition(rbm)
    for split, rows in (("train", train), ("test", test)):
        unnormalized = rbm.unnormalized_log_prob(rows)
        found[split] = {
            "unnormalized": float(unnormalized.mean()), "row_error": float(unnormalized.std() / len(rows) ** 0.5)
        }  # fmt: skip
    return found, both


def pictures(rbm, both, train, shape, folder, args):
    """Of log Z against steps, runs of a tenth and a hundredth of the steps as well."""
    save, seed = ds.plots.save, args.seed
    steps = [max(1, args.annealing_steps // 100), max(2, args.annealing_steps // 10)]
    shorter = [ds.boltzmann.sandwich(rbm, args.runs, count, base=train, seed=seed, chain_steps=1000) for count in steps]
    below, above = zip(*shorter, both)
    exact = ds.boltzmann.exact_log_partition(rbm) if min(rbm.units, rbm.hidden_units) <= 25 else None
    steps.append(args.annealing_steps)
    save(ds.plots.log_partitions(steps, below, above, exact), folder / "log_partition_steps.png")
    betas = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)
    seen = ds.boltzmann.annealed_chains(rbm, betas, 16, args.annealing_steps, base=train, seed=seed)
    save(ds.plots.chains(seen, betas, shape), folder / "chains.png")
    runs = len(both.lower.log_weights)
    counts = [*(n for n in (5, 10, 20, 50, 100, 200) if n < runs), runs]
    below, above = (
        [ds.boltzmann.LogPartition.of_weights(bound.log_weights[:n], direction=bound.direction) for n in counts]
        for bound in both
    )
    save(ds.plots.log_partitions(counts, below, above, label="annealing runs"), folder / "log_partition.png")
    save(ds.plots.features(rbm.kernel.numpy().T, shape, limit=100), folder / "features.png")
    drawn = rbm.sample(100, seed, steps=10_000, probabilities=True)
    save(ds.plots.samples(drawn, shape, title="p(v given h) after 10,000 steps"), folder / "samples.png")


def measured_already(path, arguments):
    """Whether a file has the results of these arguments."""
    return any(arguments.items() <= line.get("arguments", {}).items() for line in table_file.lines(path))


def finished(path):
    return {line["model"]: line for line in table_file.lines(path)}


def label(line):
    """The first cell of a machine's row."""
    epochs, arguments, cell = line["epochs"], line["arguments"], line["model"]
    if not parts(cell)[0]:
        return f"{cell}, {epochs} epochs"
    start = arguments.get("start")
    begun = f", from {line.get('epochs_before', '?')} epochs of {start}" if start else ""
    return f"{cell}, {epochs} epochs, decay {arguments['decay']:g}{begun}"


def table(lines):
    """The published figures beside ours, as text."""
    head = (
        "| model | log Z exact | below ± 3 errors | above | test ± over rows alone | train "
        "| published: log Z, estimate, test, train |"
    )
    rows = [head, "|" + " --- |" * 7]
    for name, line in lines.items():
        below, above = line["below"], line["above"]
        log_z = line.get("exact") or below["log_partition"]
        low, high = (f"{end:.2f}" if end is not None else "−∞" for end in below["interval"])
        splits = [line[split] for split in ("test", "train")]
        rates = [f"{split['unnormalized'] - log_z:.2f} ± {split['row_error']:.2f}" for split in splits]
        published = ", ".join("–" if number is None else f"{number:.2f}" for number in PUBLISHED.get(name, ()))
        exact = f"{line['exact']:.2f}" if "exact" in line else "–"
        rows.append(
            f"| {label(line)} | {exact} | {below['log_partition']:.2f} ({low}, {high}) | "
            f"{above['log_partition']:.2f} ({line['starts_above']}) | {' | '.join(rates)} | {published} |"
        )
    return "\n".join(rows)


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
    table_file.append(output / "results.jsonl" if epochs >= wanted else folder / "unfinished.jsonl", line)
    print(table({name: line}), flush=True)
    pictures(rbm, both, train, data.shape, folder, args)


def main():
    args = parse()
    output = pathlib.Path(args.output)
    if not args.table:
        for name in args.models:
            run_settings.check(output / name, settings_of(name, args))
        data = ds.datasets.load(args.dataset, args.data_dir)
        train = data.train_and_valid.astype(np.uint8)
        for name in args.models:
            with table_file.claimed(output / name / "backup") as mine:
                if mine:
                    make(name, train, data, output, args)
                else:
                    print(f"{name}: another process is at it", flush=True)
    print(table(finished(output / "results.jsonl")))


if __name__ == "__main__":
    main()
