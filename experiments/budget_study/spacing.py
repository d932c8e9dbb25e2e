"""What samples closer together are worth to averages: a table of docs/study_appendix.md.

    python -m experiments.budget_study --dataset bbc --architecture "DARN/DARN 50" --seconds 150
    python -m experiments.budget_study.spacing runs/budget_study --record docs/spacing.jsonl
    python -m experiments.budget_study.spacing --table docs/spacing.jsonl --page docs/study_appendix.md

The draws of finished runs, and every fourth of them, are averaged to "weights" and "units", on the same test rows, by
importance samples. The autocorrelation is that from one draw to the next, a mean over the weights. What is on record is
not made again.
"""

import pathlib

import numpy as np

import tfdsmcmc as ds
from experiments.common import files, marked_page
from experiments.common.arguments import number as count
from experiments.common.arguments import parser_of
from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error
from experiments.common.rows import random_rows

COMMAND = "experiments.budget_study.spacing"
AVERAGES, EVERY = ("weights", "units"), 4
HEAD = ("data", "model", "seed", "updates apart", "draws", "autocorrelation", "gain of weights", "gain of units")


def measured(about, folder, args):
    """Of a run's draws how far apart and how many they are, their autocorrelation, and the rows' log-likelihoods."""
    data = ds.datasets.load(about["dataset"].split("[")[0], args.data_dir)  # "[:400]" is of the training rows
    x = random_rows(data.test, args.test_rows, seed=0)
    model = ds.models.from_name(about["architecture"], x.shape[1])
    posterior = ds.posterior.load(folder / "posterior")
    steps = sorted({sample.step for sample in posterior.samples})
    rows = {}
    for name, part in {"all": posterior, "some": posterior.thin(EVERY)}.items():
        for average in AVERAGES:
            found = part.log_likelihood(model, x, args.test_samples, average=average).value
            rows[f"{average} {name}"] = np.round(found, 3).tolist()
    about = {"apart": float(np.median(np.diff(steps))), "draws": len(steps)}
    return {**about, "autocorrelation": round(autocorrelation(posterior.chain(0)), 3), "rows": rows}


def autocorrelation(posterior):
    """From one draw of a chain to the next: the mean over the weights that move."""
    found = []
    for values in zip(*(sample.theta for sample in posterior.samples), strict=True):
        moved = np.stack(values) - np.mean(values, 0)
        moved = moved[:, (moved**2).sum(0) > 0]
        found.append((moved[1:] * moved[:-1]).sum(0) / (moved**2).sum(0))
    return float(np.mean(np.concatenate(found)))


def record(args):
    """Adds what is not on record."""
    lines = files.lines(args.record)
    for file in sorted(args.runs.glob("*/result.json")):
        about = files.read_json(file)
        if about["annealing_steps"] or about["name"] in {line["name"] for line in lines}:
            continue
        own = {name: about[name] for name in ("name", "dataset", "architecture", "chains", "budget", "seed")}
        lines.append({**own, **measured(about, file.parent, args)})
        files.write_lines(args.record, lines)
        print(about["name"], {name: round(float(np.mean(v)), 2) for name, v in lines[-1]["rows"].items()}, flush=True)


def made(lines):
    """The table of what is on record: all draws less every fourth."""
    cells = []
    for line in sorted(lines, key=lambda line: (line["architecture"], line["dataset"], line["seed"])):
        rows = {name: np.array(values) for name, values in line["rows"].items()}
        gains = (mean_and_error(rows[f"{average} all"] - rows[f"{average} some"]) for average in AVERAGES)
        about = line["dataset"], line["architecture"], line["seed"], f"{line['apart']:g}", line["draws"]
        cells.append([*about, number(line["autocorrelation"]), *gains])
    return "\n".join(table(HEAD, cells)) + "\n"


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("runs", nargs="?", type=pathlib.Path, help="folder of finished runs, with --record")
    add("--data-dir")
    add("--test-rows", type=count(int), default=300)
    add("--test-samples", type=count(int), default=500)
    add("--record", type=pathlib.Path, help="file that what is measured is added to")
    add("--table", type=pathlib.Path, help="print the table of such a file")
    add("--page", type=pathlib.Path, help="with --table: the page that has it")
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    if (args.record is None) == (args.table is None) or (args.record is not None and args.runs is None):
        raise SystemExit("One of the two: RUNS --record FILE, or --table FILE")
    if args.record is not None:
        return record(args)
    marked_page.show(made(files.lines(files.checked_record(args.table))), args.page, COMMAND)


if __name__ == "__main__":
    main()
