"""Whether averages of which half is the warm start's are worth their place, on data that did not suggest them.

    python -m experiments.budget_study.halves --output runs/halves --record docs/halves.jsonl
    python -m experiments.budget_study.halves --table docs/halves.jsonl --page docs/study_appendix.md

An equal mixture of an average and of the warm start's weights was thought of by a look at test rows of digits and dna.
Here it is tried on those tables of `experiments.common.public_tables` that have 300 rows and were not looked at for it,
as bits: a column of each state, of numbers a column of each quarter. Of at most --rows rows three fifths are learnt
from, a fifth chooses, by 500 rows at most, a fifth is for the figures. Each run has the defaults of
`methods.dsgnht_nais` and chooses twice, with and without mixtures; test rows are looked at in the end.
"""

import pathlib

import numpy as np
import pandas

import tfdsmcmc as ds
from experiments.budget_study.judging import with_halves
from experiments.budget_study.learning import fitted
from experiments.common import finished_runs, marked_page
from experiments.common import public_tables as tables
from experiments.common.arguments import number, parser_of
from experiments.common.markdown import number as decimals
from experiments.common.markdown import table
from experiments.common.paired import mean_and_error
from experiments.common.seeded_model import seeded_model
from tfdsmcmc.posterior.choice import choose, preferred
from tfdsmcmc.posterior.predictive import predictive_log_likelihood

COMMAND = "experiments.budget_study.halves"
TABLES = ("anes96", "breast_cancer", "diabetes", "fair", "randhie", "star98")
OWN = ("weights", "units", "draws", "start")
HEAD = ("table", "rows", "columns", "model", "chosen without", "chosen with", "nats without", "nats with", "gain")


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("--tables", nargs="+", default=TABLES)
    add("--architectures", nargs="+", default=["SBN/SBN 50-20", "DARN/DARN 20"])
    add("--rows", type=number(int), default=5000)
    add("--updates", type=number(int), default=6000)
    add("--samples", type=number(int), default=500, help="importance samples of a test row")
    add("--output", type=pathlib.Path, default=pathlib.Path("runs/halves"))
    add("--record", type=pathlib.Path)
    add("--table", type=pathlib.Path, help="print the table of a record")
    add("--page", type=pathlib.Path, help="with --table: the page that has it")
    return parser.parse_args(arguments)


def bits(frame):
    """A frame as zeros and ones; columns of one value are left out."""
    made = []
    for name, column in frame.items():
        if pandas.api.types.is_numeric_dtype(column) and column.nunique() > 4:
            column = pandas.qcut(column.astype(float), 4, duplicates="drop")
        made.append(pandas.get_dummies(column, prefix=name).loc[:, lambda codes: codes.any()])
    found = pandas.concat(made, axis=1).to_numpy(np.uint8)
    return found[:, found.min(0) < found.max(0)]


def data_of(name, most):
    """(training, validation, test) rows."""
    rows = bits(tables.TABLES[name](name))
    rows = rows[np.random.default_rng(0).permutation(len(rows))[:most]]
    first, second = (part * len(rows) // 5 for part in (3, 4))
    return ds.datasets.Dataset(name, rows[:first], rows[first:second], rows[second:], (1, rows.shape[1]))


def run(name, architecture, args):
    """Learns and leaves what was chosen, and the test rows' log-likelihoods."""
    folder = args.output / f"{name} {architecture}".replace("/", "-").replace(" ", "_")
    if (folder / "result.json").exists():
        return
    data = data_of(name, args.rows)
    model = seeded_model(architecture, data.train, 0)
    collector = ds.posterior.Collector(folder / "posterior", 50, overwrite=True)
    steps = -(-len(data.train) // 100)
    fitted(ds.methods.dsgnht_nais(), data, model, -(-args.updates // steps), [collector])
    posterior = ds.posterior.load(folder / "posterior")
    values = choose(posterior, model, model.source("valid", data.valid[:500])).values
    own = [average for average in OWN if average in values]
    without = preferred({average: values[average] for average in own})
    rows = {average: predictive_log_likelihood(
        posterior.components(model, average), model.source("test", data.test),
        max(1, args.samples // (5 if average == "draws" else 1)), 0, warn=False,
    ).value for average in own}  # fmt: skip
    about = {"table": name, "architecture": architecture, "train_rows": len(data.train), "columns": data.train.shape[1]}
    about |= {"without": without, "with": preferred(values), "updates": args.updates}
    finished_runs.leave(folder, about, with_halves(rows, posterior))
    print(about, {key: round(float(part.mean()), 3) for key, part in rows.items()}, flush=True)


def made(runs):
    """The table of runs, as `finished_runs.recorded` has them."""
    lines, gains = [], []
    for about, rows in runs:
        gain = rows[about["with"]] - rows[about["without"]]
        gains.append(gain.mean())
        lines.append((
            about["table"], f"{about['train_rows']:,}", about["columns"], about["architecture"], about["without"],
            about["with"], decimals(rows[about["without"]].mean()), decimals(rows[about["with"]].mean()),
            "0" if about["with"] == about["without"] else mean_and_error(gain),
        ))  # fmt: skip
    changed = sum(about["with"] != about["without"] for about, _ in runs)
    text = f"A mixture was chosen in {changed} of {len(runs)} runs. The gain is {np.mean(gains):.3f} nats on average."
    return "\n".join([*table(HEAD, lines), "", text, ""])


def main(arguments=None):
    args = parse(arguments)
    if args.table is not None:
        return marked_page.show(made(finished_runs.told(args.table)), args.page, COMMAND)
    for name in args.tables:
        for architecture in args.architectures:
            run(name, architecture, args)
    if args.record is not None:
        finished_runs.record(args.record, finished_runs.finished(args.output))


if __name__ == "__main__":
    main()
