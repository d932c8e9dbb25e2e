"""How the three averages over posterior samples rise with the number of draws: a figure and a table of docs/study.md.

    python -m experiments.budget_study --dataset dna --samples 200
    python -m experiments.budget_study.averages runs/budget_study --record docs/averages.jsonl
    python -m experiments.budget_study.averages --table docs/averages.jsonl --page docs/study.md
    python -m experiments.budget_study.averages --table docs/averages.jsonl --figure docs/averages.png

The first M draws of each chain of finished runs are averaged to "weights", "units" and "draws", on the same test rows,
by importance samples. What is on record is not made again.
"""

import pathlib

import numpy as np
from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.budget_study import afterwards
from experiments.budget_study.arguments import check, parser
from experiments.budget_study.judging import AVERAGES
from experiments.common import files, marked_page
from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error

COMMAND = "experiments.budget_study.averages"
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200)
HEAD = ("data", "model", "budget, s", "chains", "draws", "weights", "units less weights", "draws less weights")


def measured(about, folder, args):
    """{"rows": the test rows' log-likelihoods}, a dictionary from "AVERAGE M" to a list."""
    (x, model, posterior), found = afterwards.left(about, folder, args), {}
    each = min(posterior.chain_numbers.count(chain) for chain in set(posterior.chain_numbers))
    for count in [count for count in COUNTS if count <= each]:
        for average in AVERAGES:
            samples = args.test_samples // (5 if average == "draws" else 1)
            value = posterior[:count].log_likelihood(model, x, samples, average=average).value
            found[f"{average} {count}"] = np.round(value, 3).tolist()
    return {"rows": found}


def tables(lines):
    """The table of what is on record, at the most draws that each run has."""
    cells = []
    for line in sorted(lines, key=lambda line: (line["architecture"], line["dataset"], line["budget"], line["seed"])):
        rows = {name: np.array(values) for name, values in line["rows"].items()}
        most = max(int(name.split()[1]) for name in rows)
        weights, units, draws = (rows[f"{average} {most}"] for average in AVERAGES)
        about = line["dataset"], line["architecture"], f"{line['budget']:g}", line["chains"], most
        cells.append([*about, number(weights.mean()), mean_and_error(units - weights), mean_and_error(draws - weights)])
    return "\n".join(table(HEAD, cells)) + "\n"


def draw(lines, path):
    """A panel for each data set and model: log-likelihoods against the draws of a chain."""
    lines = sorted(lines, key=lambda line: (line["dataset"], line["architecture"], line["budget"]))
    several = len({line["budget"] for line in lines}) > 1
    columns = min(4, len(lines))
    shape = -(-len(lines) // columns), columns
    drawn = Figure(figsize=(3.2 * columns, 2.6 * shape[0]), layout="constrained")
    axes = drawn.subplots(*shape, squeeze=False)
    for panel, line in zip(axes.flat, lines):
        for average, marker in zip(AVERAGES, "os^"):
            counts = sorted(int(name.split()[1]) for name in line["rows"] if name.startswith(average))
            panel.plot(counts, [np.mean(line["rows"][f"{average} {m}"]) for m in counts], marker=marker, label=average)
        panel.set_xscale("log")
        budget = f", {line['budget']:g} s" if several else ""
        model = line["architecture"].split("/")[-1]
        panel.set_title(f"{line['dataset'].replace('_silhouettes_28', '')}, {model}{budget}", fontsize=9)
    for panel in axes.flat[len(lines) :]:
        panel.axis("off")
    axes.flat[0].legend()
    drawn.supxlabel("draws of each chain")
    drawn.supylabel("nats a test row")
    ds.plots.save(drawn, path)


def parse(arguments=None):
    found = parser(COMMAND, __doc__)
    found.add_argument("--figure", type=pathlib.Path, help="with --table: the figure to draw")
    return found.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    check(args)
    if args.record is not None:
        return afterwards.record(args, measured)
    lines = files.lines(files.checked_record(args.table))
    if args.figure is not None:
        draw(lines, args.figure)
    marked_page.show(tables(lines), args.page, COMMAND)


if __name__ == "__main__":
    main()
