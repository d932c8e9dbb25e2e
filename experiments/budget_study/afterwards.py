"""What is measured of finished runs afterwards: what a run has left, and the record."""

import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.rows import random_rows


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
