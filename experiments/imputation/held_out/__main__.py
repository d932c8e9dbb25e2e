"""Imputation beside scikit-learn's: log-loss and accuracy on missing entries of held-out rows.

    python -m experiments.imputation.held_out --dataset ocr_letters
    python -m experiments.imputation.held_out --dataset adult

Entries of test rows are missing completely at random, 10, 30 and 50 in a hundred. All imputers have seen the same
training rows: complete ones, or rows with the same share of gaps as the test rows. Iterative imputation learns nothing
from complete rows, as it has nothing to iterate over. Nearest neighbours state (s + ½)/(10 + 1) for s ones among ten.
"tfdsmcmc" is `methods.dsgnht_nais()` with its defaults, averaged over the posterior samples of all chains; from rows
with gaps a data layer DARN or NADE learns by `methods.dsgnht_gibbs(draw_missing=True)`, its samples with equal weights.
--learnt adds what other commands have learnt, from complete training and validation rows, with equal weights too.

Log-loss in nats a missing entry, of the probability that the method states for a one, kept within [0.001, 0.999];
accuracy of the more probable value in percent. Standard errors are over the rows. In --output/results.json, after each
line, the same with the arguments and the seconds; what an earlier call left there of other shares, or seen otherwise,
stays.
"""

import pathlib
import time
import warnings

import numpy as np

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import number, parser_of, part
from experiments.imputation.held_out.imputers import imputers
from experiments.imputation.held_out.score import gaps, score

SEEN = ("complete", "gaps")


def parse(arguments=None):
    parser, count = parser_of("experiments.imputation.held_out", __doc__), number(int)
    add = parser.add_argument
    add("--dataset", default="ocr_letters")
    add("--architecture", default="SBN/SBN 200-50", help="as in models.from_name (default SBN/SBN 200-50)")
    add("--updates", type=count, default=20000, help="minibatches to learn from (default 20000)")
    add("--posterior-samples", type=count, default=5, help="of each chain (default 5)")
    add("--missing", type=part, nargs="+", default=[0.1, 0.3, 0.5], help="shares of missing entries")
    add("--seen", nargs="+", choices=SEEN, default=SEEN, help="what imputers learn from (default complete gaps)")
    add("--learnt", nargs="+", type=pathlib.Path, default=[], help="folders with a model.keras and, maybe, a posterior")
    add(
        "--burn-in", type=number(int, 0), default=50, help="sweeps of each chain of imputations, at each θ (default 50)"
    )
    add("--sweeps", type=count, default=50, help="after them (default 50)")
    add("--rows", type=count, default=500, help="random test rows (default 500)")
    add("--train-rows", type=count, default=None, help="random training rows, for all methods (default all)")
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/imputation_DATASET")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def write(path, arguments, rows):
    """Writes the rows, each with its arguments, beside those of earlier calls that are not among them."""
    rows = [{**row, "arguments": arguments} for row in rows]
    parts = ("missing", "seen", "method")
    new = {tuple(row[part] for part in parts) for row in rows}
    earlier = files.read_json(path)["rows"] if path.exists() else []
    earlier = [row for row in earlier if tuple(row[part] for part in parts) not in new]
    files.write_json(path, {"rows": [*earlier, *rows]}, indent=2)


def check(args):
    """What cannot be done is told before any work."""
    if args.learnt and "complete" not in args.seen:
        raise ValueError(f"--learnt is for --seen complete. Received: --seen {' '.join(args.seen)}")
    for place in args.learnt:
        if not (place / "model.keras").exists():
            raise ValueError(f"--learnt names folders with a model.keras. Received: {place}")


def main(arguments=None):
    args = parse(arguments)
    check(args)
    warnings.simplefilter("ignore", UserWarning)
    output = pathlib.Path(args.output or f"runs/imputation_{args.dataset}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    rng = np.random.default_rng(args.seed)
    truth = data.test[rng.permutation(len(data.test))[: args.rows]]
    complete = data.train[rng.permutation(len(data.train))[: args.train_rows]]

    output.mkdir(parents=True, exist_ok=True)
    rows = []
    for share in args.missing:
        rng = np.random.default_rng([args.seed, round(1000 * share)])
        x = gaps(truth, share, rng)
        gappy = gaps(complete, share, np.random.default_rng([args.seed, round(1000 * share), 1]))
        for seen, name, make in imputers(args, complete, gappy, output, share):
            if seen not in args.seen:
                continue
            begun = time.monotonic()
            found = score(truth, np.isnan(x), make()(x))
            seconds = round(time.monotonic() - begun, 1)
            rows.append({"missing": share, "seen": seen, "method": name, **found, "seconds": seconds})
            write(output / "results.json", {**vars(args), "learnt": [str(place) for place in args.learnt]}, rows)
            print(
                f"{share:4.0%}  {seen:<9} {name:<27}log-loss {found['log_loss']:.4f} ± {found['log_loss_error']:.4f}   "
                f"accuracy {found['accuracy']:.2f} ± {found['accuracy_error']:.2f} %   {seconds:.1f} s",
                flush=True,
            )
    print(f"wrote {output / 'results.json'}")


if __name__ == "__main__":
    main()
