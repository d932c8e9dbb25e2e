"""All runs that are asked for, each in a folder of its own: what is finished is not run again."""

import pathlib

import tfdsmcmc as ds
from experiments.common import files, finished_runs
from experiments.sampler_study.runs import TooLittleTime, annealed, run, run_without_recognition
from experiments.sampler_study.settings import OPTIMIZERS, SAMPLERS, WITHOUT_RECOGNITION


def timed(setting, args):
    """Whether a setting has the time of the sampler of its seed."""
    return setting in WITHOUT_RECOGNITION or args.equal_time and setting in OPTIMIZERS


def folder_of(setting, args, seed):
    chains = f" {args.chains} chains" if args.chains and (setting in SAMPLERS or timed(setting, args)) else ""
    time = " equal time" if args.equal_time and setting in OPTIMIZERS else ""
    name = f"{args.dataset} {args.architecture} {setting} {seed} {args.updates}{chains}{time}"
    return pathlib.Path(args.output) / name.replace("/", "-").replace(" ", "_")


def time_of_sampler(args, seed):
    file = folder_of("sampler", args, seed) / "result.json"
    found = files.read_json(file)
    if "processor_seconds" not in found:
        raise SystemExit(f"The sampler's run in {file.parent} does not say its processor time: run it again")
    return found["processor_seconds"]


def study(args):
    """Runs what is not finished."""
    data = ds.datasets.load(args.dataset, args.data_dir)
    for seed in args.seeds:
        for setting in args.settings:
            folder = folder_of(setting, args, seed)
            if (folder / "result.json").exists():
                continue
            seconds = time_of_sampler(args, seed) if timed(setting, args) else None
            folder.mkdir(parents=True, exist_ok=True)
            try:
                if setting in WITHOUT_RECOGNITION:
                    figures, rows = run_without_recognition(setting, args, seed, data, folder, seconds), {}
                else:
                    figures, rows = run(setting, args, seed, data, folder, seconds)
            except TooLittleTime as error:
                print(folder.name, error, flush=True)
                continue
            about = {name: getattr(args, name) for name in ("dataset", "architecture", "updates", "test_samples")}
            means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
            about |= {"setting": setting, "seed": seed, "equal_time": seconds is not None}
            finished_runs.leave(folder, {**about, **figures, **means}, rows)
            print(folder.name, figures, means, flush=True)


def anneal(args):
    """Adds what annealing finds to the runs that are there."""
    data = ds.datasets.load(args.dataset, args.data_dir)
    for seed in args.seeds:
        for setting in args.settings:
            folder = folder_of(setting, args, seed)
            if not (folder / "result.json").exists():
                continue
            result = files.read_json(folder / "result.json")
            if result.get("annealed_rows") == args.annealing_rows:
                continue
            if setting in OPTIMIZERS and not (folder / "model.weights.h5").exists():
                print(folder.name, "kept no weights to anneal: remove it and run it again", flush=True)
                continue
            found = annealed(setting, args, data, folder)
            mean = round(float(found.mean()), 3)
            rows = {**files.read_arrays(folder / "rows.npz"), "annealed": found}
            finished_runs.leave(folder, {**result, "annealed": mean, "annealed_rows": args.annealing_rows}, rows)
            print(folder.name, "annealed", mean, flush=True)
