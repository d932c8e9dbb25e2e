"""A table of test log-likelihoods on one dataset: each row a method and an architecture.

    python -m experiments.method_table --dataset digits --architectures "SBN/SBN 100-50" "VAE 50"
    python -m experiments.method_table --dataset ocr_letters --methods dsgnht_nais rws --minutes 10
    python -m experiments.method_table --dataset binarized_mnist --papers --minutes 60 --annealing-rows 500

A method is one of `methods.METHODS`, an architecture a name for `tfdsmcmc.models.from_name`; `--papers` takes the
rows of the papers' tables instead, some with settings of their own (`experiments/common/papers.py`). Every row has the
same budget of updates and of minutes of learning, and ends when either is spent. It leaves in --output

    results.jsonl    one line a finished row: settings, seed, seconds, curve, estimates and their errors
    table.md         the table, the command of each row, and published figures of the dataset, where there are any
    models/          the model of each row, with the weights that were evaluated last
    learnt/          backups and posterior samples, from which a row goes on; may be deleted when no more is to come

The run can be interrupted and started again: a finished row with the same settings is not made again, a row in progress
goes on where it was, and one that is to be evaluated in another way is not learnt again. The same command may run
several times side by side, each on a core of its own (`taskset -c 0 python -m experiments.method_table …`): they take
the rows one by one from the same list.

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

import pathlib
import warnings

import tensorflow as tf

import tfdsmcmc as ds
from experiments.method_table import row, rows_file, table
from experiments.method_table.arguments import parse


def main(arguments=None):
    args = parse(arguments, __doc__)
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # the table says it
    wanted = table.rows_of(args)
    data = ds.datasets.load(args.dataset, args.data_dir, binarization=args.binarization, seed=args.seed)
    for name, settings in {name: settings for _, name, settings in wanted}.items():
        row.build("rws", name, settings, data.train)  # what is wrong is told before any row is learnt
    output = pathlib.Path(args.output or f"runs/table/{args.dataset}")
    output.mkdir(parents=True, exist_ok=True)
    text = table.write(args.dataset, wanted, output)
    for place, one in enumerate(wanted, 1):
        folder, key, results = rows_file.folder_of(output, *one), rows_file.key_of(*one), output / "results.jsonl"
        if key in rows_file.finished(results):
            continue
        with ds.files.claimed(folder) as mine:
            about = f"row {place} of {len(wanted)}: {one[0]}, {one[1]}"
            if not mine:
                print(f"{about}: another process is at it", flush=True)
            elif key not in rows_file.finished(results):
                print(about, flush=True)
                table.make(*one, data, output, folder)
                text = table.write(args.dataset, wanted, output)
    print(text)


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")  # it takes the new programs of each row for an oversight
    main()
