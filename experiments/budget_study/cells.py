"""A cell of the study, of one seed: both learn, both are judged, and the figures are left in a folder."""

import pathlib

import tfdsmcmc as ds
from experiments.budget_study.judging import AVERAGES, estimated, stacked, with_halves
from experiments.budget_study.learning import optimizer, planned, sampler
from experiments.common import files, finished_runs
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model
from tfdsmcmc.posterior.choice import choose, preferred, write

KEPT = ("architecture", "prior", "annealing_steps", "temperature")


def run(args, seed):
    """Runs a cell, unless it is finished or another process is at it."""
    folder = folder_of(args, seed)
    with ds.files.claimed(folder) as mine:
        if not mine:
            print(f"{folder.name}: another process is at it", flush=True)
        elif not (folder / "result.json").exists():
            _run_here(args, seed, folder)


def folder_of(args, seed):
    """The folder of a cell, named by what it is of."""
    parts = _name(args), args.architecture, f"{args.seconds:g}", args.prior, f"T{args.temperature:g}", seed
    return pathlib.Path(args.output) / " ".join(map(str, parts)).replace("/", "-").replace(" ", "_")


def _run_here(args, seed, folder):
    data = ds.datasets.load(args.dataset, args.data_dir)
    if args.train_rows:
        data = data._replace(train=data.train[: args.train_rows])
    figures, rows = _learnt(args, seed, data, folder)
    about = {"name": folder.name, "budget": args.seconds, "seed": seed}
    about |= {**{key: getattr(args, key) for key in KEPT}, "dataset": _name(args)}
    means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
    finished_runs.leave(folder, {**about, **figures, "means": means}, rows)
    print(folder.name, figures, means, flush=True)


def _learnt(args, seed, data, folder):
    """A run of both; returns a dict of figures, and of the test rows' log-likelihoods by what they are of."""
    model, marks = optimizer(args, data, seed)
    epochs = planned(args, data, model, marks)
    own, figures = sampler(args, data, seed, epochs, folder / "posterior")
    x = random_rows(data.test, args.annealing_rows if args.annealing_steps else args.test_rows, seed=0)
    mark, weights = marks.at(figures["seconds"])
    model.set_weights(weights)
    rows = {"rws": estimated(args, model, x)}
    posterior = ds.posterior.load(folder / "posterior")
    for average in (*AVERAGES, *(["start"] if posterior.starts else [])):
        if average in (*args.averages, "start", *posterior.average.split("_and_")):
            rows[average] = estimated(args, own, x, posterior, average)
    rows = with_halves(rows)
    if args.stacking:
        rows["stacked"] = stacked(args, own, posterior, data.valid[:500], x)
    figures |= {"average": posterior.average, "samples": len(posterior.samples), "rws_seconds": round(mark)}
    figures |= {"rws_updates": marks.updates[[part[0] for part in marks.kept].index(mark)]}
    return figures, rows


def choose_again(args):
    """The finished samplers of the output choose their averages anew, by the same validation rows."""
    for file in sorted(pathlib.Path(args.output).glob("*/result.json")):
        folder, about = file.parent, files.read_json(file)
        name, _, count = about["dataset"].partition("[:")
        data = ds.datasets.load(name, args.data_dir)
        train = data.train[: int(count[:-1])] if count else data.train
        model = seeded_model(about["architecture"], train, about["seed"])
        posterior = ds.posterior.load(folder / "posterior")
        choice = choose(posterior, model, model.source("valid", data.valid[:500]), about["seed"])
        rows = with_halves(files.read_arrays(folder / "rows.npz"))
        known = {name: value for name, value in choice.values.items() if name in rows}  # what test rows were judged by
        choice = choice._replace(average=preferred(known))
        write(folder / "posterior", choice)
        means = {key: round(float(value.mean()), 3) for key, value in rows.items()}
        finished_runs.leave(folder, {**about, "average": choice.average, "means": means}, rows)
        print(folder.name, choice.average, choice.log_likelihoods, means, flush=True)


def _name(args):
    """What the rows are called that are learnt from."""
    return args.dataset if args.train_rows is None else f"{args.dataset}[:{args.train_rows}]"
