"""What sampling the weights is worth beside an optimizer, in equal processor time with defaults alone: docs/study.md.

    python -m experiments.budget_study --dataset baudio --architecture "DARN/DARN 50" --seconds 150 --seeds 0 1 2
    python -m experiments.budget_study --record docs/budget.jsonl
    python -m experiments.budget_study --table docs/budget.jsonl --page docs/study.md

`rws` is reweighted wake-sleep with its defaults, K = 25 and a flat prior; `--prior learnt` gives it the sampler's prior
too. It runs somewhat longer than the budget, and keeps its best weights on validation rows as they were at every
twentieth of it. The sampler is `methods.dsgnht_nais()` with the default prior, its updates planned so that its time is
near the budget: as many as `rws` made in what compiling leaves, by --per-update. If these are enough for three chains,
they are divided by three; `fit` decides itself how many chains there are. Its own processor time is measured, from
before `compile` to after `fit`, and `rws` counts as it stood then.

The sampler is judged by the average that its validation rows chose, and the other two stand beside. Test rows are
looked at in the end alone, the same for all: log-likelihoods by importance samples, or with --annealing-steps by
annealing, which does not depend on the recognition network, as rows of hundreds of columns ask for.

What was tried and is no default: --temperature, of a cold posterior; --stacking, a mixture of each chain's three
averages with the weights that are best on validation rows.
"""

import pathlib

import tfdsmcmc as ds
from experiments.budget_study.judging import AVERAGES, estimated, stacked
from experiments.budget_study.learning import optimizer, planned, sampler
from experiments.budget_study.table import tables
from experiments.common import finished_runs, marked_page
from experiments.common.arguments import parser_of
from experiments.common.rows import random_rows

COMMAND = "experiments.budget_study"
KEPT = ("architecture", "prior", "annealing_steps", "temperature")


def run(args, seed, data, folder):
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
        if average in (*args.averages, "start") or average == posterior.average:
            rows[average] = estimated(args, own, x, posterior, average)
    if args.stacking:
        rows["stacked"] = stacked(args, own, posterior, data.valid[:500], x)
    figures |= {"average": posterior.average, "samples": len(posterior.samples), "rws_seconds": round(mark)}
    figures |= {"rws_updates": marks.updates[[part[0] for part in marks.kept].index(mark)]}
    return figures, rows


def study(args):
    """Runs what is not finished."""
    data = ds.datasets.load(args.dataset, args.data_dir)
    if args.train_rows:
        data = data._replace(train=data.train[: args.train_rows])
    for seed in args.seeds:
        name = args.dataset if args.train_rows is None else f"{args.dataset}[:{args.train_rows}]"
        parts = name, args.architecture, f"{args.seconds:g}", args.prior, f"T{args.temperature:g}", seed
        folder = pathlib.Path(args.output) / " ".join(map(str, parts)).replace("/", "-").replace(" ", "_")
        if (folder / "result.json").exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        figures, rows = run(args, seed, data, folder)
        about = {"name": folder.name, "budget": args.seconds, "seed": seed}
        about |= {**{key: getattr(args, key) for key in KEPT}, "dataset": name}
        means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
        finished_runs.leave(folder, {**about, **figures, "means": means}, rows)
        print(folder.name, figures, means, flush=True)


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--data-dir")
    add("--architecture", default="SBN/SBN 100-50")
    add("--seconds", type=float, default=150.0, help="of processor time")
    add("--seeds", nargs="+", type=int, default=[0])
    add("--prior", choices=["flat", "learnt"], default="flat", help="of rws")
    add("--train-rows", type=int, help="learn from the first rows alone")
    add("--temperature", type=float, default=1.0, help="of the sampler")
    add("--samples", type=int, default=50, help="draws of each chain")
    add("--stacking", action="store_true", help="stack the averages of the chains too")
    add("--per-update", type=float, default=1.1, help="updates of the sampler in the time of one of rws")
    add("--averages", nargs="*", choices=AVERAGES, default=AVERAGES, help="that stand beside the chosen one")
    add("--test-rows", type=int, default=500)
    add("--test-samples", type=int, default=1000)
    add("--annealing-steps", type=int, default=0, help="anneal instead of importance sampling")
    add("--annealing-rows", type=int, default=50)
    add("--output", default="runs/budget_study")
    add("--record", type=pathlib.Path, help="file that what is finished is added to")
    add("--table", type=pathlib.Path, help="print the tables of such a file")
    add("--page", type=pathlib.Path, help="with --table: the page that has them")
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    if args.page is not None and args.table is None:
        raise SystemExit(f"--page needs --table. Received: --page {args.page}")
    if args.record is not None:
        return finished_runs.record(args.record, finished_runs.finished(pathlib.Path(args.output)))
    if args.table is not None:
        return marked_page.show(tables(finished_runs.recorded(args.table)), args.page, COMMAND)
    study(args)


if __name__ == "__main__":
    main()
