"""What sampling the weights is worth beside an optimizer, in equal processor time with defaults alone: docs/study.md.

    python -m experiments.budget_study --dataset baudio --architecture "DARN/DARN 50" --seconds 150 --seeds 0 1 2
    python -m experiments.budget_study --record docs/budget.jsonl
    python -m experiments.budget_study --table docs/budget.jsonl --page docs/study.md
    python -m experiments.budget_study --table docs/budget.jsonl --details --page docs/study_appendix.md
    python -m experiments.budget_study --table docs/budget.jsonl --summary --page docs/which_method.md
    python -m experiments.budget_study --table docs/budget.jsonl --glance --page README.md

`rws` is reweighted wake-sleep with its defaults, K = 25 and a flat prior; `--prior learnt` gives it the sampler's prior
too. It runs somewhat longer than the budget, and keeps its best weights on validation rows as they were at every
twentieth of it. The sampler is `methods.dsgnht_nais()` with the default prior, its updates planned so that its time is
near the budget: as many as `rws` made in what compiling leaves, by --per-update. If these are enough for several
chains, they are divided by their number; `fit` decides itself how many chains there are. Its own processor time is
measured, from before `compile` to after `fit`, and `rws` counts as it stood then.

The sampler is judged by the average that its validation rows chose, and the others stand beside. Test rows are
looked at in the end alone, the same for all: log-likelihoods by importance samples, or with --annealing-steps by
annealing, which does not depend on the recognition network, as rows of hundreds of columns ask for.

The sampler of a run on record learns again by --again RECORD, with its defaults of now: as many updates are planned as
it made, the same rows judge it, and the optimizer's figures on record stand beside. Its processor time is that of the
run of as many updates with the same prior where that is on record too.

What is finished is not run again. With --jobs N seeds run N at a time; schedulers of one --output, on one machine or on
several, take what no other is at.

What was tried and is no default: --temperature, of a cold posterior; --stacking, a mixture of each chain's three
averages with the weights that are best on validation rows.
"""

import pathlib

from experiments.budget_study import cells
from experiments.budget_study.details import details
from experiments.budget_study.glance import glance
from experiments.budget_study.judging import AVERAGES
from experiments.budget_study.table import summary, tables
from experiments.common import finished_runs, jobs, marked_page
from experiments.common.arguments import number, parser_of

COMMAND = "experiments.budget_study"
MADE = {"summary": summary, "glance": glance, "details": details}  # by the option of each, beside `tables`


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--data-dir")
    add("--architecture", default="SBN/SBN 100-50")
    add("--seconds", type=number(float), default=150.0, help="of processor time")
    add("--seeds", nargs="+", type=number(int, 0), default=[0])
    add("--prior", choices=["flat", "learnt"], default="flat", help="of rws")
    add("--train-rows", type=number(int), help="learn from the first rows alone")
    add("--temperature", type=number(float), default=1.0, help="of the sampler")
    add("--samples", type=number(int), default=50, help="draws of each chain")
    add("--stacking", action="store_true", help="stack the averages of the chains too")
    add("--per-update", type=number(float), default=1.1, help="updates of the sampler in the time of one of rws")
    add("--averages", nargs="*", choices=AVERAGES, default=AVERAGES, help="that stand beside the chosen one")
    add("--test-rows", type=number(int), default=500)
    add("--test-samples", type=number(int), default=1000)
    add("--annealing-steps", type=number(int, 0), default=0, help="anneal instead of importance sampling")
    add("--annealing-rows", type=number(int), default=50)
    add("--output", default="runs/budget_study")
    add("--jobs", type=number(int), default=None, help=jobs.HELP)
    add("--again", type=pathlib.Path, help="a record whose samplers learn anew, beside its optimizers")
    add("--choose-again", action="store_true", help="let the finished samplers of --output choose their averages anew")
    add("--record", type=pathlib.Path, help="file that what is finished is added to")
    add("--table", type=pathlib.Path, help="print the tables of such a file")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--summary", action="store_true", help="with --table: a line a pair, a column a budget")
    kind.add_argument("--glance", action="store_true", help="with --table: six lines of it")
    kind.add_argument("--details", action="store_true", help="with --table: the runs, and what each average is worth")
    add("--page", type=pathlib.Path, help="with --table: the page that has them")
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    if args.page is not None and args.table is None:
        raise SystemExit(f"--page needs --table. Received: --page {args.page}")
    if args.record is not None:
        return finished_runs.record(args.record, finished_runs.finished(pathlib.Path(args.output)))
    if args.table is not None:
        asked = next((name for name in MADE if getattr(args, name)), None)
        made, command = (MADE[asked], f"{COMMAND} --{asked}") if asked else (tables, COMMAND)
        return marked_page.show(made(finished_runs.told(args.table)), args.page, command)
    if args.choose_again:
        return cells.choose_again(args)
    named = [(cells.folder_of(args, seed).name, (args, seed)) for seed in args.seeds]
    jobs.run(cells.run, named, args.jobs)


if __name__ == "__main__":
    main()
