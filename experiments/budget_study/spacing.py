"""What samples closer together are worth to averages: a table of docs/study_appendix.md.

    python -m experiments.budget_study --dataset bbc --architecture "DARN/DARN 50" --seconds 150
    python -m experiments.budget_study.spacing runs/budget_study --record docs/spacing.jsonl
    python -m experiments.budget_study.spacing --table docs/spacing.jsonl --page docs/study_appendix.md

The draws of finished runs, and every fourth of them, are averaged to "weights" and "units", on the same test rows, by
importance samples. The autocorrelation is that from one draw to the next, a mean over the weights. What is on record is
not made again.
"""

import numpy as np

from experiments.budget_study import afterwards
from experiments.budget_study.arguments import check, parser
from experiments.common import files, marked_page
from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error

COMMAND = "experiments.budget_study.spacing"
AVERAGES, EVERY = ("weights", "units"), 4
HEAD = ("data", "model", "seed", "updates apart", "draws", "autocorrelation", "gain of weights", "gain of units")


def measured(about, folder, args):
    """Of a run's draws how far apart and how many they are, their autocorrelation, and the rows' log-likelihoods."""
    x, model, posterior = afterwards.left(about, folder, args)
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


def made(lines):
    """The table of what is on record: all draws less every fourth."""
    cells = []
    for line in sorted(lines, key=lambda line: (line["architecture"], line["dataset"], line["seed"])):
        rows = {name: np.array(values) for name, values in line["rows"].items()}
        gains = (mean_and_error(rows[f"{average} all"] - rows[f"{average} some"]) for average in AVERAGES)
        about = line["dataset"], line["architecture"], line["seed"], f"{line['apart']:g}", line["draws"]
        cells.append([*about, number(line["autocorrelation"]), *gains])
    return "\n".join(table(HEAD, cells)) + "\n"


def main(arguments=None):
    args = parser(COMMAND, __doc__).parse_args(arguments)
    check(args)
    if args.record is not None:
        return afterwards.record(args, measured)
    marked_page.show(made(files.lines(files.checked_record(args.table))), args.page, COMMAND)


if __name__ == "__main__":
    main()
