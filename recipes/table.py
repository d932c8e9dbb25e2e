"""A table of test log-likelihoods on one dataset: each row a method and an architecture.

    python recipes/table.py --dataset digits --architectures "SBN/SBN 100-50" "VAE 50"
    python recipes/table.py --dataset ocr_letters --methods dsgnht_nais rws --architectures "SBN/SBN 200" --minutes 10
    python recipes/table.py --dataset binarized_mnist --papers --minutes 60 --annealing-rows 500

A method is one of `table_methods.METHODS`, an architecture a name for `tfdsmcmc.models.from_name`; `--papers` takes the
rows of the papers' tables instead, some with settings of their own (`recipes/papers.py`). Every row has the same budget
of updates and of minutes of learning, and ends when either is spent. It leaves in --output

    results.jsonl    one line a finished row: settings, seed, seconds, curve, estimates and their errors
    table.md         the table, with published figures of the dataset below, where there are any
    models/          the model of each row, with the weights that were evaluated last
    learnt/          backups and posterior samples, from which a row goes on; may be deleted when no more is to come

The run can be interrupted and started again: a finished row with the same settings is not made again, a row in progress
goes on where it was, and one that is to be evaluated in another way is not learnt again. The same command may run
several times side by side, each on a core of its own (`taskset -c 0 python recipes/table.py …`): they take the rows one
by one from the same list.

Samplers have the default prior; half of their budget, or --burn-in, is a warm start, or burn-in, and their posterior
samples are of the rest; the recognition network is fitted again to the mean of the weights. With importance samples
validation data end the warm start before, if --patience updates gain nothing. Methods that draw z by Gibbs sampling
climb to the end of the burn-in, and teach the network, from their chains, where --proposal-learning-rate is given, and
else not at all while they learn: there it is fitted to the last weights too. The other methods climb the likelihood,
with a flat prior; validation data choose among their weights at thirteen looks, of rws_published in each of its two
phases. Of several learning rates each is tried for a tenth of the minutes, beside the budget, and validation data
choose among those that do not diverge.
"""

import argparse
import math
import os
import pathlib
import platform
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import papers
import table_file
import table_methods
import table_pages
import table_row
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds

_COMMON = (
    "dataset binarization seed updates minutes batch_size samples hidden_units refit_updates refit_learning_rate "
    "test_samples test_rows annealing_rows annealing_steps annealing_runs jit_compile"
)
_OF_SAMPLERS = "as_published proposal_learning_rate posterior_samples burn_in patience climbing_rate"
_METHODS_HELP = f"of {', '.join(table_methods.METHODS)} (default: those of the package)"
_PAPERS_HELP = (
    "the rows of the papers' tables, whatever --methods and --architectures are; what recipes/papers.py sets for some "
    "stands, whatever is given here: the evaluation of NADEs, that and units of VAEs"
)
_RATES_HELP = "of samplers; validation chooses (default 0.3, of SGLD 0.5, as published 0.01)"
_PROPOSAL_HELP = "of the samplers' φ; default that of the method, which of Gibbs methods teaches it nothing"
_CLIMBING_HELP = (
    "R of the warm start's Adam, at step t R min(1, (t + 1)/2000)/(1 + t/2000) (default 0.03, of Gibbs methods 0.003 "
    "throughout; nothing with --as-published)"
)
_PATIENCE_HELP = (
    "updates without gain on validation data that end the warm start of samplers with importance samples (default "
    "1000; nothing with --as-published)"
)
_SMALL_BATCH = 25  # of reweighted wake-sleep as published


def number(kind, least=None):
    """A type of argument: numbers above 0, or from `least` on."""

    def parsed(text):
        value = kind(text)
        if not (value > 0 if least is None else value >= least) or not value < math.inf:
            wanted = "above 0" if least is None else f"{least} or more"
            raise argparse.ArgumentTypeError(f"must be {wanted}. Received: {text}")
        return value

    return parsed


def part(text):
    """A type of argument: numbers between 0 and 1, without either."""
    value = number(float)(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"must be below 1. Received: {text}")
    return value


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, count, amount = parser.add_argument, number(int), number(float)
    rates = {"nargs": "+", "type": amount, "metavar": "RATE"}
    methods = [method for method in table_methods.METHODS if method not in table_methods.WHERE_ASKED]
    add("--dataset", default="digits", help=f"one of {', '.join(ds.datasets.names())}, or NAME.npz of your own")
    add("--methods", nargs="+", choices=table_methods.METHODS, default=methods, metavar="METHOD", help=_METHODS_HELP)
    add("--architectures", nargs="+", default=["SBN/SBN 100-50", "VAE 50"], metavar="NAME")
    add("--papers", action="store_true", help=_PAPERS_HELP)
    add("--hidden-units", nargs="+", type=count, default=[200], help="of NADE layers; of VAEs, layer by layer")
    add("--updates", type=count, default=10**9, help="at most, in rounds of 50 (default: by time alone)")
    add("--minutes", type=amount, default=4.0, help="at most, of learning, a row (default 4)")
    add("--batch-size", type=count, default=None, help="default 100, of rws_published 25")
    add("--learning-rate", **rates, help=_RATES_HELP)
    add("--adam", **rates, help="of the optimizers of methods that climb, likewise (default: that of the method)")
    add("--momentum-rate", **rates, default=[3e-4, 1e-3, 3e-3], help="of rws_published (default 0.0003 0.001 0.003)")
    add("--proposal-learning-rate", type=amount, default=None, help=_PROPOSAL_HELP)
    add("--as-published", action="store_true", help="samplers with the papers' settings and prior")
    add("--samples", type=count, default=None, help="K in learning; default that of the method")
    add("--posterior-samples", type=count, default=20)
    add("--burn-in", type=part, default=0.5, help="part of a sampler's budget (default 0.5)")
    add("--patience", type=count, default=1000, help=_PATIENCE_HELP)
    add("--climbing-rate", type=amount, default=None, help=_CLIMBING_HELP)
    add("--refit-updates", type=count, default=2000, help="of φ alone, before an evaluation (default 2000)")
    add("--refit-learning-rate", type=amount, default=1e-3, help="of Adam meanwhile (default 0.001)")
    add("--test-samples", type=count, default=1000, help="importance samples a row in the test (default 1000)")
    add("--test-rows", type=count, default=None, help="random rows of the test set to evaluate (default all)")
    add("--annealing-rows", type=number(int, 0), default=0, help="test rows to anneal, and rows drawn (default 0)")
    add("--annealing-steps", type=count, default=1000)
    add("--annealing-runs", type=count, default=5)
    add("--binarization", choices=["dynamic", "threshold"], default="dynamic", help="of grey data (default dynamic)")
    add("--data-dir", default=None, help="folder of packed datasets; default $TFDSMCMC_DATA, the Keras cache")
    add("--seed", type=int, default=0)
    add("--no-jit", dest="jit_compile", action="store_false", help="do not compile with XLA")
    add("--output", default=None, help="default runs/table/DATASET")
    return parser.parse_args(arguments)


def rows_of(args):
    """The rows that are asked for: (method, architecture, settings), of pairs that suit each other."""
    if args.papers:
        wanted = papers.rows_of(args.dataset)
    else:
        pairs = [(method, name) for name in args.architectures for method in args.methods]
        wanted = [(*pair, {}) for pair in pairs if table_methods.suits(*pair)]
    if not wanted:
        raise ValueError(
            "A method must suit an architecture: those of kind VAE have continuous latent variables, the others binary "
            f"ones. Received: methods={args.methods}, architectures={args.architectures}"
        )
    return [(method, name, settings_of(method, args) | own) for method, name, own in wanted]


def settings_of(method, args):
    """What the result of a row depends on, besides its method and architecture."""
    names = _COMMON.split() + (_OF_SAMPLERS.split() if method in table_methods.SAMPLERS else [])
    settings = {name: getattr(args, name) for name in names}
    settings["batch_size"] = args.batch_size or (_SMALL_BATCH if method == "rws_published" else 100)
    return settings | {"learning_rates": list(table_methods.rates_of(method, args))}


def make(method, architecture, settings, data, output, folder):
    """Learns and evaluates a row, and adds it to the results; a row that diverges is on record as such."""
    row = {"method": method, "architecture": architecture, "dataset": settings["dataset"], "settings": settings}
    row["versions"] = versions()
    try:
        model, found = table_row.run(method, architecture, settings, data, folder)
    except ds.DivergedError as error:
        row |= {"failed": f"diverged: {error}", "log_likelihood": {}}
    else:
        row |= found | {"model": f"models/{table_file.name_of(method, architecture, settings)}.keras"}
        (output / "models").mkdir(exist_ok=True)
        model.save(output / row["model"])
    table_file.append(output / "results.jsonl", row)


def versions():
    """The packages that the figures were made with."""
    packages = {"tfdsmcmc": ds, "tensorflow": tf, "keras": keras, "tensorflow_probability": tfp, "numpy": np}
    return {"python": platform.python_version(), **{name: module.__version__ for name, module in packages.items()}}


def write_table(args, wanted, output):
    """Writes the finished rows of those that are asked for; returns the text."""
    finished = table_file.finished(output / "results.jsonl")
    rows = [finished[key] for key in (table_file.key_of(*row) for row in wanted) if key in finished]
    text = "\n".join([f"# {args.dataset}", "", *table_pages.page_of(args.dataset, rows)]) + "\n"
    with ds.files.replacing(output / "table.md") as temporary:
        temporary.write_text(text)
    return text


def main(arguments=None):
    args = parse(arguments)
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # the table says it
    wanted = rows_of(args)
    data = ds.datasets.load(args.dataset, args.data_dir, binarization=args.binarization, seed=args.seed)
    for name, settings in {name: settings for _, name, settings in wanted}.items():
        table_row.build("rws", name, settings, data.train)  # what is wrong is told before any row is learnt
    output = pathlib.Path(args.output or f"runs/table/{args.dataset}")
    output.mkdir(parents=True, exist_ok=True)
    text = write_table(args, wanted, output)
    for place, (method, architecture, settings) in enumerate(wanted, 1):
        folder, key = table_file.folder_of(output, method, architecture, settings), table_file.key_of
        if key(method, architecture, settings) in table_file.finished(output / "results.jsonl"):
            continue
        with table_file.claimed(folder) as mine:
            about = f"row {place} of {len(wanted)}: {method}, {architecture}"
            if not mine:
                print(f"{about}: another process is at it", flush=True)
            elif key(method, architecture, settings) not in table_file.finished(output / "results.jsonl"):
                print(about, flush=True)
                make(method, architecture, settings, data, output, folder)
                text = write_table(args, wanted, output)
    print(text)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")  # it takes the new programs of each row for an oversight
    main()
