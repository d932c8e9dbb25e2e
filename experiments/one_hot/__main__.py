"""Tables of one-hot codes, learnt bit by bit and as categories: log-likelihoods of the same rows, which compare.

    python -m experiments.one_hot --dataset adult --form groups
    python -m experiments.one_hot --dataset adult --form columns
    python -m experiments.one_hot --record docs/one_hot.jsonl

"columns" is a DARN of zeros and ones, "groups" a `layers.Mixed` whose columns `rows.groups` finds in the rows of
training, each dependent on those before it; above both a layer of --units DARN units, learnt by `methods.dsgnht_nais()`
with validation rows, which choose the average, and the weights of the climb from which the chain begins unless --climb
says how long that lasts. Estimated are rows of the test set, by --samples importance samples, under the average over
--posterior-samples samples of the weights of each chain. A run adds a line to --record; without --form the lines are
printed as a table. `python -m experiments.report docs` makes a page of them. All mass of the groups is on rows of their
form, some of the columns' is not.
"""

import pathlib
import time

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import number, parser_of

COMMAND = "experiments.one_hot"


def model_of(form, train, units, seed):
    """The model of a form, which starts at the shares of its columns."""
    if form == "columns":
        share = (train.sum(0) + 0.5) / (len(train) + 1.0)
        logits = np.log(share) - np.log1p(-share)
        return ds.models.from_name(f"DARN/DARN {units}", train.shape[1], data_logits=logits, seed=seed)
    rows = ds.Rows(train.astype(np.float32))
    data = ds.imputer.learning.data_layer_of(ds.rows.groups(train), rows, [], dependent=True)
    generative = ds.GenerativeNetwork([ds.layers.DARN(units), data])
    return ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.DARN(units)]), seed=seed)


def line(args):
    """The result of a run, a dict."""
    data = ds.datasets.load(args.dataset)
    train, valid, test = (np.asarray(rows) for rows in (data.train, data.valid, data.test))
    test = test[:: max(1, -(-len(test) // args.rows))]  # spread evenly, at most so many
    keras.utils.set_random_seed(args.seed)
    model = model_of(args.form, train, args.units, args.seed)
    method = ds.methods.dsgnht_nais(num_chains=args.chains)
    if args.climb:
        method["kernel"] = method["kernel"].copy(updates=args.climb)
    model.compile(**method, steps_per_execution=20, evaluation_samples=25)
    steps = -(-len(train) // 100)
    epochs = max(2, args.updates // steps)
    parts = args.dataset, args.form, args.units, args.seed, args.chains, args.climb or "validation", epochs
    folder = args.output / "_".join(map(str, parts))
    collector = ds.posterior.Collector(folder, args.posterior_samples, overwrite=True)
    begun = time.process_time()
    watched = {"validation_data": valid[:500], "callbacks": [collector], "verbose": args.verbose}
    model.fit(train, batch_size=100, epochs=epochs, **watched)
    seconds = time.process_time() - begun
    posterior = ds.posterior.load(folder)
    found = posterior.log_likelihood(model, test, args.samples, seed=1).mean()
    about = {name: getattr(args, name) for name in ("dataset", "form", "units", "seed", "samples")}
    figures = {"value": found.value, "error": found.standard_error, "row_error": found.row_standard_error}
    parts = len(getattr(model.generative.layers[-1], "columns", train[0]))
    made = {"chains": model.run.num_chains, "climb": args.climb, "updates": epochs * steps}
    made |= {"processor_seconds": round(seconds), "average": posterior.average, "parts": parts}
    return {**about, **made, **figures, "rows": len(test)}


def table(lines):
    """Lines of the record as a table."""
    head = "| data | learnt as | parts of a row | updates | processor seconds | log-likelihood of test rows, nats |"
    rows = [
        f"| {one['dataset']} | {one['form']} | {one['parts']} | {one['updates']:,} | {one['processor_seconds']} "
        f"| {one['value']:.2f} ± {one['row_error']:.2f} of {one['rows']:,} rows |"
        for one in sorted(lines, key=lambda one: (one["dataset"], one["form"]))
    ]
    return "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *rows])


def main(argv=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--dataset", default="adult")
    parser.add_argument("--form", choices=["groups", "columns"])
    parser.add_argument("--units", type=number(int), default=50)
    parser.add_argument("--updates", type=number(int), default=6000)
    parser.add_argument("--chains", type=number(int), default=1)
    parser.add_argument("--climb", type=number(int), help="its updates, from whose end the chain begins; see above")
    parser.add_argument("--posterior-samples", type=number(int), default=50, help="of each chain")
    parser.add_argument("--samples", type=number(int), default=1000)
    parser.add_argument("--rows", type=number(int), default=2000, help="of the test set, at most (default 2000)")
    parser.add_argument("--seed", type=number(int, 0), default=0)
    parser.add_argument("--verbose", type=number(int, 0), default=0)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs/one_hot"))
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("docs/one_hot.jsonl"))
    args = parser.parse_args(argv)
    if args.form is None:
        print(table(files.lines(args.record)))
        return
    found = line(args)
    files.append(args.record, found)
    print(table([found]))


if __name__ == "__main__":
    main()
