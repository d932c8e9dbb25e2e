"""A table of test log-likelihoods on one dataset: each row a method and an architecture.

    python recipes/table.py --dataset digits --architectures "SBN/SBN 100-50" "VAE 50"
    python recipes/table.py --dataset ocr_letters --methods dsgnht_nais rws --architectures "SBN/SBN 200" --minutes 10

A method is one of `tfdsmcmc.methods`, an architecture a name for `tfdsmcmc.models.from_name`; vae and iwae learn the
architectures of kind VAE, the other methods the rest. Every row has the same budget of updates and of minutes of
learning, and ends when either is spent. It leaves in --output

    results.jsonl    one line a finished row
    table.md         the table, with published figures of the dataset below, where there are any

The run can be interrupted and started again: a finished row with the same settings is not learnt again, and a row in
progress goes on where it was.

Samplers have the default prior; their posterior samples are of the second half of the run, and the recognition network
is fitted again to the mean of the weights. Those that draw z by Gibbs sampling do not teach it at all while they learn:
there it is fitted to the last weights too. The other methods climb the likelihood, with a flat prior; validation data
choose among ten of their weights.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import platform
import re
import shutil
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import table_row
import tensorflow as tf
import tensorflow_probability as tfp
from published import PUBLISHED

import tfdsmcmc as ds

METHODS = (*table_row.SAMPLERS, *table_row.CLIMBERS)
ESTIMATORS = {
    "last": "last weights",
    "best": "best on validation",
    "mean": "mean of weights",
    "predictive": "predictive average",
}
_COMMON = (
    "dataset binarization seed updates minutes batch_size samples adam hidden_units test_samples test_rows jit_compile"
)
_OF_SAMPLERS = "learning_rate posterior_samples refit_updates"


def positive(kind):
    """A type of argument: numbers above 0."""

    def parsed(text):
        number = kind(text)
        if not 0 < number < math.inf:
            raise argparse.ArgumentTypeError(f"must be above 0. Received: {text}")
        return number

    return parsed


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, count, amount = parser.add_argument, positive(int), positive(float)
    add("--dataset", default="digits", help=f"one of {', '.join(ds.datasets.names())}, or NAME.npz of your own")
    add("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD", help=f"of {', '.join(METHODS)}")
    add("--architectures", nargs="+", default=["SBN/SBN 100-50", "VAE 50"], metavar="NAME")
    add("--hidden-units", type=count, default=200, help="of NADE and VAE layers (default 200)")
    add("--updates", type=count, default=5000, help="at most, rounded up to rounds of 50 (default 5000)")
    add("--minutes", type=amount, default=4.0, help="at most, of learning, a row (default 4)")
    add("--batch-size", type=count, default=100)
    add("--learning-rate", type=amount, default=0.1, help="of the samplers' kernels (default 0.1)")
    add("--adam", type=amount, default=1e-3, help="learning rate of the optimizers, of φ and of θ (default 0.001)")
    add("--samples", type=count, default=None, help="K in learning; default that of the method")
    add("--posterior-samples", type=count, default=20)
    add("--refit-updates", type=count, default=2000, help="of φ alone, before an evaluation (default 2000)")
    add("--test-samples", type=count, default=1000, help="importance samples a row in the test (default 1000)")
    add("--test-rows", type=count, default=None, help="random rows of the test set to evaluate (default all)")
    add("--binarization", choices=["dynamic", "threshold"], default="dynamic", help="of grey data (default dynamic)")
    add("--data-dir", default=None, help="folder of packed datasets; default $TFDSMCMC_DATA, the Keras cache")
    add("--seed", type=int, default=0)
    add("--no-jit", dest="jit_compile", action="store_false", help="do not compile with XLA")
    add("--output", default=None, help="default runs/table/DATASET")
    return parser.parse_args(arguments)


def rows_of(methods, architectures):
    """The pairs (method, architecture) that suit each other."""
    rows = []
    for architecture in architectures:
        continuous = architecture.strip().startswith("VAE")
        rows += [(method, architecture) for method in methods if (method in table_row.CONTINUOUS) == continuous]
    if not rows:
        raise ValueError(
            "vae and iwae learn the architectures of kind VAE, the other methods the rest. "
            f"Received: methods={list(methods)}, architectures={list(architectures)}"
        )
    return rows


def settings_of(method, args):
    """What the result of a row depends on, besides its method and architecture."""
    names = _COMMON.split() + (_OF_SAMPLERS.split() if method in table_row.SAMPLERS else [])
    return {name: getattr(args, name) for name in names}


def key_of(method, architecture, settings):
    """A string that two rows share if and only if one stands for the other."""
    return json.dumps([method, architecture, settings], sort_keys=True)


def finished(path):
    """The rows in the file, a dict from their keys; a line that was cut off is as if it were not there."""
    rows = {}
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
            rows[key_of(row["method"], row["architecture"], row["settings"])] = row
        except (ValueError, KeyError, TypeError):
            continue
    return rows


def append(path, row):
    """Adds a row to the file; it is on the disk when this returns."""
    cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
    with open(path, "a") as file:
        file.write("\n" * cut_off + json.dumps(row) + "\n")
        file.flush()
        os.fsync(file.fileno())


def folder_of(output, method, architecture, settings):
    """The folder of a row in progress, with what an interrupted run left to go on from."""
    name = re.sub("[^A-Za-z0-9]+", "-", f"{method} {architecture}")
    digest = hashlib.sha256(key_of(method, architecture, settings).encode()).hexdigest()[:8]
    folder = output / "in_progress" / f"{name}-{digest}"
    if not (folder / "backup" / "training_metadata.json").exists():
        shutil.rmtree(folder, ignore_errors=True)  # what was left before the first backup belongs to no chain
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make(method, architecture, settings, data, output):
    """Learns and evaluates a row, and adds it to the results."""
    folder = folder_of(output, method, architecture, settings)
    named = {name: settings[name] for name in ("dataset", "binarization", "seed")}
    row = {"method": method, "architecture": architecture, **named}
    row |= table_row.run(method, architecture, settings, data, folder)
    append(output / "results.jsonl", row | {"settings": settings, "versions": versions()})
    shutil.rmtree(folder)


def versions():
    """The packages that the figures were made with."""
    packages = {"tfdsmcmc": ds, "tensorflow": tf, "keras": keras, "tensorflow_probability": tfp, "numpy": np}
    return {"python": platform.python_version(), **{name: module.__version__ for name, module in packages.items()}}


def markdown(rows, args):
    """The table of finished rows, and the published figures of the dataset."""
    header = ["method", "architecture", "updates", "minutes", *ESTIMATORS.values(), "effective samples"]
    lines = [
        f"# {args.dataset}",
        "",
        f"Test log-likelihood, nats a row ± error over the rows; importance sampling, K = {args.test_samples:,} "
        f"({max(1, args.test_samples // 10):,} for each posterior sample of the predictive average). It understates "
        "all of them, the more the fewer the effective samples, which stand in the order of the figures.",
        "",
        *_lines(header, [_cells(row) for row in rows]),
    ]
    if any(row["method"] in table_row.SAMPLERS for row in rows):
        note = f"Before the mean of the weights is evaluated, {args.refit_updates:,} updates fit φ to it. "
        note += "\\* φ did not learn beside the weights: it was fitted to the last ones likewise, "
        lines += ["", note + "and what fits the mean serves for all posterior samples."]
    if args.dataset in PUBLISHED:
        published = [[p.model, _number(p.log_likelihood), p.source] for p in PUBLISHED[args.dataset]]
        lines += ["", "## Published", "", *_lines(["model", "log-likelihood", "source"], published)]
    return "\n".join(lines) + "\n"


def _cells(row):
    found = [row["log_likelihood"].get(name) for name in ESTIMATORS]
    return [
        row["method"] + (" \\*" if row["method"] in table_row.GIBBS else ""),
        row["architecture"],
        f"{row['updates']:,}",
        f"{row['wall_time_seconds'] / 60:.1f}",
        *["–" if f is None else f"{_number(f['value'])} ± {_number(f['row_standard_error'])}" for f in found],
        ", ".join(_number(f["effective_sample_size"], 0) for f in found if f is not None),
    ]


def _number(value, digits=2):
    return "not finite" if value is None else f"{value:.{digits}f}".replace("-", "−")


def _lines(header, rows):
    return ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *rows)]


def main(arguments=None):
    args = parse(arguments)
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # the table says it
    wanted = rows_of(args.methods, args.architectures)
    data = ds.datasets.load(args.dataset, args.data_dir, binarization=args.binarization, seed=args.seed)
    for architecture in args.architectures:
        ds.models.from_name(architecture, units=data.train.shape[1])  # a wrong name is told before any row is learnt
    output = pathlib.Path(args.output or f"runs/table/{args.dataset}")
    output.mkdir(parents=True, exist_ok=True)
    for number, (method, architecture) in enumerate(wanted, 1):
        settings = settings_of(method, args)
        if key_of(method, architecture, settings) not in finished(output / "results.jsonl"):
            print(f"row {number} of {len(wanted)}: {method}, {architecture}", flush=True)
            make(method, architecture, settings, data, output)
        rows = finished(output / "results.jsonl").values()
        text = markdown([row for row in rows if row["settings"] == settings_of(row["method"], args)], args)
        with ds.files.replacing(output / "table.md") as temporary:
            temporary.write_text(text)
    print(text)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")  # it takes the new programs of each row for an oversight
    main()
