"""Imputation beside scikit-learn's: log-loss and accuracy on missing entries of held-out rows.

    python recipes/imputation_table.py --dataset ocr_letters
    python recipes/imputation_table.py --dataset adult

Entries of test rows are missing completely at random, 10, 30 and 50 in a hundred. Column means, nearest neighbours and
"tfdsmcmc" have seen complete training rows; "learnt from gaps" and iterative imputation, which needs gaps to iterate
over, training rows with the same share of gaps as the test rows. Nearest neighbours and iterative imputation are slow
and see --few random training rows.

Log-loss in nats a missing entry, of the probability that the method states for a one, kept within [0.001, 0.999];
accuracy of the more probable value in percent. Standard errors are over the rows. In --output/results.json the same
with the arguments and the seconds.
"""

import argparse
import os
import pathlib
import time
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
from posterior_run import posterior_run

import tfdsmcmc as ds


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dataset", default="ocr_letters")
    add("--architecture", default="SBN/SBN 200-50", help="as in models.from_name (default SBN/SBN 200-50)")
    add("--updates", type=int, default=20000, help="minibatches to learn from (default 20000)")
    add("--learning-rate", type=float, default=0.1)
    add("--posterior-samples", type=int, default=10)
    add("--missing", type=float, nargs="+", default=[0.1, 0.3, 0.5], help="shares of missing entries")
    add("--rows", type=int, default=500, help="random test rows (default 500)")
    add("--few", type=int, default=5000, help="training rows of the slow methods (default 5000)")
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/imputation_DATASET")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def gaps(x, share, rng):
    """The rows as float32, with NaN in a share of the entries, completely at random."""
    return np.where(rng.random(x.shape) < share, np.nan, x).astype(np.float32)


def learn(args, train, folder):
    """A model at the mean of its posterior samples."""
    arguments = args.architecture, args.updates, args.learning_rate, 5, args.posterior_samples, args.seed
    model, posterior = posterior_run(folder, train, *arguments)
    return posterior.apply_mean(model)


def of_scikit_learn(train, few, share, rng):
    """Functions from rows with a share of gaps to probabilities, by name."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    some = train[rng.permutation(len(train))[:few]]
    imputers = {
        "column means": SimpleImputer().fit(train),
        "10 nearest neighbours": KNNImputer(n_neighbors=10).fit(some),
        "iterative (Bayesian ridge)": IterativeImputer(random_state=0).fit(gaps(some, share, rng)),
    }
    return {name: imputer.transform for name, imputer in imputers.items()}


def score(truth, missing, probabilities):
    """Log-loss a missing entry and accuracy, with standard errors over the rows."""
    p = np.clip(probabilities, 1e-3, 1 - 1e-3)
    loss = -np.where(truth == 1, np.log(p), np.log1p(-p))
    right = 100.0 * ((p > 0.5) == (truth == 1))
    scores = {}
    for name, values in (("log_loss", loss), ("accuracy", right)):
        of_rows, counts = (values * missing).sum(1), missing.sum(1)
        ratio = of_rows.sum() / counts.sum()
        # a ratio of two means over rows
        error = np.std(of_rows - ratio * counts, ddof=1) / counts.mean() / np.sqrt(len(counts))
        scores[name], scores[f"{name}_error"] = float(ratio), float(error)
    return scores


def main():
    args = parse()
    warnings.simplefilter("ignore", UserWarning)
    output = pathlib.Path(args.output or f"runs/imputation_{args.dataset}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    rng = np.random.default_rng(args.seed)
    truth = data.test[rng.permutation(len(data.test))[: args.rows]]
    complete = learn(args, data.train, output / "complete")

    rows = []
    for share in args.missing:
        rng = np.random.default_rng([args.seed, round(1000 * share)])
        x, train = gaps(truth, share, rng), gaps(data.train, share, rng)
        model = learn(args, train, output / f"gaps_{share}")
        methods = of_scikit_learn(data.train, args.few, share, rng)
        methods["tfdsmcmc"] = lambda x: complete.impute(x, seed=args.seed, probabilities=True)
        methods["tfdsmcmc, learnt from gaps"] = lambda x, m=model: m.impute(x, seed=args.seed, probabilities=True)
        for name, probabilities in methods.items():
            begun = time.monotonic()
            found = score(truth, np.isnan(x), probabilities(x))
            rows.append({"missing": share, "method": name, **found, "seconds": round(time.monotonic() - begun, 1)})
            print(
                f"{share:4.0%}  {name:<28}log-loss {found['log_loss']:.4f} ± {found['log_loss_error']:.4f}   "
                f"accuracy {found['accuracy']:.2f} ± {found['accuracy_error']:.2f} %   {rows[-1]['seconds']:.1f} s",
                flush=True,
            )
    ds.files.write_json(output / "results.json", {"arguments": vars(args), "rows": rows}, indent=2)
    print(f"wrote {output / 'results.json'}")


if __name__ == "__main__":
    main()
