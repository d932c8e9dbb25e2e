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
goes on where it was, and one that is to be evaluated in another way is not learnt again. With --jobs N rows are made N
at a time. The same command may also run several times side by side, on one machine or on several that share --output:
they take the rows one by one from the same list, and none makes a row that another has.

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

import tensorflow as tf

from experiments.common import jobs
from experiments.method_table import row, table, tasks
from experiments.method_table.arguments import parse


def main(arguments=None):
    args = parse(arguments, __doc__)
    wanted, output = table.rows_of(args), tasks.output_of(args)
    data = tasks.data_of(args)
    for name, settings in {name: settings for _, name, settings in wanted}.items():
        row.build("rws", name, settings, data.train)  # what is wrong is told before any row is learnt
    output.mkdir(parents=True, exist_ok=True)
    named = [(tasks.name_of(wanted, place), (args, place)) for place in tasks.unfinished(wanted, output)]
    if named:
        jobs.run(tasks.make, named, args.jobs)
    print(table.write(args.dataset, wanted, output))


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")  # it takes the new programs of each row for an oversight
    main()
