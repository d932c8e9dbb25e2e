"""What is measured of finished runs afterwards: its options, what a run has left, and the record."""

import pathlib

import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import number, parser_of
from experiments.common.rows import random_rows


def parser(command, description):
    """The parser of a command that measures, or makes a table of what is on record."""
    found = parser_of(command, description)
    add = found.add_argument
    add("runs", nargs="?", type=pathlib.Path, help="folder of finished runs, with --record")
    add("--data-dir")
    add("--test-rows", type=number(int), default=300)
    add("--test-samples", type=number(int), default=500)
    add("--record", type=pathlib.Path, help="file that what is measured is added to")
    add("--table", type=pathlib.Path, help="print the table of such a file")
    add("--page", type=pathlib.Path, help="with --table: the page that has it")
    return found


def check(args):
    """Ends a command that is told neither what to measure nor of which record to make a table, or both."""
    if (args.record is None) == (args.table is None) or (args.record is not None and args.runs is None):
        raise SystemExit("One of the two: RUNS --record FILE, or --table FILE")


def left(about, folder, args):
    """(random test rows, a model of the architecture, the posterior) of a finished run."""
    data = ds.datasets.load(about["dataset"].split("[")[0], args.data_dir)  # "[:400]" is of the training rows
    x = random_rows(data.test, args.test_rows, seed=0)
    return x, ds.models.from_name(about["architecture"], x.shape[1]), ds.posterior.load(folder / "posterior")


def record(args, measured):
    """Adds what is not on record; `measured` is a function of (dict of figures, folder, args) that returns a dict."""
    lines = files.lines(args.record)
    for file in sorted(args.runs.glob("*/result.json")):
        about = files.read_json(file)
        if about["annealing_steps"] or about["name"] in {line["name"] for line in lines}:
            continue
        own = {name: about[name] for name in ("name", "dataset", "architecture", "chains", "budget", "seed")}
        lines.append({**own, **measured(about, file.parent, args)})
        files.write_lines(args.record, lines)
        print(about["name"], {name: round(float(np.mean(v)), 2) for name, v in lines[-1]["rows"].items()}, flush=True)
