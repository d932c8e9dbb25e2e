"""A table of test log-likelihoods on one dataset: each row a method and an architecture.

    python recipes/table.py --dataset digits --architectures "SBN/SBN 100-50" "VAE 50"
    python recipes/table.py --dataset ocr_letters --methods dsgnht_nais rws --architectures "SBN/SBN 200" --minutes 10
    python recipes/table.py --dataset binarized_mnist --papers --minutes 60 --annealing-rows 500

A method is one of `table_methods.METHODS`, an architecture a name for `tfdsmcmc.models.from_name`; `--papers` takes the
rows of the papers' tables instead, some with settings of their own (`recipes/papers.py`). Every row has the same budget
of updates and of minutes of learning, and ends when either is spent. It leaves in --output

    results.jsonl    one line a finished row: settings, seed, seconds, curve, estimates and their errors
    table.md         the table, the command of each row, and published figures of the dataset, where there are any
    models/          the model of each row, with the weights that were evaluated last
    learnt/          backups and posterior samples, from which a row goes on; may be deleted when no more is to come

The run can be interrupted and started again: a finished row with the same settings is not made again, a row in progress
goes on where it was, and one that is to be evaluated in another way is not learnt again. The same command may run
several times side by side, each on a core of its own (`taskset -c 0 python recipes/table.py …`): they take the rows one
by one from the same list.

Samplers have the default prior, or with --published-prior that of the papers; half of their budget, or --burn-in, is a
warm start, or burn-in, and their posterior samples are of the rest; the recognition network is fitted again to the mean
of the weights. With importance samples validation data end the warm start before, if --patience updates gain nothing.
Methods that draw z by Gibbs sampling climb to the end of the burn-in, and teach the network, from their chains, where
--proposal-learning-rate is given, and else not at all while they learn: there it is fitted to the last weights too.
With --as-published there is no warm start. The other methods climb the likelihood, with a flat prior. Of all,
validation data choose among the weights at thirteen looks, of rws_published in each of its two phases. Of several
learning rates each is tried for a tenth of the minutes, beside the budget, and validation data choose among those that
do not diverge.
"""

import os
import pathlib
import platform
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import papers
import table_arguments
import table_file
import table_methods
import table_pages
import table_row
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds


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
            "ones, but for one of a name without sizes, which has none and nothing for Gibbs sampling. "
            f"Received: methods={args.methods}, architectures={args.architectures}"
        )
    return [(method, name, table_arguments.settings_of(method, args) | own) for method, name, own in wanted]


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
    args = table_arguments.parse(arguments, __doc__)
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
