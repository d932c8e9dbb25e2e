"""A cell of the study, of one seed: both learn, both are judged, and the figures are left in a folder."""

import argparse
import pathlib

import tfdsmcmc as ds
from experiments.budget_study.judging import AVERAGES, estimated, stacked, starts_of_each, with_halves
from experiments.budget_study.learning import optimizer, planned, sampler
from experiments.common import files, finished_runs
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model
from tfdsmcmc.posterior.choice import choose, preferred, write

KEPT = ("architecture", "prior", "annealing_steps", "temperature")
AGAIN = "_again"  # behind the name of a run whose sampler has learnt again
SCALES = "weight"  # what each scale of the sampler's prior is of; lines on record without it are of "unit"


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
    if args.again is None:
        about, rows = _learnt(args, seed, _data(args), folder)
    else:
        about, rows = _learnt_again(args, seed, _data(args), folder)
    means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
    finished_runs.leave(folder, {**about, "means": means}, rows)
    print(folder.name, about, means, flush=True)


def _data(args):
    """The data set, with the training rows that are asked for."""
    data = ds.datasets.load(args.dataset, args.data_dir)
    return data._replace(train=data.train[: args.train_rows]) if args.train_rows is not None else data


def _learnt(args, seed, data, folder):
    """A run of both; returns a dict of figures, and of the test rows' log-likelihoods by what they are of."""
    model, marks = optimizer(args, data, seed)
    epochs = planned(args, data, model, marks)
    own, figures = sampler(args, data, seed, epochs, folder / "posterior")
    x = random_rows(data.test, args.annealing_rows if args.annealing_steps else args.test_rows, seed=0)
    mark, weights = marks.at(figures["seconds"])
    model.set_weights(weights)
    choice, rows = _judged(args, own, folder, x, args.averages)
    rows = {"rws": estimated(args, model, x), **rows}
    if args.stacking:
        rows["stacked"] = stacked(args, own, ds.posterior.load(folder / "posterior"), data.valid[:500], x)
    about = {"name": folder.name, "budget": args.seconds, "seed": seed, "scales": SCALES}
    about |= {**{key: getattr(args, key) for key in KEPT}, "dataset": _name(args), **figures, **choice}
    about |= {"rws_seconds": round(mark), "rws_updates": marks.updates[[part[0] for part in marks.kept].index(mark)]}
    return about, rows


def _learnt_again(args, seed, data, folder):
    """The sampler of a run on record, with the defaults of now and as many updates, beside the recorded optimizer."""
    recorded = {run[0]["name"]: run for run in finished_runs.recorded(args.again)}
    if folder.name not in recorded:
        raise ValueError(f"The record has no such run. Received: {folder.name} of {args.again}")
    about, known = recorded[folder.name]
    args = argparse.Namespace(**{**vars(args), "annealing_steps": about["annealing_steps"]})
    epochs = about["updates"] // -(-len(data.train) // 100)  # of each chain: all of a run's take every step
    own, figures = sampler(args, data, seed, epochs, folder / "posterior")
    x = random_rows(data.test, len(known["rws"]), seed=0)
    choice, rows = _judged(args, own, folder, x, [name for name in args.averages if name in known])
    figures["seconds_here"] = figures.pop("seconds")  # those of the plan are beside the optimizer's
    figures["seconds_again"] = _seconds(recorded, folder.name) or figures["seconds_here"]
    about["name"] += AGAIN  # the earlier run stays on record
    return {**about, **figures, "scales": SCALES, **choice}, {"rws": known["rws"], **rows}


def _seconds(recorded, name):
    """The processor time of as many updates with the present prior where they are on record, else None: this machine
    may be another, or a shared one."""
    found = [recorded[key][0] for key in (name + AGAIN, name) if key in recorded]
    return next((seconds_of(run) for run in found if run.get("scales") == SCALES), None)


def seconds_of(about):
    """The seconds of processor time of a sampler; of one that learnt again those of the second time."""
    return about.get("seconds_again", about["seconds"])


def _judged(args, model, folder, x, averages):
    """(what was chosen, log-likelihoods of rows by each of these averages, by the start and by the chosen one)."""
    posterior = ds.posterior.load(folder / "posterior")
    chosen = posterior.average.split("_and_")
    wanted = [name for name in AVERAGES if name in averages or name in chosen] + ["start"] * bool(posterior.starts)
    choice = {"average": posterior.average, "samples": len(posterior.samples)}
    choice |= {"climbs": starts_of_each(posterior)} if posterior.starts else {}
    return choice, with_halves({name: estimated(args, model, x, posterior, name) for name in wanted}, posterior)


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
        rows = with_halves(files.read_arrays(folder / "rows.npz"), posterior)
        known = {name: value for name, value in choice.values.items() if name in rows}  # what test rows were judged by
        choice = choice._replace(average=preferred(known))
        write(folder / "posterior", choice)
        means = {key: round(float(value.mean()), 3) for key, value in rows.items()}
        finished_runs.leave(folder, {**about, "average": choice.average, "means": means}, rows)
        print(folder.name, choice.average, choice.log_likelihoods, means, flush=True)


def _name(args):
    """What the rows are called that are learnt from."""
    return args.dataset if args.train_rows is None else f"{args.dataset}[:{args.train_rows}]"
